/* SPDX-License-Identifier: MIT */
/* The broker's configuration files. */
#ifndef BROKER_CONFIG_H
#define BROKER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/core/budget.h"
#include "broker/core/types.h"
#include "broker/io/account.h"
#include "broker/log.h"

enum config_when_alone {
	CONFIG_WAIT,
	CONFIG_DENY,
};

struct config_names {
	char **items;
	size_t n;
};

struct config {
	/* [broker] */
	enum config_when_alone when_alone; /* when-alone = wait | deny */
	bool headless;			   /* headless = yes | no */
	int64_t deadline_us;		   /* deadline = never | DURATION; 0: never */
	enum mode default_mode;	   /* default-mode: the ceiling of new sessions; not yolo */
	int64_t policy_timeout_us; /* policy-timeout = DURATION */
	char **required_policies;  /* required-policies = NAME, NAME */
	size_t n_required_policies;
	uint32_t repeat_limit; /* repeat-limit: denials of one call in a turn before it is not
				  asked again */
	int64_t grace_us;      /* grace = DURATION */
	/* [limits], per uid: connections, pending, pending-bytes, rate, sessions */
	struct account_limits limits;
	/* [store] */
	char *store_path;     /* path; NULL: the default in the state folder */
	int64_t store_age_us; /* retention-age = DURATION | never; 0: never */
	uint64_t store_size;  /* retention-size = BYTES (K, M, G); 0: no bound */
	/* [rules] */
	char *rules_admin_dir; /* admin-dir, not in the user's own file; NULL: the default */
	char *rules_user_file; /* user-file; NULL: the default */
	/* [floor] */
	char *floor_user_file; /* user-file; NULL: the default */
	struct config_names floor_off[2]; /* off: of the user, of the administrator */
	/* [budget …]: the lowest of all that are for somebody counts */
	struct budget_rule *budgets;
	size_t n_budgets;
	struct budget_weights weights;
	size_t budget, budget_first; /* while a file is read: the present one, its first one */
	uint8_t weights_seen;
	/* [enforce] */
	bool enforce_stop; /* stop: agents may ask to be stopped by signals */
	/* [log] */
	enum log_level log_level; /* level */
	/* which of deadline and when-alone a file set, for defaults that depend on headless */
	bool deadline_set, when_alone_set;
	/* while a file is read: it is the administrator's; it is the one below that */
	bool by_admin, users_own;
};

/* What is wrong, and where: "FILE:LINE: text". */
struct config_error {
	char text[512];
};

void config_init(struct config *c); /* the defaults */
void config_release(struct config *c);

/*
 * Reads the files in their order over the defaults, later ones over earlier ones;
 * one that is not there is skipped unless it is the last and `required`. The first of
 * those that are not required is the administrator's. *c is
 * replaced as a whole or, on an error, left as it is. Errors: -EINVAL (the
 * content), -EPERM (writable or owned by others), or of opening and reading;
 * error->text says which in any case.
 */
int config_load(struct config *c, const char *const *files, size_t n, bool required,
	struct config_error *error);

/* "30s", "10m", "2h", "500ms", "7d"; 0 or -EINVAL. Positive and at most ten years. */
int config_duration_parse(const char *text, int64_t *us);

#endif
