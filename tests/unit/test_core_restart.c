/* SPDX-License-Identifier: MIT */
/* Restarts of the broker: what was pending is pending, and what was decided is known. */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/core_fixture.h"
#include "tests/unit/fail_alloc.h"

#define READY                                                                                  \
	"A hello s1", "A<hello s1 normal -", "H hello", "H<greeting", "H subscribe", "H<page"
#define BACK "H hello", "H<greeting", "H subscribe"

/* clang-format off: pairs of a line and what must be told */
SCENARIO(pending_again, READY,
	"A request c1 Bash", "", "A request c2 Bash cancel", "", "A request c3 Bash keep", "",
	"A request c4 Bash timeout=50000", "", "restart", "watch 10", "restart", "watch 10",
	"restart 100000", "watch 10", BACK, "H<page c1 c2 c3 c4",
	"A hello s1", "A<hello s1 normal t1 REDRIVING",
	"A request c1 Bash", "H:refreshed c1 AWAITING", "H allow c1", "A<allow c1 user",
	"H deny c2", "H:resolved c2 DENIED", "A request c2 Bash", "A<deny c2 user",
	"A request c4 Bash input=else", "A!mismatch", "tick 30000", "H:withdrawn c4; !c3; !c2",
	"A request c3 Bash", "H:turn t1 WAITING; H:refreshed c3")

SCENARIO(the_clock_is_set_back, READY,
	"A request c1 Bash keep timeout=50000", "", "clock -864000000", "", "restart", "",
	BACK, "H<page c1", "tick 49999", "!c1", "tick 1", "H:withdrawn c1 EXPIRED")

SCENARIO(the_clock_is_set_forward, READY,
	"A request c1 Bash keep timeout=50000", "", "clock 864000000", "", "restart", "",
	BACK, "H<page c1", "tick 29999", "!c1", "tick 1", "H:withdrawn c1 EXPIRED")

SCENARIO(a_decision_is_kept_for_a_day_by_any_clock, READY,
	"A request c1 Bash keep", "", "A gone", "", "H allow c1", "H:resolved c1",
	"clock -864000000", "", "restart", "", "tick 86400000", "",
	"A hello s1", "", "A request c1 Bash keep", "A!gone")

SCENARIO(decided_while_nobody_was_back, READY,
	"A request c1 Bash", "", "A request c2 Bash", "", "restart", "", BACK, "",
	"H allow c1 reason=ok", "H:resolved c1", "H deny c2", "H:resolved c2", "restart", "",
	"A hello s1", "A<hello s1 normal t1",
	"A request c1 Bash", "A<allow c1 user human ALLOWED \"ok\"",
	"A request c2 Bash", "A<deny c2 user", "tick 61000", "",
	"A request c1 Bash", "A!gone ALLOWED", "A outcome c1 succeeded", "A<state SUCCEEDED")

SCENARIO(the_subject_died_meanwhile, READY,
	"A request c1 Bash", "", "restart", "", BACK, "H<page c1",
	"died 10", "H:withdrawn c1 INTERRUPTED abort; H:turn t1 ENDED; H:session s1 ended",
	/* the engine forgets it; that it is gone is remembered outside */
	"H allow c1", "H<results not_found")

SCENARIO(nobody_comes_back, READY,
	"A request c1 Bash", "", "restart", "", BACK, "H<page c1", "tick 29999", "!c1",
	"tick 1", "H:withdrawn c1 INTERRUPTED")

SCENARIO(what_is_over_stays_over, READY,
	"A request c1 Bash", "", "H allow c1", "", "A outcome c1 failed", "",
	"A request c2 Read inside", "A<allow c2", "A request c3 Bash", "", "A cancel c3", "",
	"restart", "", "A hello s1", "", "A request c1 Bash", "A!gone FAILED",
	"A outcome c1 succeeded", "A!gone FAILED", "A request c2 Read inside", "A<allow c2",
	"A outcome c2 succeeded", "A<state SUCCEEDED", "A end", "A<turn t1 ENDED",
	"restart", "", "A hello s1", "A<hello s1 normal -")

SCENARIO(modes_and_usage_come_back, READY,
	"A mode plan", "", "H ceiling s1 plan", "", "A usage 7 70 cursor=k", "", "restart", "",
	"A hello s1", "A<hello s1 plan t1 RUNNING", "A mode normal", "A<mode plan",
	"A usage 7 99", "A<turn t1", "A request c1 Bash mutating", "A<deny c1 mode plan",
	BACK, "", "H ceiling s1 normal", "H<mode normal", "restart", "",
	"A hello s1", "A<hello s1 normal t1")

SCENARIO(suspended_before_and_after, READY,
	"C hello s2 pid=20 chain=10", "", "A begin", "", "C request c1 Bash", "",
	"A request c2 Bash", "", "H suspend s1", "", "restart", "", "restart", "",
	BACK, "H<page c1 c2", "H allow c1", "H<results held",
	"A hello s1", "A<hello s1 normal t1 SUSPENDED",
	"C hello s2 pid=20 chain=10", "C<hello s2 normal t2 SUSPENDED",
	"tick 600000", "!c1; !c2", "C request c1 Bash", "C~c1 HELD",
	"H resume s1", "C~resumed t2; H:refreshed c1 AWAITING", "H allow c1", "C<allow c1",
	"tick 29999", "!c2", "tick 1", "H:withdrawn c2 INTERRUPTED")

SCENARIO(reviewed_before, READY,
	"P hello name=p", "", "P subscribe", "", "A request c1 Bash", "P:offered c1",
	"A request c2 Bash", "P:offered c2", "P ask c2", "H:offered c2", "restart", "",
	BACK, "H<page c1 c2", "A hello s1", "", "A request c1 Bash", "",
	"H allow c1", "A<allow c1 user")

