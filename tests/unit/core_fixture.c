/* SPDX-License-Identifier: MIT */
#include "tests/unit/core_fixture.h"

void scenario(const char *const *lines)
{
	for (int round = 0; round < 3; round++) {
		struct world w;

		world_init(&w);
		w.rollback_each = round > 0;
		w.starve_each = round > 1;
		script_all(&w, lines);
		ck_assert(round < 1 || w.n_rollbacks > 0);
		ck_assert(round < 2 || w.n_starved > w.n_rollbacks);
		world_fini(&w);
	}
}
