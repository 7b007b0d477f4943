/* SPDX-License-Identifier: MIT */
/* Requests: decisions, resubmission, attachment, deadlines, checks, outcomes, quotas. */
#include <stdlib.h>

#include "tests/unit/core_fixture.h"

#define READY                                                                                  \
	"A hello s1", "A<hello s1 normal -", "H hello", "H<greeting", "H subscribe", "H<page"

/* ---- decisions ---- */

/* clang-format off: pairs of a line and what must be told */
SCENARIO(asked_and_allowed, READY, "A request c1 Bash", "H:offered c1 AWAITING",
	"H allow c1 reason=fine",
	"H:resolved c1 ALLOWED user; A<allow c1 user human ALLOWED \"fine\"; "
	"H<results ok",
	"A outcome c1 succeeded", "H:outcome c1 SUCCEEDED; A<state SUCCEEDED",
	"A outcome c1 failed", "A!gone SUCCEEDED user; !outcome", "A request c1 Bash",
	"A!gone SUCCEEDED user")

SCENARIO(asked_and_denied, READY, "A request c1 Bash", "H:offered c1 AWAITING",
	"H deny c1 reason=no digest=none",
	"H:resolved c1 DENIED user; A<deny c1 user human DENIED \"no\"; H<results ok",
	"A request c1 Bash", "A<deny c1 user human DENIED \"no\"",
	"A request c1 Bash input=other", "A!mismatch", "A request c1 Read input=c1",
	"A!mismatch")

/* What was approved for one folder, or as another type, is not approved here. */
SCENARIO(another_cwd_or_type, READY, "A request c1 Bash", "", "A request c1 Bash cwd=/w",
	"A!gone; H:refreshed", "A request c1 Bash cwd=/x", "A!mismatch", "H allow c1", "A<allow c1",
	"A request c1 Bash cwd=/x", "A!mismatch; !allow", "A request c1 Bash type=permissions",
	"A!mismatch; !allow", "A request c1 Bash", "A<allow c1", "A request - Bash input=x cwd=/x",
	"H:offered req_", "A gone", "H:refreshed req_", "A hello s1", "",
	"A request - Bash input=x", "H:offered req_; !refreshed",
	"A request - Bash input=x cwd=/x", "H:refreshed req_; !offered")

SCENARIO(first_decision_wins, READY, "H2 hello", "", "H2 subscribe", "", "A request c1 Bash",
	"H:offered c1; H2:offered c1", "H allow c1",
	"H:resolved c1; H2:resolved c1; A<allow c1; H<results ok", "H2 deny c1",
	"H2<results gone:ALLOWED:user; !resolved; !A<", "H2 allow c1",
	"H2<results gone:ALLOWED:user", "A request c2 Bash", "", "H2 deny c2",
	"H:resolved c2 DENIED; H2<results ok", "H allow c2",
	"H<results gone:DENIED:user; !resolved")

SCENARIO(decisions_that_are_none, READY, "O hello", "", "O subscribe", "", "H2 hello answers=4",
	"", "A request c1 Bash", "", "H allow c1 digest=none", "H<results invalid",
	"H allow c1 digest=bad", "H<results mismatch", "H deny c1 digest=bad",
	"H<results mismatch", "H allow c1 turnscope", "H<results invalid", "H allow nothing",
	"H<results not_found", "O allow c1", "O<results forbidden", "H2 deny c1",
	"H2<results forbidden", "H ask c1", "H<results invalid", "H allow c1 edit=x",
	"H<results invalid", "Hx hello", "", "Hx allow c1", "Hx<results not_found", "Hr hello",
	"", "Hr allow c1", "A<allow c1; Hr<results ok", "H3 allow c1", "H3!no_session")

SCENARIO(questions_want_answers, READY, "P hello", "", "P subscribe", "",
	"A request c1 Ask type=question", "H:offered c1 AWAITING; !P:", "H allow c1",
	"H<results invalid", "H allow c1 answers=yes", "A<allow c1 user; H<results ok",
	"restart", "", "A hello s1", "", "A request c1 Ask type=question", "A<allow c1 user")

/* ---- edited input ---- */

