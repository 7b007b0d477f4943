/* SPDX-License-Identifier: MIT */
/* Frontends: policies, people that are not there, snapshots and events. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/core_fixture.h"

#define READY                                                                                  \
	"A hello s1", "A<hello s1 normal -", "H hello", "H<greeting", "H subscribe", "H<page"
#define POLICY	"P hello name=p", "P<greeting", "P subscribe", "P<page"
#define POLICY2 "P2 hello name=q", "P2<greeting", "P2 subscribe", "P2<page"

/* ---- policies ---- */

/* clang-format off: pairs of a line and what must be told */
SCENARIO(a_policy_decides, READY, POLICY, "A request c1 Bash",
	"P:offered c1 REVIEW; !H:offered", "H allow c1", "H<results held",
	"P allow c1 reason=fine",
	"A<allow c1 policy policy ALLOWED \"fine\"; P<results ok; !H:", "P allow c1",
	"P<results gone:ALLOWED:policy", "A request c2 Bash", "", "P deny c2 reason=no",
	"A<deny c2 policy policy DENIED \"no\"", "A request c3 Bash", "", "P ask c3",
	"H:offered c3 AWAITING; P<results ok", "H allow c3", "A<allow c3 user",
	"A request c4 Bash", "", "P defer c4", "H:offered c4 AWAITING", "H deny c4",
	"A<deny c4 user", "A request c5 Bash", "", "P allow c5 digest=bad",
	"P<results mismatch; !A<", "H deny c5",
	"P:resolved c5 DENIED user; A<deny c5 user; H<results ok", "P allow c5",
	"P<results gone:DENIED:user", "A request c6 Bash", "", "A cancel c6",
	"P:withdrawn c6 ABANDONED", "P allow nothing", "P<results not_found",
	/* what is allowed before does not reach it, and what is denied neither */
	"A request c7 Read inside", "A<allow c7 mode; !P:",
	/* on the floor its allow counts as defer, its deny as a deny */
	"A request c8 Bash floor", "P:offered c8", "P allow c8",
	"H:offered c8 AWAITING; !A<allow", "A request c9 Bash floor", "", "P deny c9",
	"A<deny c9 policy", "A check k1 Bash", "P:offered k1; !A<", "P allow k1",
	"A<allow k1 policy", "A check k2 Bash", "", "P ask k2", "A<ask k2 policy",
	"A check k3 Bash", "", "A gone", "P:withdrawn k3")

SCENARIO(deny_beats_ask_beats_allow, READY, POLICY, POLICY2, "A request c1 Bash",
	"P:offered c1; P2:offered c1", "P allow c1 reason=a", "!A<", "P2 deny c1 reason=b",
	"A<deny c1 policy policy DENIED \"b\"", "A request c2 Bash", "", "P deny c2",
	"P2:withdrawn c2; A<deny c2", "P2 allow c2", "P2<results gone:DENIED:policy",
	"A request c3 Bash", "", "P allow c3", "", "P2 ask c3", "H:offered c3", "H deny c3", "",
	"A request c4 Bash", "", "P ask c4", "", "P2 allow c4", "H:offered c4", "H deny c4", "",
	"A request c5 Bash", "", "P allow c5", "", "P2 defer c5", "A<allow c5 policy",
	"A request c6 Bash", "", "P defer c6", "", "P2 allow c6", "A<allow c6 policy",
	"A request c7 Bash", "", "P defer c7", "", "P2 defer c7", "H:offered c7 AWAITING")

