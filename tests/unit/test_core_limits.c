/* SPDX-License-Identifier: MIT */
/* What is bounded in the engine, one beyond the bound. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/pipeline.h"
#include "tests/model/world.h"

static struct engine e;
static uint64_t seeds;

static const struct effects *step(struct command *c)
{
	static const uint8_t zero[10];
	const struct effects *out;

	c->seed = uuid_make(1000000 + 16 * ++seeds, zero);
	ck_assert_int_eq(engine_step(&e, (struct instant){1000, 1000}, c, &out), 0);
	return out;
}

static void setup(void)
{
	struct engine_config config = {.policy_time = 2000000,
		.grace = 30000000,
		.default_mode = MODE_NORMAL,
		.repeat_limit = 1,
		.max_sessions = 1000,
		.max_pending = 100000,
		.max_pending_bytes = 1 << 30};

	ck_assert_int_eq(engine_init(&e, &config), 0);
}

static void teardown(void)
{
	engine_fini(&e);
}

static struct link *hello_as(
	uint32_t uid, unsigned pid, unsigned n_chain, struct effect *answer)
{
	struct process_id chain[32];
	struct link *l = engine_link_open(&e, uid, NULL);
	struct command c = {.type = COMMAND_HELLO, .link = l};
	const struct effects *out;

	for (unsigned i = 0; i < n_chain; i++)
		chain[i] = (struct process_id){pid - i, 1};
	c.hello.agent = bytes_of("agent");
	c.hello.subject = chain[0];
	c.hello.chain = chain;
	c.hello.n_chain = n_chain;
	c.hello.claim = -1;
	out = step(&c);
	for (size_t i = 0; answer && i < out->n; i++)
		if (out->items[i].type == EFFECT_REPLY || out->items[i].type == EFFECT_ERROR)
			*answer = out->items[i];
	engine_commit(&e);
	return l;
}

static struct link *hello(unsigned pid, unsigned n_chain, struct effect *answer)
{
	return hello_as(1000, pid, n_chain, answer);
}

static void leave(struct link *l)
{
	struct command c = {.type = COMMAND_LINK_GONE, .link = l};

	step(&c);
	engine_commit(&e);
	engine_link_close(&e, l);
}

/* The answer to a call; harmless ones are allowed at once. */
static struct effect request(struct link *l, const char *call, bool check, uint8_t flags)
{
	struct command c = {.type = COMMAND_REQUEST, .link = l};
	const struct effects *out;
	struct effect last;

	c.request.call = call ? bytes_of(call) : (struct bytes){NULL, 0};
	c.request.tool = bytes_of("Tool");
	c.request.input = bytes_of(call ? call : "x");
	c.request.facts.flags = flags;
	script_hash(c.request.input, c.request.facts.input_hash, 16);
	script_hash(c.request.input, c.request.facts.signature, 16);
	c.request.check = check;
	out = step(&c);
	memset(&last, 0, sizeof(last));
	for (size_t i = 0; i < out->n; i++)
		if (out->items[i].type == EFFECT_VERDICT ||
			out->items[i].type == EFFECT_REPLY ||
			out->items[i].type == EFFECT_ERROR)
			last = out->items[i];
	return last;
}

START_TEST(chain)
{
	struct link *links[LIMIT_CHAIN + 1];
	struct effect answer;

	for (unsigned i = 0; i <= LIMIT_CHAIN; i++) {
		links[i] = hello(100 + i, i + 1, &answer);
		if (i < LIMIT_CHAIN)
			ck_assert_int_eq(answer.type, EFFECT_REPLY);
	}
	ck_assert_int_eq(answer.type, EFFECT_ERROR);
	ck_assert_int_eq(answer.error.code, ENGINE_LIMIT);
	ck_assert_str_eq(answer.error.value, "chain");
	for (unsigned i = 0; i <= LIMIT_CHAIN; i++)
		leave(links[i]);
}
END_TEST

