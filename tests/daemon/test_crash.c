/* SPDX-License-Identifier: MIT */
/*
 * The broker dies before each of its operations on the store, at every one of a
 * scenario in turn, and at any moment under load, and is started again: nothing was
 * told that is not recorded, nothing pending is lost, no decision is made twice.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/crash_world.h"

#define LOADS 12

/* ---- what must hold after a restart ---- */

static void judge(struct world *w, unsigned at)
{
	for (unsigned i = 0; i < *w->n; i++) {
		const struct call *c = &w->calls[i];
		bool announced = c->offered || c->noted[0];
		unsigned ended = c->decisions + c->ends;

		ck_assert_msg(ended <= 1, "%u: %s ended %u times", at, c->name, ended);
		ck_assert_msg(
			!c->state[0] || !ended, "%u: %s has ended and is pending", at, c->name);
		/* an ask of `check` leaves nothing; what has ended otherwise is denied */
		if (c->verdict[0] && strcmp(c->verdict, "ask") != 0)
			ck_assert_msg(
				ended == 1 &&
					strcmp(c->verdict, c->ends ? "deny" : c->recorded) == 0,
				"%u: %s was told %s, recorded is '%s'", at, c->name, c->verdict,
				c->recorded);
		if (c->decided)
			ck_assert_msg(c->decisions == 1 && strcmp(c->said, c->recorded) == 0,
				"%u: %s: decided, %s, but recorded is '%s'", at, c->name,
				c->said, c->recorded);
		if (c->ended)
			ck_assert_msg(ended == 1, "%u: the end of %s was told but not recorded",
				at, c->name);
		if (c->resolved[0])
			ck_assert_msg(strcmp(c->resolved, c->recorded) == 0,
				"%u: %s: told to be %s, recorded is '%s'", at, c->name,
				c->resolved, c->recorded);
		if (c->outcome)
			ck_assert_msg(
				c->outcomes == 1, "%u: the outcome of %s is lost", at, c->name);
		if (announced && !ended)
			ck_assert_msg(c->state[0], "%u: %s is lost", at, c->name);
	}
}

/* What was suspended still is, and what was resumed is not. */
static void judge_held(struct world *w, unsigned at)
{
	if (!w->steered || !w->steer_sure)
		return;
	for (unsigned i = 0; i < *w->n; i++) {
		const struct call *c = &w->calls[i];

		if (c->state[0])
			ck_assert_msg((strcmp(c->state, "HELD") == 0) ==
					      (strcmp(w->steered, "suspend") == 0),
				"%u: %s is %s after %s", at, c->name, c->state, w->steered);
	}
}

/* The agent submits what was pending again: it waits on the same request, and is answered. */
static void answer_pending(struct world *w, unsigned at)
{
	for (unsigned i = 0; i < *w->n; i++) {
		struct call *c = &w->calls[i];

		if (!c->state[0])
			continue;
		agent_submit(w, "request", c);
		frontend_decide(w, c, i % 2 ? "allow" : "deny");
		ck_assert_msg(c->decided, "%u: %s can't be answered", at, c->name);
		agent_await(w, c);
		ck_assert_msg(strcmp(c->verdict, c->said) == 0, "%u: %s was told '%s' (%s)", at,
			c->name, c->verdict, c->error);
	}
}

/*
 * What was decided is answered as recorded, and nobody is asked; where the turn goes
 * on, that is. An allow may have been used up by its outcome.
 */
static void answer_decided(struct world *w, unsigned at)
{
	for (unsigned i = 0; i < *w->n; i++) {
		struct call *c = &w->calls[i];

		if (c->state[0] || c->decisions != 1 || c->turn != w->turns)
			continue;
		agent_submit(w, "request", c);
		agent_await(w, c);
		if (c->outcome_sent && strcmp(c->error, "gone") == 0)
			continue;
		ck_assert_msg(strcmp(c->verdict, c->recorded) == 0,
			"%u: %s is recorded as '%s' but told '%s' (%s)", at, c->name,
			c->recorded, c->verdict, c->error);
	}
}

static unsigned denials(struct world *w, const char *name)
{
	struct call *c = call_get(w, name);

	return c->turn == w->turns && c->decisions && strcmp(c->recorded, "deny") == 0;
}

/* What was denied in the turn is not forgotten: a repeat is denied, and nobody is asked. */
static void answer_repeat(struct world *w)
{
	struct call *c;

	if (denials(w, "denied") + denials(w, "denied-twice") < 2)
		return;
	c = call_get(w, "denied-later");
	agent_submit(w, "request", c);
	agent_await(w, c);
	ck_assert_str_eq(c->verdict, "deny");
}