SCENARIO(mode_changed_in_review, READY,
	"P hello name=p", "", "P subscribe", "", "A request c1 Bash mutating", "P:offered c1",
	"A mode plan", "", "restart", "", "A hello s1", "",
	"A request c1 Bash mutating", "A<deny c1 mode plan")

SCENARIO(denials_are_counted_on, READY,
	"A request c1 Bash input=x", "", "H deny c1", "", "A request c2 Bash input=x", "",
	"H deny c2", "", "restart", "", "A hello s1", "",
	"A request c3 Bash input=x", "A<deny c3 repeat")

SCENARIO(a_policy_that_left_is_forgotten, READY,
	"config required=r", "", "P hello name=p", "", "P subscribe", "", "P gone", "",
	"restart", "", BACK, "", "P2 hello name=q", "", "P2 subscribe", "", "A hello s1", "",
	"A request c1 Bash", "", "P2 allow c1", "H:offered c1", "P hello name=r", "",
	"P subscribe", "", "A request c2 Bash", "", "P2 allow c2", "",
	"P allow c2", "A<allow c2 policy")

/* clang-format on */

/* Loading what is stored with every allocation failing in turn: an error, and an empty engine.
 */
START_TEST(without_memory)
{
	static const char *const lines[] = {"A hello s1", "C hello s2 pid=20 chain=10",
		"H hello", "H subscribe", "A begin T", "A request c1 Bash",
		"A request c2 Bash edits", "H allow c2 edit=x", "A request c3 Bash",
		"H deny c3 reason=no", "C request c4 Bash keep", "A request c5 Read inside",
		"A outcome c5 succeeded", "A usage 1 1 cursor=k", "H suspend s2 reason=r"};
	unsigned long failures = 0, n;
	struct world w;
	int err;

	world_init(&w);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		script_run(&w, lines[i]);
	for (n = 1;; n++) {
		struct engine e;

		ck_assert_int_eq(engine_init(&e, &w.config), 0);
		fail_alloc(n);
		err = store_restore(&e, w.now, w.store, w.now.wall);
		fail_alloc(0);
		if (err < 0) {
			ck_assert_int_eq(err, -ENOMEM);
			failures++;
			engine_rollback(&e);
			ck_assert_uint_eq(e.r.n_sessions + e.r.n_turns + e.r.n_requests, 0);
		}
		engine_fini(&e);
		if (err == 0)
			break;
	}
	ck_assert_uint_gt(failures, 20);
	world_fini(&w);
}
END_TEST

/* Records that do not fit together are refused, not guessed at. */
START_TEST(broken_records)
{
	struct engine_config config = {.max_sessions = 10};
	struct engine e;
	struct str *name = str_new("x", 1);
	struct session_record s = {.id.b = {1}, .agent = name, .key = name};
	struct turn_record t = {.id.b = {2}, .session = s.id, .state = TURN_RUNNING};
	struct request_record q = {.id.b = {3},
		.session = s.id,
		.turn = t.id,
		.call = name,
		.tool = name,
		.state = REQUEST_AWAITING};
	struct facts facts = {0};
	struct instant now = {1, 1};

	ck_assert_ptr_nonnull(name);
	ck_assert_int_eq(engine_init(&e, &config), 0);
	ck_assert_int_eq(engine_restore_turn(&e, &t), -EUCLEAN);
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), -EUCLEAN);
	ck_assert_int_eq(engine_restore_session(&e, &s), 0);
	ck_assert_int_eq(engine_restore_session(&e, &s), -EUCLEAN);
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), -EUCLEAN);
	ck_assert_int_eq(engine_restore_turn(&e, &t), 0);
	q.state = REQUEST_UNKNOWN;
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), -EUCLEAN);
	/* what is decided has its verdict, and what waits has none */
	q.state = REQUEST_ALLOWED;
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), -EUCLEAN);
	q.verdict = VERDICT_DENY;
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), -EUCLEAN);
	q.verdict = VERDICT_ALLOW;
	q.state = REQUEST_DENIED;
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), -EUCLEAN);
	q.state = REQUEST_AWAITING;
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), -EUCLEAN);
	q.verdict = VERDICT_NONE;
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), 0);
	q.id.b[0] = 4;
	ck_assert_int_eq(engine_restore_request(&e, now, 0, &q, &facts), -EUCLEAN);
	engine_commit(&e);
	engine_fini(&e);
	str_unref(name);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core: restarts");
	TCase *t = tcase_create("restart");
	SRunner *r;
	int failed;

	suite_add_tcase(s, t);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, pending_again);
	tcase_add_test(t, the_clock_is_set_back);
	tcase_add_test(t, the_clock_is_set_forward);
	tcase_add_test(t, a_decision_is_kept_for_a_day_by_any_clock);
	tcase_add_test(t, decided_while_nobody_was_back);
	tcase_add_test(t, the_subject_died_meanwhile);
	tcase_add_test(t, nobody_comes_back);
	tcase_add_test(t, what_is_over_stays_over);
	tcase_add_test(t, modes_and_usage_come_back);
	tcase_add_test(t, suspended_before_and_after);
	tcase_add_test(t, reviewed_before);
	tcase_add_test(t, mode_changed_in_review);
	tcase_add_test(t, denials_are_counted_on);
	tcase_add_test(t, a_policy_that_left_is_forgotten);
	tcase_add_test(t, without_memory);
	tcase_add_test(t, broken_records);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
