/* SPDX-License-Identifier: MIT */
/* Sessions and turns: begin, end, supersede, suspension, children. */
#include <stdlib.h>

#include "tests/unit/core_fixture.h"

#define READY                                                                                  \
	"A hello s1", "A<hello s1 normal -", "H hello", "H<greeting", "H subscribe", "H<page"
#define CHILD "C hello s2 pid=20 chain=10", "H:session s2; C<hello s2"

/* ---- sessions ---- */

/* clang-format off: pairs of a line and what must be told */
SCENARIO(hello, READY, "A hello s1", "A!state open", "B hello s1", "B<hello s1", "B bye",
	"B<; ", "B begin", "B!no_session", "B request c1 Bash", "B!no_session",
	"B hello s1 pid=11", "B!forbidden", "B hello s1 pid=11 chain=10", "B<hello s1",
	"C hello s1 new", "C!state open", "C hello - pid=30", "watch 30; C<hello ses_",
	"D hello s3 pid=31 claim=plan", "D<hello s3 plan -", "D bye end",
	"unwatch 31; H:session s3 ended; D<; ", "D hello s3 pid=32",
	"watch 32; D<hello s3 normal -")

SCENARIO(subject_dies, READY, CHILD, "A request c1 Bash", "", "B hello s1", "", "died 10",
	"H:withdrawn c1 INTERRUPTED abort; A<deny c1 abort; H:turn t1 ENDED; "
	"H:session s2; H:session s1 ended",
	"A request c2 Bash", "A!no_session", "B bye", "B!no_session", "A hello s1 pid=11",
	"A<hello s1 normal -", "died 99", "!H:")

SCENARIO(bye_is_like_a_loss, READY, "A request c1 Bash", "", "A request c2 Bash cancel", "",
	"A bye", "A!gone; A!gone; A<; ", "H deny c2", "H<results gone:ABANDONED:abort",
	"tick 30000", "H:withdrawn c1 INTERRUPTED", "A hello s1", "", "A request c3 Bash", "",
	"A bye end", "H:withdrawn c3 ABANDONED; H:session s1 ended; A<; ")

SCENARIO(without_a_subject, READY, "C hello s5 pid=0", "!watch; C<hello s5",
	"C request c1 Bash", "H:offered c1", "C gone", "H:refreshed c1; !ended", "tick 30000",
	"H:withdrawn c1; H:session s5 ended", "C hello s5 pid=0", "", "H suspend s5", "",
	"C gone", "!ended", "D hello s5 pid=0", "D<hello s5 normal t2 SUSPENDED", "D gone",
	"!ended", "H resume s5", "H:session s5 ended")

/* ---- turns ---- */

SCENARIO(turns, READY, "A begin T1", "H:turn t1 RUNNING; A<turn t1 RUNNING", "A begin T1",
	"A<turn t1 RUNNING; !t2", "A request c1 Bash", "", "A begin T1", "A<turn t1 WAITING",
	"A usage 1 100 cursor=k", "A<turn t1", "A usage 1 900", "A<turn t1", "A usage 2 50",
	"A<turn t1", "A end T9", "A!not_found", "A usage 3 3 turn=T1", "A<turn t1", "A end T1",
	"H:withdrawn c1 ABANDONED abort; A<deny c1 abort; H:turn t1 ENDED; "
	"A<turn t1 ENDED",
	"A end", "A!not_found", "A begin T1", "A<turn t2 RUNNING", "A begin",
	"H:turn t2 ENDED; A<turn t3 RUNNING",
	/* an implicit turn takes the first id that is said in it, and another one begins
	   another */
	"A request c2 Bash turn=T4", "!t4; H:offered c2", "A request c3 Bash turn=T5",
	"H:refreshed c2; H:turn t3 ENDED; H:offered c3", "A end T5", "A<turn t4 ENDED",
	"A usage 1 5", "A<turn t5 RUNNING")

SCENARIO(supersede, READY, "B hello s1", "", "A request c1 Bash", "", "B request c2 Bash", "",
	"B gone", "", "A request c3 Bash", "", "H allow c3", "", "A request c4 Bash keep", "",
	"A begin",
	"H:refreshed c1 AWAITING; H:refreshed c4 AWAITING; "
	"H:withdrawn c2 ABANDONED abort; H:outcome c3 UNKNOWN; H:turn t1 ENDED; "
	"A<turn t2 WAITING",
	"H allow c1", "A<allow c1", "A outcome c1 succeeded", "A<state SUCCEEDED")

SCENARIO(supersede_what_was_recovered, READY, "A request c1 Bash", "", "restart", "",
	"A hello s1", "A<hello s1 normal t1 REDRIVING", "A begin", "A<turn t2 WAITING",
	"A request c1 Bash", "!A<", "H hello", "", "H allow c1", "A<allow c1")

/* ---- suspension ---- */

