/* SPDX-License-Identifier: MIT */
/* Ceilings in the engine: what is counted where, what reaches them, who gets further. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/core_fixture.h"
#include "tests/unit/fail_alloc.h"

#define READY                                                                                  \
	"A hello s1", "A<hello s1 normal -", "H hello", "H<greeting", "H subscribe", "H<page"
#define CHILD "C hello s2 pid=20 chain=10", "H:session s2; C<hello s2"

/* clang-format off: pairs of a line and what must be told */

/* ---- tokens and cost ---- */

SCENARIO(warned_and_suspended, "config tokens=100", "", READY, "A begin T", "",
	"A request c1 Bash", "", "A usage 1 79", "!warning", "A usage 2 80",
	"H:warning turn tokens; A<turn t1 WAITING", "A usage 3 99", "!warning; !suspended",
	"A usage 4 100",
	"A~suspended t1; H:turn t1 SUSPENDED; A~c1 HELD; H:refreshed c1 HELD; A<turn t1 SUSPENDED",
	"A request c2 Read inside", "A~c2 HELD; !A<", "A usage 5 120", "!A~suspended",
	"H allow c1", "H<results held",
	/* as much again as is configured, and once more a warning */
	"H resume s1", "A~resumed t1; H:refreshed c1 AWAITING; A<allow c2 mode; H<count 1",
	"A usage 6 159", "!warning", "A usage 7 160", "H:warning turn tokens", "A usage 8 200",
	"A~suspended t1")

SCENARIO(raise_that_is_not_enough, "config tokens=100 session-tokens=1000000", "", READY,
	"A usage 1 1000",
	"A~suspended t1; !warning", "H resume s1", "H!state SUSPENDED; !resumed",
	"H resume s1 tokens=900", "H!state SUSPENDED; !resumed", "H resume s1 calls=7",
	"H!state SUSPENDED", "H resume s1 tokens=901", "A~resumed t1; H<count 1",
	"A usage 2 1001", "A~suspended t1", "H resume all", "H<count 0",
	"H resume all tokens=1000", "A~resumed t1; H<count 1",
	/* before it is reached, too */
	"H resume s1 tokens=1000", "H:turn t1 RUNNING; H<count 1", "A usage 3 3000",
	"!suspended", "A usage 4 3001", "A~suspended")

SCENARIO(one_report_that_crosses_cost, "config cost=500", "", READY, "A usage 1 0 cost=499",
	"H:warning turn cost", "A usage 2 0 cost=500", "A~suspended t1")

SCENARIO(reports_that_do_no_harm, "config tokens=100", "", READY, "A begin T", "",
	"A usage 3 90", "H:warning", "A usage 3 100", "!suspended", "A usage 2 100",
	"!suspended", "A usage 4 5", "!suspended", "A usage 5 99", "!suspended",
	"A usage 6 100", "A~suspended")

SCENARIO(turn_end_that_crosses, "config tokens=100 session-tokens=150", "", READY,
	"A begin T1", "", "A end T1 seq=1 in=120", "A<turn t1 ENDED; !suspended", "A begin T2",
	"A<turn t2 RUNNING", "A usage 1 29", "!suspended", "A usage 2 30", "A~suspended t2",
	"A end T2", "A<turn t3 SUSPENDED",
	/* the session's is what has to be raised */
	"H resume s1 tokens=10", "A~resumed t3", "A usage 1 9", "!suspended", "A usage 2 10",
	"A~suspended")

SCENARIO(nothing_allowed, "config tokens=0", "", READY, "A begin T",
	"A~suspended t1; A<turn t1 SUSPENDED", "A request c1 Read inside", "A~c1 HELD",
	"H resume s1", "H!state", "H resume s1 tokens=5", "A<allow c1; H<count 1",
	"A usage 1 5", "A~suspended")

/* ---- calls ---- */

SCENARIO(calls, "config calls=2", "", READY, "A request c1 Read inside", "A<allow c1",
	"A request c2 Read inside", "H:warning turn calls; A<allow c2",
	"A request c2 Read inside", "A<allow c2", "A request c3 Read inside",
	"A~suspended t1; A~c3 HELD", "A request c4 Read inside", "A~c4 HELD",
	"H resume s1 calls=1", "H!state", "H resume s1 calls=2", "A<allow c3; A<allow c4",
	"A request c5 Read inside", "A~c5 HELD", "restart", "", "A hello s1",
	"A<hello s1 normal t1 SUSPENDED", "H hello", "", "H resume s1 calls=1", "H<count 1",
	"A request c6 Read inside", "A~c6 HELD")

