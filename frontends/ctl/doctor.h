/* SPDX-License-Identifier: MIT */
/* What `doctor` found, printed at once. */
#ifndef CTL_DOCTOR_H
#define CTL_DOCTOR_H

#include "frontends/ctl/ctl.h"

#define DOCTOR_START "start it: 'approvald', or 'systemctl --user start approvald'"

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
	unsigned int findings;
};

/* The text may be hostile. advice NULL: nothing is to be done. */
void doctor_find(
	struct doctor *d, enum finding_level level, const char *what, const char *advice);
void doctor_findf(struct doctor *d, enum finding_level level, const char *advice,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