SCENARIO(edited_input, READY, "A request c1 Bash edits", "", "H allow c1 edit=bad floor",
	"H<results refused:floor; !A<", "H allow c1 edit=other",
	"row 'other' (edited, asked was: c1); A<allow c1 user human ALLOWED edited other; "
	"H<results ok",
	/* the same again, also from another broker */
	"A request c1 Bash edits", "A<allow c1 user human ALLOWED edited other", "restart", "",
	"A hello s1", "A<hello s1 normal t1 RUNNING", "A request c1 Bash edits",
	"A<allow c1 user human ALLOWED edited other", "A outcome c1 succeeded",
	"A<state SUCCEEDED")

SCENARIO(edited_input_in_plan_mode, READY, "A request c1 Bash edits", "", "A mode plan",
	"A<mode plan", "H allow c1 edit=other mutating", "H<results refused:plan; !A<",
	"H allow c1 edit=other", "A<allow c1")

SCENARIO(outcome_of_the_edited_input, READY, "A request c1 Bash edits", "",
	"H allow c1 edit=other", "A<allow c1", "A outcome - succeeded tool=Bash input=c1",
	"ran_anyway; A<state SUCCEEDED", "A outcome - succeeded tool=Bash input=other",
	"H:outcome c1 SUCCEEDED; A<state SUCCEEDED")

/* ---- given again ---- */

SCENARIO(an_allow_for_a_minute, READY, "A request c1 Bash", "", "H allow c1", "A<allow c1",
	"wait 59000", "", "A request c1 Bash", "A<allow c1 user", "wait 2000", "",
	"A request c1 Bash", "A!gone ALLOWED user", "A outcome c1 succeeded",
	"A<state SUCCEEDED")

SCENARIO(an_allow_until_the_turn_ends, READY, "A request c1 Bash", "", "H allow c1",
	"A<allow c1", "A end", "A<turn t1 ENDED", "A request c1 Bash", "H:offered c1 AWAITING")

SCENARIO(an_allow_not_delivered_yet, READY, "A request c1 Bash", "", "A gone", "", "H allow c1",
	"H:resolved c1; H<results ok; !A<", "wait 500000", "", "A hello s1",
	"A<hello s1 normal t1 RUNNING", "A request c1 Bash", "A<allow c1")

SCENARIO(no_second_release_while_suspended, READY, "A request c1 Bash", "", "H allow c1",
	"A<allow c1", "H suspend s1", "A~suspended t1", "A request c1 Bash",
	"A!state SUSPENDED", "H resume s1", "A~resumed", "A request c1 Bash", "A<allow c1",
	"H endturn s1", "", "A request c1 Bash", "A<deny c1 user suspended DENIED")

/* ---- attachment ---- */

SCENARIO(only_one_waits, READY, "B hello s1", "B<hello s1", "A request c1 Bash", "H:offered c1",
	"B request c1 Bash", "A!gone AWAITING none; H:refreshed c1", "H allow c1",
	"B<allow c1; !A<")

SCENARIO(grace_and_back, READY, "A request c1 Bash", "", "A gone", "H:refreshed c1 AWAITING",
	"tick 29000", "!H:", "A hello s1", "A<hello s1 normal t1 WAITING", "A request c1 Bash",
	"H:refreshed c1", "tick 60000", "!H:", "A gone", "", "tick 30000",
	"H:withdrawn c1 INTERRUPTED abort", "H allow c1", "H<results gone:INTERRUPTED:abort")

SCENARIO(cancel_on_disconnect, READY, "A request c1 Bash cancel", "", "A gone",
	"H:withdrawn c1 ABANDONED abort", "A hello s1", "", "A request c1 Bash cancel",
	"A!gone ABANDONED abort")

SCENARIO(keep_survives_the_subject, READY, "A request c1 Bash keep", "", "A request c2 Bash",
	"", "died 10",
	"H:withdrawn c2 INTERRUPTED; A<deny c2; H:turn t1 ABANDONING; H:refreshed c1; "
	"A!gone AWAITING; H:session s1",
	"A gone", "!c1", "tick 1000000", "!H:", "restart 1000", "watch 10", "died 10", "",
	"H hello", "", "H subscribe", "H<page c1", "H allow c1",
	"H:resolved c1 ALLOWED; H<results ok", "restart 1000", "", "died 10", "",
	"A hello s1 pid=11", "watch 11; A<hello s1 normal -", "A request c1 Bash keep",
	"A<allow c1 user", "A outcome c1 succeeded", "A<state SUCCEEDED")