/* Whoever decides what has ended is told so, as it is recorded, and changes nothing. */
static void answer_late(struct world *w, unsigned at)
{
	for (unsigned i = 0; i < *w->n; i++) {
		struct call *c = &w->calls[i];
		char state[TEXT_MAX];
		bool denied;

		if (c->decisions + c->ends != 1 || !(c->request[0] || c->noted[0]))
			continue;
		frontend_late(w, c, state);
		denied = c->ends || strcmp(c->recorded, "deny") == 0;
		/* UNKNOWN is one that was allowed, and whose outcome never came */
		ck_assert_msg(denied == (strcmp(state, "ALLOWED") != 0 &&
						strcmp(state, "SUCCEEDED") != 0 &&
						strcmp(state, "UNKNOWN") != 0),
			"%u: %s is recorded as '%s%s' but told to be %s", at, c->name,
			c->recorded, c->ends ? " ended" : "", state);
	}
}

static void come_back(struct world *w, unsigned at, unsigned links)
{
	for (unsigned i = 0; i < links; i++)
		agent_connect(w, i);
	if (w->session[0])
		frontend_steer(w, "resume");
	answer_pending(w, at);
	answer_late(w, at);
	answer_decided(w, at);
	answer_repeat(w);
	/* and all of that is recorded */
	frontend_read(w);
	judge(w, at);
}

/* ---- every operation ---- */

static struct call *ask(struct world *w, unsigned link, const char *name)
{
	struct call *c = call_get(w, name);

	c->link = link;
	agent_submit(w, "request", c);
	frontend_await(w, "offered", c);
	return c;
}

static void ask_decided(struct world *w, unsigned link, const char *name, const char *verdict)
{
	struct call *c = ask(w, link, name);

	frontend_decide(w, c, verdict);
	agent_await(w, c);
}

static void check(struct world *w, const char *name, const char *verdict)
{
	struct call *c = call_get(w, name);

	agent_submit(w, "check", c);
	agent_await(w, c);
	if (!w->dead)
		ck_assert_str_eq(c->verdict, verdict);
}

static void scenario(struct world *w)
{
	struct call *c, *refused;

	frontend_start(w, true);
	agent_connect(w, 0);
	agent_connect(w, 1);
	agent_call(w, 0, "turn_begin", "t1");
	ask_decided(w, 0, "allowed", "allow");
	agent_call(w, 0, "outcome", "allowed");
	ask_decided(w, 0, "denied", "deny");
	ask_decided(w, 0, "denied-twice", "deny");
	/* the same once more: denied as a repeat, by `check`, which records that */
	check(w, "denied-again", "deny");
	check(w, "checked", "ask");
	c = ask(w, 0, "cancelled");
	agent_call(w, 0, "cancel", "cancelled");
	frontend_await(w, "withdrawn", c);
	c = ask(w, 0, "elsewhere");
	agent_call(w, 0, "settled", "elsewhere");
	frontend_await(w, "withdrawn", c);
	/* two sessions, one below the other; both are held */
	c = ask(w, 0, "held");
	ask(w, 1, "below");
	refused = ask(w, 0, "refused");
	frontend_steer(w, "suspend");
	/* a deny is accepted; so the broker dies while the turn is suspended, too */
	frontend_decide(w, refused, "deny");
	agent_await(w, refused);
	frontend_steer(w, "resume");
	frontend_decide(w, c, "allow");
	agent_await(w, c);
	c = ask(w, 0, "cut");
	agent_call(w, 0, "turn_end", "t1");
	frontend_await(w, "withdrawn", c);
	agent_call(w, 0, "turn_begin", "t2");
	ask(w, 0, "moved");
	agent_call(w, 0, "turn_begin", "t3");
	ask_decided(w, 0, "kept", "allow");
	ask_decided(w, 0, "last", "deny");
	agent_call(w, 1, "bye", "");
	ask(w, 0, "left");
	agent_call(w, 0, "bye", "");
}

static void world_start(struct world *w)
{
	memset(w, 0, sizeof(*w));
	broker_init(&w->b);
	agent_start(w);
}

static void world_end(struct world *w)
{
	raw_close(&w->f);
	agent_end(w);
	broker_stop(&w->b);
	broker_fini(&w->b);
}

/* Calls whose decision is recorded, though neither side was told of it. */
static unsigned untold(const struct world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < *w->n; i++) {
		const struct call *c = &w->calls[i];

		n += c->decisions && !c->verdict[0] && !c->resolved[0] && !c->decided;
	}
	return n;
}

