/* SPDX-License-Identifier: MIT */
/* Files of rules that projects bring along, and that can't be used. */
#ifndef CTL_TRUST_H
#define CTL_TRUST_H

#include "frontends/common/text.h"
#include "frontends/ctl/ctl.h"

/* Calls found for each project whose file can't be used; its status other than 0 ends. */
int trust_problems(
	struct ctl *c, int (*found)(void *arg, const struct approval_value *item), void *arg);
/*
 * The workspace that an agent in that folder has, as the broker finds it. 0; 1: it has none,
 * and *out is the folder; a negative errno. *out is to be freed.
 */
int trust_project(const char *folder, char **out);
/* "FILE:LINE:COLUMN: what is wrong"; raw. */
void trust_say_problem(struct text *line, const struct approval_value *item);

#endif