SCENARIO(policies_take_too_long, READY, POLICY, "A request c1 Bash", "", "tick 1999",
	"!H:", "tick 1", "P:withdrawn c1; H:offered c1 AWAITING", "P allow c1",
	"P<results gone:AWAITING", "H deny c1", "",
	/* a late answer breaks the row; three in a row end the waiting, not the doubt */
	"A request c2 Bash", "", "tick 2000", "H:offered c2", "H deny c2", "",
	"A request c3 Bash", "", "tick 2000", "H:offered c3", "H deny c3", "",
	"A request c4 Bash", "P:offered c4", "tick 2000", "H:offered c4", "H deny c4", "",
	"A request c5 Bash", "!P:; H:offered c5", "H deny c5", "", POLICY2, "A request c6 Bash",
	"P:offered c6; P2:offered c6", "P2 allow c6", "P:withdrawn c6; H:offered c6",
	"A request c7 Bash", "", "P deny c7", "P2:withdrawn c7; A<deny c7 policy",
	"A request c8 Bash", "P:offered c8; P2:offered c8", "P2 allow c8", "!A<", "P allow c8",
	"A<allow c8 policy")

SCENARIO(policies_that_leave, READY, POLICY, POLICY2, "A request c1 Bash", "", "P allow c1", "",
	"P2 gone", "H:offered c1 AWAITING", "A request c2 Bash", "P:offered c2", "P allow c2",
	"H:offered c2 AWAITING", "A request c3 Bash", "", "P deny c3", "A<deny c3 policy",
	/* another uid's is not it, nor one of another name */
	"Px hello name=q", "", "Px subscribe", "", "P3 hello name=r", "", "P3 subscribe", "",
	"A request c4 Bash", "P:offered c4; P3:offered c4", "P3 allow c4", "", "P allow c4",
	"H:offered c4", "P3 bye", "P3<; ", "P2 hello name=q", "", "P2 subscribe", "",
	"A request c5 Bash", "P:offered c5; P2:offered c5", "P2 allow c5", "", "P allow c5",
	"A<allow c5 policy", "P2 bye", "P2<; ", "A request c6 Bash",
	"P:offered c6; !P2:", "P allow c6", "A<allow c6", "A request c7 Bash", "", "P bye",
	"H:offered c7; P<; ", "A request c8 Bash", "H:offered c8")

SCENARIO(policies_without_a_name, READY, "P hello", "", "P subscribe", "", POLICY2, "P gone",
	"", "A request c1 Bash", "P2:offered c1", "P2 allow c1", "H:offered c1", "P3 hello", "",
	"P3 subscribe", "", "A request c2 Bash", "", "P2 allow c2", "", "P3 allow c2",
	"A<allow c2 policy")

SCENARIO(required_policies, READY, "config required=r", "", POLICY, "A request c1 Bash",
	"P:offered c1", "P allow c1", "H:offered c1", "A request c2 Bash", "", "P deny c2",
	"A<deny c2 policy", "P2 hello name=r", "", "A request c3 Bash", "", "P allow c3",
	"H:offered c3", "P2 subscribe", "", "A request c4 Bash", "P2:offered c4", "P allow c4",
	"", "P2 allow c4", "A<allow c4 policy")

SCENARIO(policies_of_other_types, READY, "P hello answers=2", "", "P subscribe", "",
	"A request c1 Bash", "!P:; H:offered c1", "A request c2 Net type=permissions",
	"P:offered c2", "P allow c2", "A<allow c2 policy", "A request c3 Q type=question",
	"H:offered c3", "A request c4 E type=elicitation", "H:offered c4", "P suspend s1",
	"P!forbidden", "O hello", "", "O allow c3", "O<results forbidden", "P hello",
	"P!state open", "P bye", "P<; ", "P hello", "P<greeting")

SCENARIO(reviewed_while_suspended, READY, POLICY, "A request c1 Bash", "P:offered c1",
	"H suspend s1", "P:withdrawn c1 HELD; A~c1 HELD; H:offered c1 HELD", "P allow c1",
	"P<results gone:HELD", "tick 500000", "!c1", "H resume s1",
	"P:offered c1 REVIEW; H:refreshed c1 REVIEW", "P allow c1",
	"H:resolved c1 ALLOWED policy; A<allow c1 policy")

/* ---- nobody there ---- */

