/* SPDX-License-Identifier: MIT */
/* Cgroups of approval-run that are frozen though no broker holds them. */
#ifndef CTL_FROZEN_H
#define CTL_FROZEN_H

#include "frontends/ctl/doctor.h"

/* Looks for them, and thaws them if that is wanted. */
void frozen_look(struct doctor *d, bool thaw);

#endif
