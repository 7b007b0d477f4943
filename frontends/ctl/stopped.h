/* SPDX-License-Identifier: MIT */
/* Programs of approval-run that were stopped by signals, though no broker holds them. */
#ifndef CTL_STOPPED_H
#define CTL_STOPPED_H

#include "frontends/ctl/doctor.h"

/* Looks for them, and lets them go on if that is wanted. */
void stopped_look(struct doctor *d, bool wanted);

#endif
