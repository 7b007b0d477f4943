/* SPDX-License-Identifier: MIT */
/* The sections [budget …] of the configuration. */
#ifndef BROKER_CONFIG_BUDGET_H
#define BROKER_CONFIG_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "broker/config.h"
#include "libapproval/bytes.h"

/* Is it one of these, whoever it is for? */
bool config_budget_is(const char *section, size_t len);
/*
 * Whom the keys that follow are for: "budget", "budget agent=NAME uid=N project=FOLDER". 0,
 * -EINVAL, -ENOSPC (too many) or -ENOMEM.
 */
int config_budget_section(struct config *c, const char *section, size_t len);
/* 0; -ENOENT: no such key; -EEXIST: set twice; -EINVAL with what is expected; -ENOMEM. */
int config_budget_key(
	struct config *c, const char *name, const char *value, const char **expected);
/* What follows is of another file: its sections are its own, and all of them hold. */
void config_budget_file(struct config *c);
void config_budget_release(struct config *c);

#endif