/* A URL is charged while its call waits, and goes with the decision. */
START_TEST(url_is_charged)
{
	struct link *l = hello(100, 1, NULL);
	struct command c = {.type = COMMAND_REQUEST, .link = l};
	struct command cancel = {.type = COMMAND_CANCEL, .link = l};
	const struct request *q;
	const struct owner *o;

	c.request.call = bytes_of("c");
	c.request.tool = bytes_of("WebFetch");
	c.request.input = bytes_of("x");
	c.request.facts.url = bytes_of("https://example.org/");
	step(&c);
	engine_commit(&e);
	q = request_find_call(l->s.session, bytes_of("c"));
	ck_assert_ptr_nonnull(q);
	o = l->s.session->owner;
	ck_assert_uint_eq(o->pending_bytes, 1 + c.request.facts.url.len);
	cancel.about.call = bytes_of("c");
	step(&cancel);
	engine_commit(&e);
	ck_assert_uint_eq(o->pending_bytes, 0);
	q = request_find_call(l->s.session, bytes_of("c"));
	ck_assert_ptr_nonnull(q);
	ck_assert_ptr_null(q->s.r.url);
	leave(l);
}
END_TEST

START_TEST(calls_of_a_turn)
{
	struct link *l = hello(100, 1, NULL);
	const struct turn *t;
	char call[32];

	for (unsigned i = 0; i < LIMIT_TURN_CALLS + 300; i++) {
		snprintf(call, sizeof(call), "c%u", i);
		ck_assert_int_eq(request(l, call, false, FACT_HARMLESS).type, EFFECT_VERDICT);
		if (i % 100 == 0)
			engine_rollback(&e);
		else
			engine_commit(&e);
	}
	t = l->s.session->s.turn;
	ck_assert_uint_eq(t->n_settled, LIMIT_TURN_CALLS);
	ck_assert_uint_eq(e.r.n_requests, LIMIT_TURN_CALLS);
	ck_assert_ptr_null(request_find_call(l->s.session, bytes_of("c1")));
	ck_assert_ptr_nonnull(request_find_call(l->s.session, bytes_of(call)));
	leave(l);
}
END_TEST

/* What is pending is not forgotten for what is decided. */
START_TEST(pending_among_many)
{
	struct link *l = hello(100, 1, NULL);
	char call[32];

	ck_assert_int_eq(request(l, "first", false, 0).type, 0);
	engine_commit(&e);
	for (unsigned i = 0; i < LIMIT_TURN_CALLS + 10; i++) {
		snprintf(call, sizeof(call), "c%u", i);
		request(l, call, false, FACT_HARMLESS);
		engine_commit(&e);
	}
	ck_assert_ptr_nonnull(request_find_call(l->s.session, bytes_of("first")));
	ck_assert_uint_eq(e.r.n_requests, LIMIT_TURN_CALLS + 1);
	leave(l);
}
END_TEST

START_TEST(recent_checks)
{
	struct link *l = hello(100, 1, NULL);
	char call[300];
	struct command c = {.type = COMMAND_OUTCOME, .link = l};

	for (unsigned i = 0; i < LIMIT_RECENT_CHECKS + 2; i++) {
		/* as long as names may be */
		snprintf(call, sizeof(call), "%0*u", (int)LIMIT_NAME, i);
		ck_assert_int_eq(request(l, call, true, 0).reply.kind, REPLY_ASK);
		engine_commit(&e);
	}
	c.about.outcome = REQUEST_SUCCEEDED;
	for (unsigned i = 0; i < LIMIT_RECENT_CHECKS + 2; i++) {
		const struct effects *out;

		snprintf(call, sizeof(call), "%0*u", (int)LIMIT_NAME, i);
		c.about.call = bytes_of(call);
		out = step(&c);
		ck_assert_int_eq(out->items[out->n - 1].reply.state,
			i < 2 ? REQUEST_SUCCEEDED : REQUEST_ELSEWHERE);
		engine_commit(&e);
	}
	leave(l);
}
END_TEST