SCENARIO(alone, "A hello s1", "", "A request c1 Bash", "!A<", "A request c2 Bash fail_closed",
	"A<deny c2 broker human DENIED", "config alone_deny=1", "A<deny c1 broker human DENIED",
	"A request c3 Bash", "A<deny c3 broker", "H hello", "", "A request c4 Bash",
	"A<deny c4 broker", "H subscribe", "", "A request c5 Bash", "H:offered c5",
	"A request c6 Q type=question", "H:offered c6", "H2 hello answers=4", "",
	"H2 subscribe", "H2<page c5 c6", "H gone",
	"H2:resolved c5 DENIED broker; A<deny c5 broker; !c6", "H2 gone", "A<deny c6",
	"config alone_deny=0 headless=1", "", "A request c7 Bash", "A<deny c7 broker",
	"O hello", "", "O subscribe", "", "Hx hello", "", "Hx subscribe", "",
	"A request c8 Bash", "A<deny c8 broker", "config headless=0", "", "A request c9 Bash",
	"!A<", "P hello headless", "A<deny c9 broker; P<greeting", "P bye", "",
	"A request d1 Bash", "A<deny d1 broker", "A check d2 Bash", "A<ask d2 human")

SCENARIO(alone_and_fail_closed, "A hello s1 fail_closed", "", "A request c1 Bash",
	"A<deny c1 broker", "B hello s2 pid=11", "", "B request c1 Bash", "!B<",
	"D hello s2 pid=11 fail_closed", "", "B request c2 Bash", "B<deny c2 broker", "H hello",
	"", "H subscribe", "", "A request c2 Bash", "H:offered c2",
	/* pending again after a restart, until its agent is back and nobody else is */
	"restart", "!A<", "A hello s1", "", "A request c2 Bash", "A<deny c2 broker")

SCENARIO(alone_after_a_restart, "A hello s1 fail_closed", "", "H hello", "", "H subscribe", "",
	"A request c2 Bash", "", "restart", "", "H hello", "", "H subscribe", "H<page c2",
	"A hello s1", "", "A request c2 Bash", "H:refreshed c2", "H allow c2",
	"A<allow c2 user")

/* ---- snapshots ---- */

SCENARIO(late_comers, READY, "A request c1 Bash", "", "A request c2 Bash", "", "H2 hello", "",
	"H2 subscribe", "H2<page c1 c2", "H2 subscribe", "H2!invalid cursor", "H2 page",
	"H2!invalid cursor", "O hello", "", "O subscribe", "O<page c1 c2", "Hx hello", "",
	"Hx subscribe", "Hx<page; !c1", "Hr hello", "", "Hr subscribe", "Hr<page c1 c2",
	"H allow c1", "H2:resolved c1; O:resolved c1; !Hx:; Hr:resolved c1", "H3 subscribe",
	"H3!no_session", "H2 bye", "H2<; ", "H2 hello", "", "H2 subscribe", "H2<page c2")

SCENARIO(pages, READY, "A request c1 Bash", "", "A request c2 Bash", "", "A request c3 Bash",
	"", "H2 hello", "", "H2 subscribe 3", "H2<page c1 more",
	/* what was on no page yet is in a later one as it is then, or not at all */
	"H allow c3", "!H2:", "H deny c1", "H2:resolved c1", "A request c4 Bash",
	"!H2:", "H2 page 1", "H2<page c2 more", "H deny c4", "!H2:", "A request c5 Bash",
	"!H2:", "B hello s2 pid=11", "!H2:", "H2 page 1", "H2<page c5 more", "H deny c5",
	"H2:resolved c5", "H2 page 1", "H2<page; !more", "A request c6 Bash", "H2:offered c6",
	"H2 page", "H2!invalid", "B hello s3 pid=12", "")

SCENARIO(shown_late, READY, POLICY, "A request c1 Bash", "", "H2 hello", "", "H2 subscribe",
	"H2<page; !c1", "P ask c1", "H:offered c1; H2:offered c1", "A request c2 Bash", "",
	"H3 hello", "", "H3 subscribe 1", "H3<page more", "H3 page 1", "H3<page more",
	"H3 page 1", "H3<page c1; !more", "P ask c2", "H3:offered c2")

/* clang-format on */

