/* SPDX-License-Identifier: MIT */
/*
 * The files of rules and of additions to the floor. A file that somebody else than root or
 * the broker's user owns, or that others can write, is refused, and so is a folder of them.
 */
#ifndef IO_RULE_FILES_H
#define IO_RULE_FILES_H

#include <stdint.h>

#include "broker/core/floor/floor.h"
#include "broker/core/rules/ruleset.h"
#include "broker/log.h"

/* Any may be NULL; what is not there is as good as empty. */
struct rule_places {
	const char *admin_dir; /* its *.rules and *.floor, in the order of their names */
	const char *user_rules, *user_floor;
	uint32_t uid; /* of the user */
};

/*
 * Adds all that the files say. 0; -EINVAL: something is wrong in them, or they can't be
 * read, and each reason is in the log with its file, line and column; what is in the set
 * and the floor then is to be thrown away. -ENOMEM.
 */
int rule_files_load(struct ruleset *rules, struct floor *floor,
	const struct rule_places *places, const struct log *log);

#endif