START_TEST(late_outcomes)
{
	struct link *l = hello(100, 1, NULL);
	struct command end = {.type = COMMAND_TURN_END, .link = l};
	struct command c = {.type = COMMAND_OUTCOME, .link = l};
	const struct effects *out;
	char call[32];

	for (unsigned i = 0; i < 300; i++) {
		snprintf(call, sizeof(call), "c%u", i);
		request(l, call, false, FACT_HARMLESS);
		engine_commit(&e);
		if (i % 150 == 149) {
			step(&end);
			engine_commit(&e);
		}
	}
	c.about.outcome = REQUEST_FAILED;
	for (unsigned i = 0; i < 300; i++) {
		snprintf(call, sizeof(call), "c%u", i);
		c.about.call = bytes_of(call);
		out = step(&c);
		ck_assert_int_eq(out->items[out->n - 1].reply.state,
			i < 300 - 64 ? REQUEST_FAILED : REQUEST_UNKNOWN);
		engine_commit(&e);
	}
	leave(l);
}
END_TEST

/* ---- quotas ---- */

static struct link *hello_again(void)
{
	const struct process_id self = {100, 1};
	struct link *l = engine_link_open(&e, 1000, NULL);
	struct command c = {.type = COMMAND_HELLO, .link = l};

	c.hello.agent = bytes_of("agent");
	c.hello.key = bytes_of("s");
	c.hello.subject = self;
	c.hello.chain = &self;
	c.hello.n_chain = 1;
	c.hello.claim = -1;
	step(&c);
	engine_commit(&e);
	return l;
}

static bool over_quota(const struct effects *out)
{
	for (size_t i = 0; i < out->n; i++)
		if (out->items[i].type == EFFECT_ERROR &&
			out->items[i].error.code == ENGINE_LIMIT)
			return true;
	return false;
}

/* Decisions that nobody claims, in as many turns as the agent likes. */
START_TEST(kept_decisions)
{
	struct command tick = {.type = COMMAND_TICK};
	const struct effects *out;
	struct link *l = NULL;
	bool refused = false;
	unsigned n;
	char call[32];

	e.config.max_pending = 20;
	for (n = 0; n < 100 && !refused; n++) {
		struct command c = {.type = COMMAND_REQUEST};

		l = hello_again();
		snprintf(call, sizeof(call), "c%u", n);
		c.link = l;
		c.request.call = c.request.tool = c.request.input = bytes_of(call);
		c.request.on_disconnect = DISCONNECT_KEEP;
		c.request.timeout_ms = 1;
		script_hash(c.request.input, c.request.facts.input_hash, 16);
		refused = over_quota(step(&c));
		c = (struct command){.type = COMMAND_TURN_BEGIN, .link = l};
		step(&c);
		leave(l);
		ck_assert_int_eq(
			engine_step(&e, (struct instant){1000000, 1000000}, &tick, &out), 0);
		engine_commit(&e);
	}
	ck_assert_uint_eq(n, 21);
	ck_assert_uint_eq(e.r.n_pending, 0);
	ck_assert_uint_eq(e.r.n_requests, 20);
}
END_TEST

/* All that is kept of a request counts, not only its input. */
START_TEST(pending_bytes)
{
	static const char large[2000];
	struct link *l = hello(100, 1, NULL);
	struct command c = {.type = COMMAND_REQUEST, .link = l};
	struct str *path = str_new(large, sizeof(large));
	struct request_path paths = {.resolved = path};

	e.config.max_pending_bytes = 1000;
	c.request.call = c.request.tool = c.request.input = bytes_of("x");
	c.request.extra = (struct bytes){large, sizeof(large)};
	ck_assert(over_quota(step(&c)));
	c.request.extra = (struct bytes){NULL, 0};
	c.request.description = (struct bytes){large, sizeof(large)};
	ck_assert(over_quota(step(&c)));
	c.request.description = (struct bytes){NULL, 0};
	c.request.facts.paths = &paths;
	c.request.facts.n_paths = 1;
	ck_assert(over_quota(step(&c)));
	c.request.facts.n_paths = 0;
	ck_assert(!over_quota(step(&c)));
	engine_commit(&e);
	str_unref(path);
	leave(l);
}
END_TEST