SCENARIO(keep_denied_and_claimed, READY, "A request c1 Bash keep", "", "died 10", "", "A gone",
	"", "H deny c1 reason=no", "H:resolved c1 DENIED", "restart", "", "died 10", "!ended",
	"A hello s1 pid=11", "", "A request c1 Bash keep", "A<deny c1 user human DENIED \"no\"")

SCENARIO(keep_expires, READY, "A request c1 Bash keep", "", "died 10", "", "A gone", "",
	"H deny c1", "", "tick 86400000", "H:session s1 ended", "A hello s1 pid=11",
	"A<hello s1 normal -", "A request c1 Bash keep", "H:offered c1")

SCENARIO(keep_allow_expires, READY, "A request c1 Bash keep", "", "A gone", "", "H allow c1",
	"", "restart 10000", "", "tick 86380000", "!ended", "tick 10000", "", "A hello s1", "",
	"A request c1 Bash keep", "A!gone UNKNOWN user")

SCENARIO(keep_is_claimed_in_a_new_turn, READY, "A request c1 Bash keep", "", "A gone", "",
	"H allow c1", "", "B hello s1", "", "B begin T2",
	"H:turn t1 ABANDONING; B<turn t2 RUNNING", "H suspend s1", "", "B request c1 Bash keep",
	"B!state SUSPENDED", "H resume s1", "", "B request c1 Bash keep",
	"B<allow c1; H:turn t1 ENDED", "B outcome c1 failed", "B<state FAILED")

SCENARIO(keep_pending_moves_on_and_is_held, READY, "A request c1 Bash keep", "", "died 10",
	"H:turn t1 ABANDONING", "A gone", "", "A hello s1 pid=11", "", "H suspend s1",
	"H<count 1", "A request c1 Bash keep", "H:turn t1 ENDED; A~c1 HELD", "H resume s1",
	"H:refreshed c1 AWAITING", "H allow c1", "A<allow c1", "A outcome c1 succeeded",
	"A<state SUCCEEDED")

SCENARIO(keep_pending_under_an_ended_turn, READY, "A request c1 Bash keep", "", "died 10", "",
	"A gone", "", "A hello s1 pid=11", "", "A begin", "", "H endturn s1", "H<count 1",
	"A request c1 Bash keep", "H:resolved c1 DENIED user; A<deny c1 user suspended DENIED")

SCENARIO(keep_is_seen_in_a_suspended_turn, READY, "A request c1 Bash keep", "",
	"A request c2 Bash", "", "H suspend s1", "", "died 10",
	"H:withdrawn c2 INTERRUPTED; A<deny c2; !ABANDONING", "A gone", "", "H allow c1",
	"H<results held", "restart", "", "died 10", "", "H hello", "", "H subscribe",
	"H<page c1", "A hello s1 pid=11", "A<hello s1 normal t1 SUSPENDED",
	"A request c1 Bash keep", "A~c1 HELD", "H resume s1",
	"A~resumed t1; H:refreshed c1 AWAITING")

SCENARIO(lost_without_an_id, READY, "A request - Bash input=x", "H:offered req_", "A gone",
	"H:refreshed req_", "A hello s1", "", "A request - Bash input=y", "H:offered req_",
	"A request - Bash input=x", "H:refreshed req_; !offered", "A request - Bash input=x",
	"H:offered req_", "A bye end", "", "A hello s1", "", "A request - Bash input=z keep",
	"", "A check - Bash input=z", "A<ask req_", "A gone", "", "A hello s1", "",
	"A check - Bash input=z", "A<ask req_; !H:refreshed")

SCENARIO(decided_without_an_id, READY, "A request c1 Bash input=x", "", "A gone", "",
	"H allow c1", "", "A hello s1", "", "A request - Bash input=x",
	"A<allow c1 user; !offered", "A request - Bash input=x", "H:offered req_")

/* ---- time ---- */

SCENARIO(deadlines, READY, "A request c1 Bash timeout=5000", "", "tick 4999", "!H:", "tick 1",
	"H:withdrawn c1 EXPIRED timeout; A<deny c1 timeout deadline EXPIRED",
	"A request c1 Bash timeout=5000", "A<deny c1 timeout deadline EXPIRED",
	"config deadline=120000", "", "A request c2 Bash timeout=500000", "", "tick 119999",
	"!c2", "tick 1", "A<deny c2 timeout", "A request c3 Bash channel=100000", "",
	"tick 49999", "!c3", "tick 2", "A<deny c3 timeout", "A request c4 Bash channel=150000",
	"", "tick 89999", "!c4", "tick 1", "A<deny c4 timeout",
	"B hello s2 pid=12 channel=130000", "", "B request c5 Bash", "", "tick 69999", "!c5",
	"tick 1", "B<deny c5 timeout")

