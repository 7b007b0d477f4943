/* SPDX-License-Identifier: MIT */
/* What `doctor` found, printed at once. */
#ifndef CTL_DOCTOR_H
#define CTL_DOCTOR_H

#include "frontends/common/start.h"
#include "frontends/ctl/ctl.h"

#define DOCTOR_START "start it with " START_HOW

enum finding_level {
	FINDING_OK,
	FINDING_NOTE,
	FINDING_WARNING, /* counts as a finding, as the next does */
	FINDING_PROBLEM,
};

struct doctor {
	struct ctl *c;
	bool system; /* a broker of the system: its owners and modes are others */
	bool base_seen;
	bool failed; /* no memory */
	/* with what the broker refused the hello; "" where it did not */
	char refused_code[32], refused_message[256];
	unsigned int findings;
};

/* The text may be hostile. advice NULL: nothing is to be done. */
void doctor_find(
	struct doctor *d, enum finding_level level, const char *what, const char *advice);
void doctor_findf(struct doctor *d, enum finding_level level, const char *advice,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