static struct frontend *policy_open(uint32_t uid, const char *name, bool headless)
{
	struct frontend *f = engine_frontend_open(&e, uid, uid == 0, NULL);
	struct command c = {.type = COMMAND_FRONTEND_HELLO, .frontend = f};

	c.greet.role = ROLE_POLICY;
	c.greet.answers = 15;
	c.greet.name = bytes_of(name);
	c.greet.headless = headless;
	step(&c);
	c = (struct command){.type = COMMAND_SUBSCRIBE, .frontend = f};
	step(&c);
	return f;
}

static void policy_end(struct frontend *f, enum command_type how)
{
	struct command c = {.type = how, .frontend = f};

	step(&c);
	engine_commit(&e);
	engine_frontend_close(&e, f);
}

static void policies_leave(uint32_t uid, unsigned n)
{
	char name[16];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		policy_end(policy_open(uid, name, false), COMMAND_FRONTEND_GONE);
	}
}

static const struct request *ask(struct link *l, const char *call)
{
	struct command c = {.type = COMMAND_REQUEST, .link = l};

	c.request.call = c.request.tool = c.request.input = bytes_of(call);
	step(&c);
	return request_find_call(l->s.session, bytes_of(call));
}

/* Does the allow of a policy count for a request of the link? */
static bool policy_counts(struct link *l, struct frontend *policy, const char *call)
{
	const struct request *q = ask(l, call);
	struct command_decision d = {
		.request = q->s.r.id, .has_digest = true, .verdict = VERDICT_ALLOW};
	struct command c = {.type = COMMAND_VERDICT, .frontend = policy};

	c.decide.items = &d;
	c.decide.n = 1;
	step(&c);
	engine_commit(&e);
	q = request_find_call(l->s.session, bytes_of(call));
	return q->s.r.state == REQUEST_ALLOWED;
}

/* What one uid's policies leave behind is bounded, and does not touch the other's. */
START_TEST(lost_policies)
{
	struct link *one = hello_as(1000, 100, 1, NULL), *two = hello_as(1001, 200, 2, NULL);
	struct frontend *root, *f;
	struct command c = {.type = COMMAND_CONFIGURED};
	char name[16];

	root = policy_open(0, "root", false);
	policies_leave(1000, LIMIT_LOST_OF_UID);
	ck_assert(!policy_counts(one, root, "c1"));
	ck_assert(policy_counts(two, root, "c1"));
	/* each that comes back counts again */
	for (unsigned i = 0; i < LIMIT_LOST_OF_UID; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		policy_end(policy_open(1000, name, false), COMMAND_FRONTEND_BYE);
	}
	ck_assert_uint_eq(e.marks.n_lost, 0);
	ck_assert(policy_counts(one, root, "c2"));
	/* of more than are remembered, none that comes back is enough */
	policies_leave(1000, LIMIT_LOST_POLICIES + 1);
	ck_assert_uint_eq(e.marks.n_lost, LIMIT_LOST_OF_UID + 1);
	for (unsigned i = 0; i < LIMIT_LOST_POLICIES + 1; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		policy_end(policy_open(1000, name, false), COMMAND_FRONTEND_BYE);
	}
	ck_assert(!policy_counts(one, root, "c3"));
	ck_assert(policy_counts(two, root, "c3"));
	/* but whoever configures the broker can forget them; what is undone is not done */
	step(&c);
	engine_rollback(&e);
	ck_assert(!policy_counts(one, root, "c4"));
	step(&c);
	engine_commit(&e);
	ck_assert(policy_counts(one, root, "c5"));
	/* more uids than the list holds: nobody is sure */
	for (uint32_t uid = 2000; !e.marks.lost_more; uid++) {
		ck_assert_uint_lt(uid, 2000 + LIMIT_LOST_POLICIES);
		policies_leave(uid, LIMIT_LOST_OF_UID + 1);
	}
	ck_assert_uint_eq(e.marks.n_lost, LIMIT_LOST_POLICIES);
	ck_assert(!policy_counts(one, root, "c6"));
	step(&c);
	engine_commit(&e);
	f = policy_open(1000, "p0", false);
	ck_assert(policy_counts(two, root, "c6"));
	policy_end(f, COMMAND_FRONTEND_BYE);
	policy_end(root, COMMAND_FRONTEND_BYE);
	leave(one);
	leave(two);
}
END_TEST

