/* SPDX-License-Identifier: MIT */
/* What a doctor found. */
#ifndef HOOK_DOCTOR_H
#define HOOK_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "frontends/hook/hook.h"

enum finding_state { FINDING_OK, FINDING_WARNING, FINDING_FAILED };

struct finding {
	enum finding_state state;
	const char *name; /* static; of the check */
	char *text;	  /* harmless on a terminal */
};

struct findings {
	struct finding *items;
	size_t n;
	bool failed;
	bool no_memory;
};

/* Text from elsewhere goes through finding_clean first. */
void finding_add(struct findings *f, enum finding_state state, const char *name,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A copy that is harmless on a terminal, to be freed; never NULL but without memory. */
char *finding_clean(const char *s);
/* STATUS_OK where nothing failed, STATUS_FAILED otherwise. */
int findings_print(const struct findings *f, bool json);
void findings_free(struct findings *f);

/* Runs the configured PreToolUse hook: with the broker, without one, and with garbage. */
void claude_doctor_probe(
	struct findings *f, const struct install_options *o, const char *const *argv);

#endif