SCENARIO(suspended_and_resumed, READY, "A request c1 Bash", "",
	"A request c2 Bash timeout=100000", "", "H suspend s1 reason=stop",
	"A~suspended t1; H:turn t1 SUSPENDED; A~c1 HELD; H:refreshed c1 HELD; "
	"A~c2 HELD; H<count 1",
	"H suspend s1", "H<count 0", "A request c3 Read inside",
	"A~c3 HELD; H:offered c3 HELD; !A<", "A usage 1 1", "A<turn t1 SUSPENDED", "A begin T9",
	"A<turn t2 SUSPENDED", "H allow c1", "H<results held", "H deny c2",
	"H:resolved c2 DENIED; A<deny c2 user", "A request c4 Bash", "A~c4 HELD", "A mode plan",
	"", "A request c5 Bash mutating", "A~c5 HELD", "H resume s1",
	"A~resumed t2; H:turn t2 WAITING; H:refreshed c1 AWAITING; "
	"H:resolved c3 ALLOWED; A<allow c3 mode; H:refreshed c4 AWAITING; "
	"A<deny c5 mode plan; H<count 1",
	"H resume s1", "H<count 0", "H suspend s9", "H!not_found", "O hello", "",
	"O suspend all", "O!forbidden", "Hx hello", "", "Hx suspend s1", "Hx!not_found",
	"Hx suspend all", "Hx<count 0")

SCENARIO(no_escape_by_a_new_turn, READY, "A request c1 Bash", "", "H suspend s1", "", "A end",
	"H:turn t1 ENDED; A<turn t2 SUSPENDED; ", "A request c2 Read inside", "A~c2 HELD",
	"A begin T3", "A<turn t3 SUSPENDED", "A request c3 Bash turn=T4", "A~c3 HELD",
	"restart", "", "A hello s1", "A<hello s1 normal t4 SUSPENDED", "A begin",
	"A<turn t5 SUSPENDED", "H hello", "", "H resume s1", "A~resumed t5; H<count 1",
	"A begin", "A<turn t6 WAITING")

SCENARIO(no_escape_by_a_new_session, READY, "H suspend s1", "H<count 1", "A bye end",
	"!ended; A<; ", "A hello s9", "A<hello s9", "A request c1 Read inside", "A~c1 HELD",
	"A bye", "", "A hello s1", "A<hello s1 normal t1 SUSPENDED", "H resume s1",
	"H:turn t2 RUNNING; H:resolved c1 ALLOWED", "A bye end", "H:session s1 ended")

SCENARIO(suspended_between_turns, READY, "H suspend s1", "H:turn t1 SUSPENDED; H<count 1",
	"A request c1 Bash", "A~c1 HELD", "H endturn s1",
	"A<deny c1 user; H:turn t1 ENDED; H<count 1", "A request c2 Bash",
	"A<deny c2 user suspended",
	/* suspended while it is ended: the next one is */
	"H suspend s1", "H<count 1", "H suspend s1", "H<count 0", "A request c3 Bash",
	"A<deny c3 user", "A begin", "A<turn t2 SUSPENDED", "H resume s1", "H<count 1",
	"H endturn s1", "", "H suspend s1", "", "H resume s1", "H<count 1", "A begin",
	"A<turn t3 RUNNING")

SCENARIO(ended_by_a_person, READY, "A begin T1", "", "A request c1 Bash", "",
	"A request c2 Read inside", "A<allow c2", "H endturn s1 reason=enough",
	"H:resolved c1 DENIED user; A<deny c1 user suspended DENIED \"enough\"; "
	"H:turn t1 ENDED; H<count 1",
	"A request c3 Read inside", "A<deny c3 user suspended DENIED \"enough\"",
	"A request c4 Read inside turn=T1", "A<deny c4 user", "A check c5 Read inside",
	"A<deny c5 user", "A usage 7 7", "A<turn t1 ENDED", "A end", "A<turn t1 ENDED",
	"H endturn s1", "H<count 0", "restart", "", "A hello s1", "A<hello s1 normal t1 ENDED",
	"A request c6 Read inside", "A<deny c6 user", "A begin T1", "A<turn t2 RUNNING",
	"A request c7 Read inside", "A<allow c7", "H hello", "", "H endturn s1", "",
	"A request c8 Read inside", "A<deny c8", "A bye end", "A<; !unwatch", "died 10",
	"unwatch 10")

SCENARIO(ended_and_dead, READY, "A request c1 Bash", "", "H endturn s1", "",
	"A request c2 Bash", "A<deny c2", "died 10", "H:session s1 ended")

/* ---- children ---- */

SCENARIO(children_inherit, READY, CHILD, "G hello s3 pid=30 chain=20,10", "G<hello s3",
	"A begin", "", "G request c1 Bash", "H:offered c1",
	/* across one that is between turns */
	"H suspend s1", "A~suspended t1; G~suspended t2; G~c1 HELD; H<count 1",
	"C request c2 Bash", "C~c2 HELD", "D hello s4 pid=40 chain=20", "D<hello s4",
	"D request c3 Read inside", "D~c3 HELD", "H resume s3", "H<count 0", "H suspend s2",
	"H<count 1", "H resume s1", "A~resumed; !C~; !G~; !D~; H<count 1", "H suspend s3",
	"H<count 1", "H resume s2",
	"C~resumed t3; H:refreshed c2 AWAITING; D~resumed; D<allow c3; !G~; H<count 1",
	"H resume s3", "G~resumed; H:refreshed c1 AWAITING")