SCENARIO(a_check_and_its_request_are_one_call, "config calls=1", "", READY,
	"A check - Bash input=x", "A<ask", "A request - Bash input=x", "!HELD",
	"A check - Bash input=y", "A~suspended")

SCENARIO(no_call_allowed, "config calls=0", "", READY, "A begin", "A<turn t1 RUNNING",
	"A check c1 Read inside", "A~suspended; !A<", "A request c2 Bash", "A~c2 HELD",
	"H endturn s1", "A<deny c2 budget suspended; H:turn t1 ENDED", "A request c3 Bash",
	"A<deny c3 budget", "A begin", "A~suspended t2; A<turn t2 SUSPENDED")

/* ---- no escape ---- */

SCENARIO(no_escape_by_a_new_turn, "config tokens=100", "", READY, "A begin T1", "",
	"A usage 7 100", "A~suspended t1", "A begin T2", "A<turn t2 SUSPENDED",
	/* its reports begin anew, and add to what went before */
	"A usage 1 30", "A<turn t2 SUSPENDED", "H resume s1 tokens=30", "H!state",
	"H resume s1 tokens=40", "A~resumed t2", "A usage 2 39", "!suspended", "A usage 3 40",
	"A~suspended", "A end T2", "A<turn t3 SUSPENDED", "A request c1 Read inside turn=T4",
	"A~c1 HELD", "restart", "", "A hello s1", "A<hello s1 normal t3 SUSPENDED",
	"A begin T5", "A<turn t4 SUSPENDED", "H hello", "", "H resume s1 tokens=1", "H<count 1",
	"A usage 1 1", "A~suspended")

SCENARIO(no_escape_by_turns, "config tokens=100 session-tokens=200", "", READY, "A begin T1",
	"", "A usage 1 90", "", "A end T1", "A<turn t1 ENDED", "A begin T2", "", "A usage 1 90",
	"H:warning session tokens", "A end T2", "A<turn t2 ENDED", "A begin T3",
	"A<turn t3 RUNNING", "A usage 1 20", "A~suspended t3", "H endturn s1",
	"H:turn t3 ENDED", "A begin T4", "A~suspended t4; A<turn t4 SUSPENDED", "restart", "",
	"A hello s1", "A<hello s1 normal t4 SUSPENDED", "H hello", "",
	"H resume s1 tokens=50", "H<count 1", "A usage 1 49", "!suspended", "A usage 2 50",
	"A~suspended")

SCENARIO(no_escape_by_a_new_session, "config tokens=100 session-tokens=150", "", READY,
	"A begin T1", "", "A usage 1 90", "", "A end T1", "",
	/* over for everybody, but its subject lives */
	"A bye end", "H:session s1 ended; A<; !unwatch", "A hello s9",
	"H:session s9; A<hello s9 normal -", "A usage 1 59", "!suspended", "A usage 2 60",
	"A~suspended t2", "A bye end", "!ended", "H resume s9 tokens=20", "H<count 1",
	"A hello s9", "", "A bye end", "H:session s9 ended", "restart", "", "H hello", "",
	"H subscribe", "!s1; H<page", "A hello s1 pid=12 chain=10", "H:session s1; A<hello s1",
	"A usage 1 19", "!suspended", "A usage 2 20", "A~suspended t3", "H suspend s9",
	"H!not_found", "died 10", "unwatch 10; !ended", "H resume s1", "H<count 1",
	"A usage 3 99", "!suspended", "A bye end", "H:session s1 ended", "died 12",
	"unwatch 12")

SCENARIO(a_session_that_used_nothing, "config tokens=100", "", READY, "A bye end",
	"unwatch 10; H:session s1 ended; A<; ")

SCENARIO(no_escape_by_a_connection, "config calls=1", "", READY, "A request c1 Read inside",
	"A<allow c1", "A bye", "", "B hello s1", "", "B request c2 Read inside", "B~c2 HELD",
	"B gone", "", "A hello s1", "A<hello s1 normal t1 SUSPENDED")

/* ---- sub-agents ---- */