/* Pages of every size, with something happening between any two of them. */
START_TEST(pages_of_every_size)
{
	static const char *const between[] = {"H deny c1", "H deny c2", "H deny c5",
		"A request c7 Bash", "A cancel c3", "H suspend s1", "H endturn s1", "A begin",
		"B hello s2 pid=11", "died 10", "tick 1", "B bye end"};

	for (unsigned limit = 1; limit < 9; limit++)
		for (unsigned first = 0; first < sizeof(between) / sizeof(between[0]);
			first++) {
			struct world w;
			char line[32];

			world_init(&w);
			script_run(&w, "A hello s1");
			script_run(&w, "B hello s3 pid=11");
			script_run(&w, "B bye");
			script_run(&w, "H hello");
			script_run(&w, "H subscribe");
			for (int i = 1; i < 7; i++) {
				snprintf(line, sizeof(line), "A request c%d Bash", i);
				script_run(&w, line);
			}
			script_run(&w, "H2 hello");
			snprintf(line, sizeof(line), "H2 subscribe %u", limit);
			script_run(&w, line);
			snprintf(line, sizeof(line), "H2 page %u", limit);
			for (unsigned i = 0; strstr(w.told, "more") && i < 40; i++) {
				script_run(&w, between[(first + i) % 12]);
				script_run(&w, line);
			}
			ck_assert_ptr_null(strstr(w.told, "more"));
			world_fini(&w);
		}
}
END_TEST

/* Many policies: each has its bit, and there are only so many. */
START_TEST(many_policies)
{
	struct engine_config config = {.policy_time = 1};
	struct frontend *f[LIMIT_POLICIES + 1];
	struct command c = {.type = COMMAND_FRONTEND_HELLO, .greet.role = ROLE_POLICY};
	const struct effects *out;
	struct engine e;

	ck_assert_int_eq(engine_init(&e, &config), 0);
	for (unsigned i = 0; i <= LIMIT_POLICIES; i++) {
		c.frontend = f[i] = engine_frontend_open(&e, 1000, false, NULL);
		ck_assert_int_eq(engine_step(&e, (struct instant){1, 1}, &c, &out), 0);
		ck_assert_int_eq(
			out->items[0].type, i < LIMIT_POLICIES ? EFFECT_REPLY : EFFECT_ERROR);
		engine_commit(&e);
	}
	c = (struct command){.type = COMMAND_FRONTEND_BYE, .frontend = f[3]};
	ck_assert_int_eq(engine_step(&e, (struct instant){1, 1}, &c, &out), 0);
	engine_commit(&e);
	c = (struct command){.type = COMMAND_FRONTEND_HELLO,
		.frontend = f[LIMIT_POLICIES],
		.greet.role = ROLE_POLICY};
	ck_assert_int_eq(engine_step(&e, (struct instant){1, 1}, &c, &out), 0);
	ck_assert_int_eq(out->items[0].type, EFFECT_REPLY);
	engine_commit(&e);
	ck_assert_int_eq(f[LIMIT_POLICIES]->s.policy, 3);
	for (unsigned i = 0; i <= LIMIT_POLICIES; i++)
		engine_frontend_close(&e, f[i]);
	engine_fini(&e);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core: frontends");
	TCase *t = tcase_create("frontend");
	SRunner *r;
	int failed;

	suite_add_tcase(s, t);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_policy_decides);
	tcase_add_test(t, deny_beats_ask_beats_allow);
	tcase_add_test(t, policies_take_too_long);
	tcase_add_test(t, policies_that_leave);
	tcase_add_test(t, policies_without_a_name);
	tcase_add_test(t, required_policies);
	tcase_add_test(t, policies_of_other_types);
	tcase_add_test(t, reviewed_while_suspended);
	tcase_add_test(t, alone);
	tcase_add_test(t, alone_and_fail_closed);
	tcase_add_test(t, alone_after_a_restart);
	tcase_add_test(t, late_comers);
	tcase_add_test(t, pages);
	tcase_add_test(t, shown_late);
	tcase_add_test(t, pages_of_every_size);
	tcase_add_test(t, many_policies);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