/* A policy says for its own uid that nobody will answer, and root's for all. */
START_TEST(headless)
{
	struct link *one = hello_as(1000, 100, 1, NULL), *two = hello_as(1001, 200, 2, NULL);
	struct frontend *f;

	policy_end(policy_open(1000, "p", true), COMMAND_FRONTEND_BYE);
	ck_assert_int_eq(ask(one, "c1")->s.r.state, REQUEST_DENIED);
	ck_assert_int_eq(ask(two, "c1")->s.r.state, REQUEST_AWAITING);
	/* so many can say so, and the next one is refused, and says nothing */
	for (uint32_t uid = 2000; uid < 2000 + LIMIT_HEADLESS_UIDS - 1; uid++)
		policy_end(policy_open(uid, "p", true), COMMAND_FRONTEND_BYE);
	f = policy_open(1001, "p", true);
	ck_assert(!f->s.greeted);
	policy_end(f, COMMAND_FRONTEND_GONE);
	ck_assert_int_eq(ask(two, "c2")->s.r.state, REQUEST_AWAITING);
	policy_end(policy_open(0, "p", true), COMMAND_FRONTEND_BYE);
	ck_assert_int_eq(ask(two, "c3")->s.r.state, REQUEST_DENIED);
	engine_commit(&e);
	leave(one);
	leave(two);
}
END_TEST

START_TEST(denials)
{
	struct str *list = NULL;
	uint8_t signature[16] = {0};

	for (unsigned i = 0; i < DENIALS_MAX + 10; i++) {
		struct str *next;

		signature[0] = (uint8_t)i;
		signature[1] = (uint8_t)(i >> 8);
		next = denials_add(list, signature);
		str_unref(list);
		list = next;
		next = denials_add(list, signature);
		str_unref(list);
		list = next;
		ck_assert_uint_eq(denials_count(list, signature), 2);
	}
	signature[0] = signature[1] = 0;
	ck_assert_uint_eq(denials_count(list, signature), 0);
	signature[0] = 10;
	ck_assert_uint_eq(denials_count(list, signature), 2);
	str_unref(list);
}
END_TEST

START_TEST(frontends)
{
	struct frontend *f[LIMIT_FRONTENDS];

	for (unsigned i = 0; i < LIMIT_FRONTENDS; i++)
		ck_assert_ptr_nonnull(f[i] = engine_frontend_open(&e, 1000, false, NULL));
	ck_assert_ptr_null(engine_frontend_open(&e, 1000, false, NULL));
	for (unsigned i = 0; i < LIMIT_FRONTENDS; i++)
		engine_frontend_close(&e, f[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core: limits");
	TCase *t = tcase_create("limits");
	SRunner *r;
	int failed;

	suite_add_tcase(s, t);
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, chain);
	tcase_add_test(t, url_is_charged);
	tcase_add_test(t, calls_of_a_turn);
	tcase_add_test(t, pending_among_many);
	tcase_add_test(t, recent_checks);
	tcase_add_test(t, late_outcomes);
	tcase_add_test(t, kept_decisions);
	tcase_add_test(t, pending_bytes);
	tcase_add_test(t, lost_policies);
	tcase_add_test(t, headless);
	tcase_add_test(t, denials);
	tcase_add_test(t, frontends);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