SCENARIO(children_count, "config tokens=100 calls=3", "", READY, CHILD, "A usage 1 40", "",
	"C usage 1 59", "H:warning turn tokens; !suspended", "C request c1 Bash", "",
	"C usage 2 60",
	"A~suspended t1; H:turn t1 SUSPENDED; C~suspended t2; H:turn t2 SUSPENDED; C~c1 HELD",
	"C begin", "C<turn t3 SUSPENDED", "H resume s2", "H<count 0", "H resume s1",
	"A~resumed t1; C~resumed t3; H<count 1", "C request c2 Read inside", "C<allow c2",
	"A request c3 Read inside", "A<allow c3", "A request c4 Read inside",
	"A~suspended t1; C~suspended t3; A~c4 HELD")

SCENARIO(a_child_whose_end_crosses, "config tokens=100", "", READY, CHILD, "A begin", "",
	"C begin U", "", "C end U seq=1 in=100", "A~suspended t1; C<turn t2 ENDED",
	"C request c1 Read inside", "C~c1 HELD")

/* An agent between turns has a ceiling all the same. */
SCENARIO(a_child_of_nobody, "config tokens=100 session-tokens=120", "", READY, CHILD,
	"A begin", "", "A usage 1 90", "", "A end", "", "C usage 1 29", "!suspended",
	"C usage 2 30", "C~suspended t2; H:turn t2 SUSPENDED", "A begin",
	"A~suspended t3; A<turn t3 SUSPENDED", "H resume s1 tokens=50", "A~resumed t3",
	"H resume s2 tokens=1", "C~resumed t2", "A end", "", "restart", "", "A hello s1", "",
	"C hello s2 pid=20 chain=10", "", "C usage 3 79", "!suspended", "C usage 4 80",
	"C~suspended")

/* ---- the agent's own ceilings ---- */

SCENARIO(agents_only_lower, "config tokens=100", "", "A hello s1 tokens=50", "", "H hello", "",
	"H subscribe", "", "A begin T1 tokens=500", "", "A usage 1 49", "!suspended",
	"A usage 2 50", "A~suspended", "H resume s1", "H<count 1", "A usage 3 100",
	"A~suspended", "H endturn s1", "", "A begin T2 tokens=20", "", "B hello s1 tokens=90",
	"", "A usage 1 20", "A~suspended", "H endturn s1", "", "A begin T3", "",
	"A usage 1 30", "!suspended", "B bye", "", "B hello s1 tokens=30", "A~suspended")

/* ---- time ---- */

SCENARIO(active_time, "config time=10000", "", READY, "A begin", "", "tick 7999", "!warning",
	"due", "H:warning turn time", "A request c1 Bash", "", "A request c2 Bash", "",
	/* nobody but a person is waited for */
	"tick 3600000", "!suspended", "H allow c1", "A<allow c1", "tick 1999", "!suspended",
	"H deny c2", "", "due", "A~suspended t1; H:turn t1 SUSPENDED", "tick 3600000", "",
	"H resume s1 time=5000", "A~resumed t1", "tick 1999", "!warning", "due",
	"H:warning turn time", "due", "A~suspended", "H resume s1", "H<count 1",
	"A outcome c1 succeeded", "",
	"A request c3 Bash", "", "tick 86400000", "!suspended", "A cancel c3", "", "due",
	"H:warning", "due", "A~suspended")

SCENARIO(wall_time, "config wall=10000", "", READY, "A request c1 Bash", "", "tick 8000",
	"H:warning turn wall", "due", "A~suspended t1; A~c1 HELD",
	/* it stands still, too, while the turn does */
	"tick 3600000", "", "clock -86400000", "", "H resume s1 wall=5000",
	"A~resumed t1; H:refreshed c1 AWAITING", "tick 4999", "", "due", "A~suspended")

SCENARIO(time_in_all_turns, "config time=10000 session-time=25000", "", READY, "A begin T1",
	"", "wait 9000", "", "A begin T2", "A<turn t2", "wait 9000", "", "A end T2",
	"", "wait 3600000", "", "A begin T3", "A<turn t3 RUNNING", "tick 2000",
	"H:warning session time", "tick 5000", "A~suspended t3")

SCENARIO(time_of_children, "config time=100000 session-time=10000", "", READY, CHILD,
	"A begin", "", "A end", "", "C begin", "", "tick 8000",
	"H:warning session time", "tick 2000", "C~suspended t2", "A begin",
	"A~suspended t3; A<turn t3 SUSPENDED")

SCENARIO(the_machine_slept, "config wall=10000", "", READY, "A begin", "",
	"clock 86400000", "", "slept", "!suspended", "tick 7999", "!warning", "due", "H:warning")