SCENARIO(children_keep_what_they_inherited, READY, CHILD, "C request c1 Bash", "",
	"H suspend s1", "C~c1 HELD", "died 10", "H:session s2; H:session s1 ended; !C~resumed",
	"C request c2 Read inside", "C~c2 HELD", "H resume s2",
	"C~resumed; H:refreshed c1 AWAITING; C<allow c2; H<count 1")

SCENARIO(grandchildren_keep_what_they_inherited, READY, "B hello s8 pid=5", "",
	"C hello s9 pid=6 chain=5", "", "G hello s10 pid=7 chain=6,5", "", "C request c0 Bash",
	"", "G request c1 Bash", "", "H suspend s9", "C~c0 HELD; G~c1 HELD", "C bye end",
	"!ended", "died 6", "H:withdrawn c0 INTERRUPTED; H:session s9 ended; !G~resumed",
	"H resume s10", "G~resumed; H:refreshed c1 AWAITING", "H suspend s8", "G~c1 HELD",
	"restart", "", "G hello s10 pid=7 chain=6,5", "G<hello s10 normal t2 SUSPENDED",
	"H hello", "", "H resume s8", "G~resumed t2")

/* A ceiling that a person sets holds for the sub-agents that are there already. */
SCENARIO(children_keep_below_the_ceiling, READY, CHILD, "C request c1 Bash mutating", "",
	"H ceiling s1 plan", "", "C request c2 Bash mutating", "C<deny c2 mode plan",
	"C mode normal", "C<mode plan", "H ceiling s1 normal", "",
	"C mode normal", "C<mode normal")

SCENARIO(children_end_with_the_turn, READY, CHILD, "A begin", "", "C request c1 Bash", "",
	"G hello s3 pid=30 chain=10", "", "A end", "A<turn t1 ENDED; !c1", "A begin", "!c1",
	"H endturn s1", "C<deny c1 user suspended; H<count 2", "C request c2 Read inside",
	"C<deny c2 user",
	/* one that had no turn, and one that begins later */
	"G request c3 Read inside", "G<deny c3 user", "D hello s4 pid=40 chain=20", "",
	"D request c4 Bash", "D<deny c4 user", "G begin", "G<turn", "G request c5 Read inside",
	"G<deny c5 user", "A begin", "A<turn", "G request c6 Read inside", "G<allow c6",
	"C request c7 Read inside", "C<deny c7", "C begin", "", "C request c8 Read inside",
	"C<allow c8")

SCENARIO(children_are_superseded, READY, CHILD, "A begin", "", "C begin K", "",
	"C request c1 Bash", "", "E hello s2 pid=20", "", "E request c2 Bash", "", "E gone", "",
	"A begin",
	"H:turn t1 ENDED; H:refreshed c1; H:withdrawn c2 ABANDONED; H:turn t2 ENDED; "
	"A<turn t3 RUNNING",
	"H allow c1", "C<allow c1", "C end K", "C<turn t4 ENDED")

SCENARIO(chains_end, READY, "B hello s2 pid=11 chain=10", "", "C hello s3 pid=12 chain=11,10",
	"", "B bye end", "H:session s3; H:session s2 ended", "A begin", "", "H suspend s1", "",
	"C request c1 Bash", "C~c1 HELD", "D hello s4 pid=13 parent=s3", "D<hello s4",
	"D request c2 Bash", "H:offered c2 AWAITING", "F hello s5 pid=13 chain=12 parent=s3",
	"F<hello s5", "F request c3 Bash", "F~c3 HELD")

/* clang-format on */

int main(void)
{
	Suite *s = suite_create("core: turns");
	TCase *t = tcase_create("turn");
	SRunner *r;
	int failed;

	suite_add_tcase(s, t);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, hello);
	tcase_add_test(t, subject_dies);
	tcase_add_test(t, bye_is_like_a_loss);
	tcase_add_test(t, without_a_subject);
	tcase_add_test(t, turns);
	tcase_add_test(t, supersede);
	tcase_add_test(t, supersede_what_was_recovered);
	tcase_add_test(t, suspended_and_resumed);
	tcase_add_test(t, no_escape_by_a_new_turn);
	tcase_add_test(t, no_escape_by_a_new_session);
	tcase_add_test(t, suspended_between_turns);
	tcase_add_test(t, ended_by_a_person);
	tcase_add_test(t, ended_and_dead);
	tcase_add_test(t, children_inherit);
	tcase_add_test(t, children_keep_what_they_inherited);
	tcase_add_test(t, grandchildren_keep_what_they_inherited);
	tcase_add_test(t, children_keep_below_the_ceiling);
	tcase_add_test(t, children_end_with_the_turn);
	tcase_add_test(t, children_are_superseded);
	tcase_add_test(t, chains_end);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
