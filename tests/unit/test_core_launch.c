/* SPDX-License-Identifier: MIT */
/* Sessions of launched programs: who speaks for them, and what tells that they are held. */
#include <stdlib.h>

#include "tests/unit/core_fixture.h"

#define READY                                                                                  \
	"A hello run_1", "A<hello run_1 normal -", "H hello", "H<greeting", "H subscribe",     \
		"H<page"

/* clang-format off: pairs of a line and what must be told */
SCENARIO(adopted, READY, "B hello s1 pid=20 chain=10", "!watch; B<hello run_1",
	"C hello s1 pid=21 chain=10", "!watch; C<hello run_1", "D hello s2 pid=22 chain=10",
	"H:session s2; D<hello s2", "B request c1 Bash", "H:offered c1", "C request c1 Bash",
	"B!gone", "H suspend run_1", "hold 10", "H resume run_1", "hold 10")

SCENARIO(next_after_bye, READY, "B hello s1 pid=20 chain=10", "B<hello run_1",
	"B request c1 Bash", "H:offered c1", "B bye end", "!ended; B<; ",
	"C hello s3 pid=21 chain=10", "!watch; C<hello run_1", "D hello s1 pid=22 chain=10",
	"D<hello s1")

SCENARIO(suspended_is_not_left, READY, "B hello s1 pid=20 chain=10", "B<hello run_1",
	"H suspend run_1", "hold 10", "B bye end", "!hold; B<; ", "C hello s3 pid=21 chain=10",
	"C<hello s3", "C request c1 Bash", "hold 21; C~c1 HELD")

SCENARIO(own_id, READY, "B hello run_1 pid=20 chain=10", "!watch; B<hello run_1",
	"C hello s1 pid=21 chain=10", "C<hello run_1")

/* an id that begins so is nobody else's to speak for */
SCENARIO(outside, READY, "B hello s1 pid=20", "watch 20; B<hello s1",
	"C hello s2 pid=21 chain=20", "H:session s2; C<hello s2")
/* clang-format on */

int main(void)
{
	Suite *suite = suite_create("core_launch");
	TCase *t = tcase_create("launch");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, adopted);
	tcase_add_test(t, next_after_bye);
	tcase_add_test(t, suspended_is_not_left);
	tcase_add_test(t, own_id);
	tcase_add_test(t, outside);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