/* The broker was down: wall time has gone on, active time not. */
SCENARIO(time_over_a_restart, "config time=100000 wall=1000000", "", READY, "A begin", "",
	"A request c1 Bash", "", "wait 50000", "", "H allow c1", "A<allow c1", "tick 40000", "",
	"A usage 1 1", "", "restart 500000", "", "A hello s1", "A<hello s1 normal t1 RUNNING",
	"H hello", "", "H subscribe", "", "tick 39999", "!warning", "due", "H:warning turn time",
	"tick 20000", "A~suspended t1", "H resume s1 time=900000", "", "tick 150000", "",
	"tick 199998", "!suspended", "due", "A~suspended", "restart 7200000", "", "A hello s1",
	"A<hello s1 normal t1 SUSPENDED", "H hello", "", "H resume s1 wall=1000", "H<count 1",
	"tick 999", "!suspended", "due", "A~suspended")

SCENARIO(waiting_over_a_restart, "config time=100000", "", READY, "A begin", "",
	"wait 50000", "", "A request c1 Bash", "", "wait 3600000", "", "restart 3600000", "",
	"A hello s1", "", "H hello", "", "A request c1 Bash", "", "tick 3600000", "",
	"H deny c1", "A<deny c1", "tick 49999", "!suspended", "due", "A~suspended")

SCENARIO(suspended_by_both, "config tokens=100", "", READY, "A usage 1 100", "A~suspended",
	"H suspend s1", "H<count 1", "H resume s1", "H:turn t1 SUSPENDED; H<count 1; !resumed",
	"H resume s1", "A~resumed; H<count 1", "A usage 2 200", "A~suspended",
	"H suspend all", "", "H resume s1 tokens=50", "A~resumed; H<count 1")

/* ---- reports after the end of their turn ---- */

SCENARIO(late_reports, "config tokens=100 session-tokens=150", "", READY, "A begin T1", "",
	"A usage 1 60", "", "A end T1", "A<turn t1 ENDED", "A usage 2 90 of=T1", "A<turn -",
	"A usage 2 140 of=T1", "A<turn -", "A usage 3 80 of=T1", "A<turn -", "A begin T2", "",
	"A usage 4 100 of=T1", "A<turn -", "A usage 1 49", "!suspended", "A usage 5 101 of=T1",
	"A~suspended t2; A<turn -", "tick 31000", "", "A usage 6 102 of=T1", "A!not_found",
	"A usage 7 9 of=T9", "A!not_found")

SCENARIO(late_reports_of_a_suspended_turn, "config tokens=100", "", READY, "A begin T1", "",
	"A usage 1 100", "A~suspended", "A begin T2", "A<turn t2 SUSPENDED",
	"A usage 2 130 of=T1", "A<turn -", "H resume s1 tokens=30", "H!state",
	"H resume s1 tokens=31", "H<count 1", "A usage 1 1", "A~suspended")
/* clang-format on */

/* ---- many turns ---- */

struct crowd {
	struct engine e;
	struct engine_config config;
	struct budget_rule rule;
	struct instant now;
	struct link **links;
	unsigned n;
	uint32_t seeds;
};

static const struct effects *crowd_step(struct crowd *c, struct command *command)
{
	static const uint8_t zero[10];
	const struct effects *out;

	command->seed = uuid_make(1000000 + 16 * ++c->seeds, zero);
	ck_assert_int_eq(engine_step(&c->e, c->now, command, &out), 0);
	return out;
}

/* Each turn begins a millisecond after the one before. */
static void crowd_init(struct crowd *c, unsigned n)
{
	memset(c, 0, sizeof(*c));
	budget_clear(&c->rule.session);
	c->rule.turn = (struct budget_amounts){{-1, -1, 3600000000, -1, -1}};
	c->rule.uid = -1;
	c->config = (struct engine_config){.max_sessions = n,
		.max_pending = n,
		.max_pending_bytes = n,
		.budgets = &c->rule,
		.n_budgets = 1};
	c->now = (struct instant){1000000, 1700000000000000};
	ck_assert_int_eq(engine_init(&c->e, &c->config), 0);
	c->links = calloc(n, sizeof(struct link *));
	ck_assert_ptr_nonnull(c->links);
	c->n = n;
	for (unsigned i = 0; i < n; i++) {
		struct process_id id = {1000 + i, 7};
		struct command hello = {.type = COMMAND_HELLO, .link = NULL};
		struct command begin = {.type = COMMAND_TURN_BEGIN};

		c->links[i] = engine_link_open(&c->e, 1000, NULL);
		ck_assert_ptr_nonnull(c->links[i]);
		hello.link = begin.link = c->links[i];
		hello.hello = (struct command_hello){.agent = bytes_of("a"),
			.subject = id,
			.chain = &id,
			.n_chain = 1,
			.claim = -1};
		crowd_step(c, &hello);
		engine_commit(&c->e);
		c->now.mono += 1000;
		c->now.wall += 1000;
		crowd_step(c, &begin);
		engine_commit(&c->e);
	}
}