SCENARIO(a_deadline_stands_still_while_held, READY, "A request c1 Bash timeout=100000", "",
	"tick 40000", "", "H suspend s1", "A~c1 HELD", "tick 500000", "!c1", "restart 500000",
	"", "A hello s1", "", "A request c1 Bash", "A~c1 HELD", "H hello", "", "H subscribe",
	"", "H resume s1", "H:refreshed c1 AWAITING", "tick 59999", "!c1", "tick 1",
	"A<deny c1 timeout")

SCENARIO(half_a_minute_remains, READY, "A request c1 Bash timeout=20000", "", "tick 19999", "",
	"H suspend s1", "", "H resume s1", "", "tick 29999", "!c1", "tick 1",
	"A<deny c1 timeout", "A request c2 Bash timeout=20000", "", "tick 15000", "", "slept",
	"H:refreshed c2", "tick 29999", "!c2", "tick 1", "A<deny c2 timeout",
	"A request c3 Bash timeout=50000", "", "tick 45000", "", "restart 1000000", "",
	"A hello s1", "", "A request c3 Bash timeout=1", "", "tick 29999", "!c3", "tick 1",
	"A<deny c3 timeout",
	/* exactly at the deadline is not never */
	"H hello", "", "A request c4 Bash timeout=5000", "", "wait 5000", "", "H suspend s1",
	"", "H resume s1", "", "tick 30000", "A<deny c4 timeout")

SCENARIO(grace_stands_still_while_held, READY, "A request c1 Bash", "", "H suspend s1", "",
	"A gone", "", "tick 500000", "!c1", "H resume s1", "H:refreshed c1 AWAITING",
	"tick 29999", "!c1", "tick 1", "H:withdrawn c1 INTERRUPTED")

/* ---- checks ---- */

SCENARIO(checks, READY, "A check c1 Bash", "A<ask c1 human; !H:offered",
	"A check c2 Read inside", "A<allow c2 mode mode ALLOWED; !H:offered",
	"A outcome c2 succeeded", "A<state SUCCEEDED", "A mode plan", "",
	"A check c3 Bash mutating", "A<deny c3 mode plan DENIED", "A mode normal", "",
	/* a request without an id is that of the last check with this input */
	"A check c4 Bash input=x", "A<ask c4", "A check c5 Bash input=x", "A<ask c5",
	"A request - Bash input=x", "H:offered c5 AWAITING", "A request - Bash input=x",
	"H:offered c4 AWAITING", "A request - Bash input=x", "H:offered req_",
	/* the agent's own dialog allowed what was only checked */
	"A outcome c1 succeeded", "A<state ELSEWHERE; !ran_anyway", "A outcome c1 succeeded",
	"ran_anyway")

SCENARIO(a_check_waits_in_a_suspended_turn, READY, "A begin", "", "H suspend s1", "",
	"A check c1 Bash", "!A<", "A check c2 Read inside", "!A<", "A check c3 Bash", "!A<",
	"B hello s1", "", "B check c3 Bash", "A!gone HELD", "B gone", "!c3", "H allow c1",
	"H<results not_found", "H resume s1", "A<ask c1 human; A<allow c2 mode; !c3")

/* What the request claims beyond the check is not lost. */
SCENARIO(a_check_becomes_a_request_that_claims_more, READY, "A begin", "", "H suspend s1", "",
	"A check c1 Read inside", "!A<", "B hello s1", "", "B request c1 Read inside mutating",
	"H:offered c1 HELD", "H resume s1", "H:refreshed c1 AWAITING; !B<", "H deny c1",
	"B<deny c1",
	"P hello", "", "P subscribe", "", "A check c2 Bash", "P:offered c2",
	"B request c2 Bash mutating", "B!mismatch", "P defer c2", "A<ask c2")

SCENARIO(a_check_ends_with_its_turn, READY, "A begin", "", "H suspend s1", "",
	"A check c1 Bash", "", "H endturn s1", "A<deny c1 user suspended DENIED")