/* True when the scenario came to its end before the broker was to die. */
static bool run_to(const char *when, unsigned at, unsigned *n_untold)
{
	static const char *const no_env[] = {"APPROVALD_TEST_EXIT_AT=0", NULL};
	char variable[64];
	const char *env[] = {variable, NULL};
	bool whole = false;
	struct world w;
	int status;

	world_start(&w);
	snprintf(variable, sizeof(variable), "%s=%u", when, at);
	w.b.env = env;
	status = broker_try(&w.b, NULL);
	if (status == -1) {
		scenario(&w);
		whole = !w.dead;
		if (whole)
			broker_kill(&w.b);
		else
			status = broker_wait(&w.b);
		agent_drain(&w);
		frontend_drain(&w);
		raw_close(&w.f);
	}
	if (!whole)
		ck_assert_msg(status == 99, "%u: the broker ended with %d", at, status);
	w.b.env = no_env;
	/* two restarts in a row are as good as one */
	broker_start(&w.b, NULL);
	broker_kill(&w.b);
	broker_start(&w.b, NULL);
	w.dead = false;
	frontend_start(&w, false);
	frontend_read(&w);
	judge(&w, at);
	judge_held(&w, at);
	*n_untold += untold(&w);
	come_back(&w, at, LINKS);
	world_end(&w);
	return whole;
}

START_TEST(every_operation)
{
	unsigned at = 1, n = 0;

	while (!run_to("APPROVALD_TEST_EXIT_AT", at, &n))
		at++;
	printf("killed before each of %u operations on the store\n", at - 1);
	ck_assert_uint_gt(at, 80);
}
END_TEST

/* What is recorded but was told to nobody is what everybody is told afterwards. */
START_TEST(every_commit)
{
	unsigned at = 1, n = 0;

	while (!run_to("APPROVALD_TEST_EXIT_COMMITTED", at, &n))
		at++;
	printf("killed after each of %u commits, before anything was sent: %u decisions were "
	       "told to nobody before\n",
		at - 1, n);
	ck_assert_uint_gt(at, 20);
	/* those of five requests, at least */
	ck_assert_uint_ge(n, 5);
}
END_TEST

/* ---- any moment ---- */

/* Kills the broker after a while; the moment is not to depend on anything that it does. */
static pid_t killer_start(const struct broker *b, unsigned us)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* the moment is the point here, not something to wait for */
		usleep(us);
		_exit(syscall(SYS_pidfd_send_signal, b->pidfd, SIGKILL, NULL, 0) != 0);
	}
	return pid;
}

static void load_run(struct world *w, unsigned us)
{
	pid_t killer;
	int status;

	broker_start(&w->b, NULL);
	w->dead = false;
	frontend_start(w, true);
	agent_connect(w, 0);
	killer = killer_start(&w->b, us);
	agent_load(w);
	frontend_drain(w);
	agent_load_await(w);
	ck_assert_int_eq(broker_wait(&w->b), -SIGKILL);
	ck_assert_int_eq(waitpid(killer, &status, 0), killer);
	ck_assert_int_eq(status, 0);
	raw_close(&w->f);
}

/* Killed twice in a row, the second time while it takes up again what was pending. */
START_TEST(any_moment)
{
	unsigned pending = 0, untold = 0;
	struct world w;

	srandom((unsigned)_i + 1);
	world_start(&w);
	w.loaded = true;
	load_run(&w, (unsigned)random() % 60000);
	load_run(&w, (unsigned)random() % 30000);
	w.loaded = false;
	broker_start(&w.b, NULL);
	w.dead = false;
	frontend_start(&w, false);
	frontend_read(&w);
	judge(&w, (unsigned)_i);
	for (unsigned i = 0; i < *w.n; i++) {
		pending += w.calls[i].state[0] != 0;
		untold += w.calls[i].decisions && !w.calls[i].verdict[0];
	}
	printf("%u calls; at the end %u were pending, %u decided but not told\n", *w.n, pending,
		untold);
	come_back(&w, (unsigned)_i, 1);
	world_end(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("the broker dies");
	TCase *t = tcase_create("at every operation");
	SRunner *sr;
	int failed;

	signal(SIGPIPE, SIG_IGN);
	tcase_set_timeout(t, 600);
	tcase_add_test(t, every_operation);
	tcase_add_test(t, every_commit);
	suite_add_tcase(s, t);
	t = tcase_create("at any moment");
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, any_moment, 0, LOADS);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
