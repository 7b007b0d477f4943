/* SPDX-License-Identifier: MIT */
/* Scenarios of the engine: lines and what must be told, see tests/model/script.c. */
#ifndef CORE_FIXTURE_H
#define CORE_FIXTURE_H

#include <check.h>

#include "tests/model/world.h"

/*
 * Runs a scenario (pairs of a line and patterns, up to NULL) three times: as it
 * is; with each step undone and done again; and with each step tried with every
 * allocation failing in turn. The promises are checked after every step.
 */
void scenario(const char *const *lines);

#define SCENARIO(name, ...)                                                                    \
	START_TEST(name)                                                                       \
	{                                                                                      \
		static const char *const lines[] = {__VA_ARGS__, NULL};                        \
		scenario(lines);                                                               \
	}                                                                                      \
	END_TEST

#endif