SCENARIO(a_check_and_a_request_of_one_id, READY, "P hello", "", "P subscribe", "",
	"A check c1 Bash", "P:offered c1", "B hello s1", "", "B request c1 Bash",
	"A!gone REVIEW", "P defer c1", "H:offered c1 AWAITING; !B<", "A check c1 Bash",
	"A<ask c1 human", "H allow c1", "B<allow c1", "H suspend s1", "", "A check c2 Bash", "",
	"B request c2 Bash", "H:offered c2 HELD; A!gone HELD; B~c2 HELD", "H deny c2",
	"B<deny c2")

/* ---- what became of it ---- */

SCENARIO(outcomes, READY, "A request c1 Bash", "", "H deny c1", "", "A outcome c1 not_run",
	"A<state DENIED; !ran_anyway", "A outcome c1 failed",
	"ran_anyway; H:outcome c1 FAILED ran_anyway; A<state DENIED", "A outcome c9 succeeded",
	"ran_anyway; H:outcome c9 SUCCEEDED ran_anyway; A<state SUCCEEDED",
	"A outcome c9 not_run", "A<state NOT_RUN; !ran_anyway", "A request c2 Bash", "",
	"A outcome c2 succeeded",
	"ran_anyway; H:outcome c2 SUCCEEDED ran_anyway; H:withdrawn c2 ELSEWHERE; "
	"A<deny c2 elsewhere; A<state ELSEWHERE",
	"A request c3 Bash elsewhere", "", "A outcome c3 succeeded",
	"H:withdrawn c3 ELSEWHERE elsewhere; A<deny c3 elsewhere; A<state ELSEWHERE; "
	"!ran_anyway",
	"A request c4 Bash", "", "H allow c4", "", "A cancel c4",
	"H:outcome c4 NOT_RUN; A<state NOT_RUN", "A request c5 Bash", "",
	"A cancel c5 reason=x",
	"H:withdrawn c5 ABANDONED abort; A<deny c5 abort; A<state ABANDONED", "A cancel c5",
	"A!gone ABANDONED", "A cancel c8", "A!not_found", "A outcome c5 succeeded",
	"ran_anyway; A<state ABANDONED")

SCENARIO(outcomes_that_come_late, READY, "A request c1 Bash", "", "H allow c1", "",
	"A request c2 Read inside", "", "A request c3 Bash", "", "H deny c3", "", "A end",
	"H:outcome c1 UNKNOWN", "A outcome c1 succeeded", "A<state UNKNOWN; !ran_anyway",
	"A outcome - failed tool=Read input=c2", "A<state UNKNOWN; !ran_anyway",
	"A outcome c3 succeeded", "ran_anyway", "A outcome c4 succeeded", "ran_anyway",
	"A request c5 Read inside", "", "A begin", "", "A outcome c5 succeeded",
	"A<state UNKNOWN; !ran_anyway", "A outcome c1 succeeded", "A<state UNKNOWN")

SCENARIO(outcomes_without_an_id, READY, "A request c1 Bash input=x", "", "H allow c1", "",
	"A request c2 Bash input=x elsewhere", "", "A outcome - succeeded tool=Bash input=x",
	"H:outcome c1 SUCCEEDED; !ran_anyway", "A outcome - succeeded tool=Bash input=x",
	"H:withdrawn c2 ELSEWHERE", "A outcome - succeeded tool=Bash input=x", "ran_anyway")

SCENARIO(settled, READY, "A request c1 Bash elsewhere", "", "A request c2 Bash", "",
	"A request c3 Bash elsewhere", "", "A settled c2 allow",
	"H:withdrawn c2 ELSEWHERE; A<deny c2 elsewhere; A<state ELSEWHERE", "A settled c2",
	"A!gone ELSEWHERE", "A settled - tool=Bash input=c1", "H:withdrawn c1 ELSEWHERE",
	"A request c4 Bash elsewhere", "", "A request c5 Bash", "", "A settled",
	"H:withdrawn; H:withdrawn; A<state ELSEWHERE; !c5", "A settled",
	"A<state ELSEWHERE; !c5")

/* ---- repeat ---- */

SCENARIO(repeat, READY, "A request c1 Bash input=x", "", "H deny c1", "",
	"A request c2 Bash input=x", "H:offered c2", "H deny c2", "",
	"A request c3 Bash input=x", "A<deny c3 repeat repeat DENIED; !H:offered",
	"A request c4 Bash input=y", "H:offered c4", "A begin", "", "A request c5 Bash input=x",
	"H:offered c5")