static void crowd_fini(struct crowd *c)
{
	engine_clear(&c->e);
	for (unsigned i = 0; i < c->n; i++)
		engine_link_close(&c->e, c->links[i]);
	engine_fini(&c->e);
	free(c->links);
}

struct cost {
	size_t effects, touched;
	unsigned long allocations;
};

/* What the next thing that is due costs: entities, effects and allocations. */
static struct cost crowd_tick(struct crowd *c)
{
	struct command tick = {.type = COMMAND_TICK};
	int64_t due = engine_next_deadline(&c->e);
	struct cost cost = {0};

	ck_assert_int_gt(due, c->now.mono);
	c->now.wall += due - c->now.mono;
	c->now.mono = due;
	fail_alloc(0);
	cost.effects = crowd_step(c, &tick)->n;
	cost.allocations = fail_alloc(0);
	for (const struct undo *u = c->e.r.undo.first; u;
		u = *(struct undo *const *)(const void *)u)
		cost.touched++;
	engine_commit(&c->e);
	return cost;
}

/* One trip of ten thousand turns with timers costs what one of ten does. */
START_TEST(ten_thousand)
{
	static const unsigned sizes[] = {10, 10000};
	struct cost warned[2], tripped[2];

	for (int i = 0; i < 2; i++) {
		struct crowd c;

		crowd_init(&c, sizes[i]);
		ck_assert_uint_eq(c.e.r.dues.n, sizes[i]);
		warned[i] = crowd_tick(&c);
		for (unsigned n = 1; n < sizes[i]; n++)
			crowd_tick(&c);
		ck_assert_uint_eq(c.e.r.dues.n, sizes[i]);
		tripped[i] = crowd_tick(&c);
		ck_assert_uint_eq(c.e.r.dues.n, sizes[i] - 1);
		crowd_fini(&c);
	}
	ck_assert_mem_eq(&warned[0], &warned[1], sizeof(warned[0]));
	ck_assert_mem_eq(&tripped[0], &tripped[1], sizeof(tripped[0]));
	ck_assert_uint_le(tripped[1].touched, 2);
	ck_assert_uint_le(tripped[1].effects, 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core: ceilings");
	TCase *t = tcase_create("ceilings"), *many = tcase_create("many");
	SRunner *r;
	int failed;

	suite_add_tcase(s, t);
	suite_add_tcase(s, many);
	tcase_set_timeout(t, 120);
	tcase_set_timeout(many, 240);
	tcase_add_test(t, warned_and_suspended);
	tcase_add_test(t, raise_that_is_not_enough);
	tcase_add_test(t, one_report_that_crosses_cost);
	tcase_add_test(t, reports_that_do_no_harm);
	tcase_add_test(t, turn_end_that_crosses);
	tcase_add_test(t, nothing_allowed);
	tcase_add_test(t, calls);
	tcase_add_test(t, a_check_and_its_request_are_one_call);
	tcase_add_test(t, no_call_allowed);
	tcase_add_test(t, no_escape_by_a_new_turn);
	tcase_add_test(t, no_escape_by_turns);
	tcase_add_test(t, no_escape_by_a_new_session);
	tcase_add_test(t, a_session_that_used_nothing);
	tcase_add_test(t, no_escape_by_a_connection);
	tcase_add_test(t, children_count);
	tcase_add_test(t, a_child_whose_end_crosses);
	tcase_add_test(t, a_child_of_nobody);
	tcase_add_test(t, agents_only_lower);
	tcase_add_test(t, active_time);
	tcase_add_test(t, wall_time);
	tcase_add_test(t, time_in_all_turns);
	tcase_add_test(t, time_of_children);
	tcase_add_test(t, the_machine_slept);
	tcase_add_test(t, time_over_a_restart);
	tcase_add_test(t, waiting_over_a_restart);
	tcase_add_test(t, suspended_by_both);
	tcase_add_test(t, late_reports);
	tcase_add_test(t, late_reports_of_a_suspended_turn);
	tcase_add_test(many, ten_thousand);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