/* ---- modes and facts ---- */

SCENARIO(modes, READY, "A request c1 Todo harmless", "A<allow c1 mode mode",
	"A request c2 Read inside", "A<allow c2 mode mode", "A request c3 Read inside floor",
	"H:offered c3 AWAITING", "H ceiling s1 plan", "H<mode plan; ",
	"A request c4 Bash mutating", "A<deny c4 mode plan",
	"A request c5 Todo mutating harmless", "A<deny c5 mode plan",
	"A request c6 Read inside", "A<allow c6", "A mode normal", "A<mode plan",
	"H ceiling s1 normal", "H<mode normal", "A request c7 Bash mutating", "H:offered c7",
	"H ceiling s9 plan", "H!not_found", "O hello", "",
	"O ceiling s1 plan", "O!forbidden", "A mode yolo", "A<mode normal")

/* ---- quotas ---- */

SCENARIO(quotas, READY, "config pending=2", "", "A request c1 Bash", "", "A request c2 Bash",
	"", "A request c3 Bash", "A!limit pending", "A request c3 Read inside",
	"A!limit pending", "H deny c1", "", "A request c3 Bash", "H:offered c3",
	"config pending=100 bytes=10", "", "A request c4 Bash input=1234567",
	"A!limit pending-bytes", "A request c4 Bash input=123456", "H:offered c4", "H allow c4",
	"", "H allow c2", "", "H allow c3", "", "A request c5 Bash input=1234567890",
	"H:offered c5", "config sessions=1", "", "B hello s2 pid=11", "B!limit sessions",
	"B hello s1", "B<hello s1", "Ax hello s1", "Ax<hello s1")

/* clang-format on */

int main(void)
{
	Suite *s = suite_create("core: requests");
	TCase *t = tcase_create("request");
	SRunner *r;
	int failed;

	suite_add_tcase(s, t);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, asked_and_allowed);
	tcase_add_test(t, asked_and_denied);
	tcase_add_test(t, another_cwd_or_type);
	tcase_add_test(t, first_decision_wins);
	tcase_add_test(t, decisions_that_are_none);
	tcase_add_test(t, questions_want_answers);
	tcase_add_test(t, edited_input);
	tcase_add_test(t, edited_input_in_plan_mode);
	tcase_add_test(t, outcome_of_the_edited_input);
	tcase_add_test(t, an_allow_for_a_minute);
	tcase_add_test(t, an_allow_until_the_turn_ends);
	tcase_add_test(t, an_allow_not_delivered_yet);
	tcase_add_test(t, no_second_release_while_suspended);
	tcase_add_test(t, only_one_waits);
	tcase_add_test(t, grace_and_back);
	tcase_add_test(t, cancel_on_disconnect);
	tcase_add_test(t, keep_survives_the_subject);
	tcase_add_test(t, keep_denied_and_claimed);
	tcase_add_test(t, keep_expires);
	tcase_add_test(t, keep_allow_expires);
	tcase_add_test(t, keep_is_claimed_in_a_new_turn);
	tcase_add_test(t, keep_pending_moves_on_and_is_held);
	tcase_add_test(t, keep_pending_under_an_ended_turn);
	tcase_add_test(t, keep_is_seen_in_a_suspended_turn);
	tcase_add_test(t, lost_without_an_id);
	tcase_add_test(t, decided_without_an_id);
	tcase_add_test(t, deadlines);
	tcase_add_test(t, a_deadline_stands_still_while_held);
	tcase_add_test(t, half_a_minute_remains);
	tcase_add_test(t, grace_stands_still_while_held);
	tcase_add_test(t, checks);
	tcase_add_test(t, a_check_waits_in_a_suspended_turn);
	tcase_add_test(t, a_check_ends_with_its_turn);
	tcase_add_test(t, a_check_becomes_a_request_that_claims_more);
	tcase_add_test(t, a_check_and_a_request_of_one_id);
	tcase_add_test(t, outcomes);
	tcase_add_test(t, outcomes_that_come_late);
	tcase_add_test(t, outcomes_without_an_id);
	tcase_add_test(t, settled);
	tcase_add_test(t, repeat);
	tcase_add_test(t, modes);
	tcase_add_test(t, quotas);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
