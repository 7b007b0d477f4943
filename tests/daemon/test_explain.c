/* SPDX-License-Identifier: MIT */
/* explain with the real broker: the same as a request would get, and nothing comes of it. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/common/exit.h"
#include "tests/ctl/run.h"
#include "tests/daemon/agent_process.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

static struct broker b;
static struct raw person;
static struct run watch;
static char project[96];

static void setup(void)
{
	char text[256];
	FILE *f;

	broker_init(&b);
	snprintf(project, sizeof(project), "%s/project", b.dir);
	ck_assert_int_eq(mkdir(project, 0700), 0);
	snprintf(text, sizeof(text), "%s/.git", project);
	ck_assert_int_eq(mkdir(text, 0700), 0);
	snprintf(text, sizeof(text), "%s/rules", b.dir);
	f = fopen(text, "w");
	ck_assert_ptr_nonnull(f);
	fputs("# a comment\nallow Bash(frob *)\nallow Bash(twist *)\nask Bash(frob ask)\n"
	      "deny Bash(frob never)\n",
		f);
	ck_assert_int_eq(fchmod(fileno(f), 0600), 0);
	fclose(f);
	snprintf(text, sizeof(text), "[rules]\nuser-file = %s/rules\n", b.dir);
	broker_configure(&b, text);
}

static void begin(void)
{
	broker_start(&b, NULL);
	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	setenv("APPROVAL_SOCKET", b.agent, 1);
	ck_assert_int_eq(chdir(project), 0);
	raw_connect(&person, b.frontend);
	ck_assert(!raw_hello_frontend(&person, "human").error.data);
	wire_pack_map(raw_call(&person, "subscribe"), 0);
	raw_reply(&person, raw_send(&person));
	watch_start(&watch);
}

static void end(void)
{
	raw_close(&person);
	run_free(&watch);
	broker_stop(&b);
}

static void teardown(void)
{
	broker_fini(&b);
}

/* ---- what approvalctl says ---- */

static struct json_object *said;

/* Words of approvalctl explain --json; *said is its answer, until the next. */
static void explained(int status, const char *const *words)
{
	const char *all[RUN_ARGS] = {"explain", "--json"};
	struct run r;
	int n = 2;

	while (*words && n < RUN_ARGS - 1)
		all[n++] = *words++;
	ck_assert_msg(run_whole(&r, all) == status, "%s %s: status %d instead of %d: %s%s",
		all[2], all[n - 1], r.status, status, r.text, r.error);
	json_object_put(said);
	said = json_tokener_parse(r.text);
	ck_assert_msg(said, "no JSON: %s", r.text);
	ck_assert_str_eq(strchr(r.text, '\n'), "\n");
	run_free(&r);
}

#define EXPLAINED(status, ...) explained(status, (const char *const[]){__VA_ARGS__, NULL})

static void is(const char *key, const char *want)
{
	ck_assert_msg(strcmp(json_text(said, key), want) == 0, "%s: %s instead of %s", key,
		json_text(said, key), want);
}

/* The answer of a step; "" where it was not come to. */
static const char *step_said(const char *step)
{
	struct json_object *path = NULL;

	ck_assert(json_object_object_get_ex(said, "path", &path));
	for (size_t i = 0; i < json_object_array_length(path); i++) {
		struct json_object *s = json_object_array_get_idx(path, i);

		if (strcmp(json_text(s, "step"), step) == 0)
			return json_text(s, "answer");
	}
	return "";
}

static struct json_object *rule_said(size_t i)
{
	struct json_object *rules = NULL;

	ck_assert(json_object_object_get_ex(said, "rules", &rules));
	return json_object_array_get_idx(rules, i);
}

START_TEST(steps)
{
	char where[128];

	begin();
	EXPLAINED(STATUS_OK, "frob x");
	is("verdict", "allow");
	is("source", "rule");
	is("step", "allow-rules");
	is("rule", "allow Bash(frob *)");
	is("workspace", project);
	is("cwd", project);
	is("mode", "normal");
	snprintf(where, sizeof(where), "%s/rules", b.dir);
	ck_assert_str_eq(json_text(rule_said(0), "file"), where);
	ck_assert_str_eq(json_text(rule_said(0), "line"), "2");
	ck_assert_str_eq(json_text(rule_said(0), "scope"), "user");
	ck_assert_ptr_null(rule_said(1));
	/* several rules allow together */
	EXPLAINED(STATUS_OK, "frob x | twist y");
	ck_assert_str_eq(json_text(rule_said(1), "rule"), "allow Bash(twist *)");
	EXPLAINED(STATUS_DENIED, "frob", "never");
	is("source", "rule");
	ck_assert_str_eq(step_said("deny-rules"), "deny");
	ck_assert_str_eq(step_said("repeat"), "");
	ck_assert(strstr(json_text(said, "message"), "Do not"));
	EXPLAINED(STATUS_ASK, "frob ask");
	is("step", "ask-rules");
	ck_assert_str_eq(step_said("human"), "asked");
	EXPLAINED(STATUS_ASK, "--mode", "yolo", "frob", "~/.ssh/id_ed25519");
	is("source", "floor");
	is("floor", "ssh");
	ck_assert_str_eq(step_said("allow-rules"), "");
	EXPLAINED(STATUS_ASK, "other");
	is("step", "human");
	is("source", "");
	ck_assert_str_eq(step_said("policy"), "pass");
	EXPLAINED(STATUS_DENIED, "--mode", "plan", "other");
	EXPLAINED(STATUS_OK, "--mode", "yolo", "other");
	if (!broker_valgrind())
		EXPLAINED(STATUS_OK, "--mode", "auto-edit", "--tool", "Write", "--input",
			"{\"file_path\":\"new.c\",\"content\":\"\"}");
	/* a workspace of its own, though the file may well be there */
	EXPLAINED(STATUS_ASK, "--mode", "auto-edit", "--workspace", "/", "--cwd", b.dir,
		"--tool", "Write", "--input", "{\"file_path\":\"/new.c\",\"content\":\"\"}",
		"--kind", "execute");
	is("kind", "execute");
	end();
}
END_TEST

START_TEST(paths)
{
	struct json_object *list = NULL;
	char link[128];

	begin();
	snprintf(link, sizeof(link), "%s/link", project);
	ck_assert_int_eq(symlink("/etc/passwd", link), 0);
	EXPLAINED(STATUS_ASK, "--tool", "Read", "--input", "{\"file_path\":\"link\"}");
	ck_assert(json_object_object_get_ex(said, "paths", &list));
	ck_assert_str_eq(
		json_text(json_object_array_get_idx(list, 0), "resolved"), "/etc/passwd");
	/* the workspace by another name is the same */
	snprintf(link, sizeof(link), "%s/alias", b.dir);
	ck_assert_int_eq(symlink(project, link), 0);
	EXPLAINED(STATUS_OK, "--workspace", link, "--cwd", link, "--tool", "Read", "--input",
		"{\"file_path\":\"other\"}");
	is("workspace", project);
	EXPLAINED(STATUS_OK, "--workspace", project, "--cwd", project, "--tool", "Read",
		"--input", "{\"file_path\":\"other\"}");
	end();
}
END_TEST

/* ---- sessions ---- */

static void call_make(struct raw *r, const char *call)
{
	struct wire_open m, i;

	wire_map_open(&m, raw_call(r, "request"));
	wire_map_strz(&m, "tool_call_id", call);
	wire_map_strz(&m, "tool", "Bash");
	wire_map_key(&m, "input");
	wire_map_open(&i, m.b);
	wire_map_strz(&i, "command", "same");
	wire_close(&i);
	wire_close(&m);
	raw_reply(r, raw_send(r));
}

/* Three times the same call, then others, each when it is told to. */
static void calls(struct agent *a)
{
	agent_hello(a);
	for (int i = 0; i < 3; i++) {
		char call[16];

		snprintf(call, sizeof(call), "c%d", i);
		step_tell(a->to);
		step_await(a->from);
		call_make(&a->link, call);
	}
	step_tell(a->to);
	step_await(a->from);
}

static void denied_by_person(struct agent *a)
{
	agent_offered(a, &watch);
	TAKEN("deny", a->request);
}

static size_t lines_of(const char *const *words)
{
	struct run r;
	size_t n = 0;

	ck_assert_int_eq(run_whole(&r, words), 0);
	for (const char *s = r.text; (s = strchr(s, '\n')); s++)
		n++;
	run_free(&r);
	return n;
}

static void nothing_comes_of_it(struct agent *a)
{
	static const char *const history[] = {"history", "-n", "0", "--json", NULL};
	static const char *const list[] = {"list", "--all", "--json", NULL};
	const size_t rows = lines_of(history), items = lines_of(list);

	for (int i = 0; i < 20; i++)
		EXPLAINED(STATUS_OK, "--session", a->session, "frob x");
	ck_assert_uint_eq(lines_of(history), rows);
	ck_assert_uint_eq(lines_of(list), items);
	ck_assert_uint_eq(lines_of((const char *const[]){"sessions", "--json", NULL}), 1);
	{
		struct run r;

		ck_assert_int_eq(RUN_WHOLE(&r, "rules", "--json"), 0);
		ck_assert_ptr_nonnull(strstr(r.text, "\"matches\":0"));
		ck_assert_ptr_null(strstr(r.text, "\"matches\":1"));
		ck_assert_ptr_null(strstr(r.text, "\"matches\":2"));
		run_free(&r);
	}
}

START_TEST(of_a_session)
{
	struct agent a;

	begin();
	agent_start(&a, &b, "explained", calls);
	step_await(a.from);
	step_tell(a.to);
	agent_offered(&a, &watch);
	/* what waits, as it was shown */
	EXPLAINED(STATUS_ASK, "--request", a.request);
	is("tool", "Bash");
	is("session", a.session);
	TAKEN("deny", a.request);
	step_await(a.from);
	EXPLAINED(STATUS_ASK, "--session", a.session, "same");
	step_tell(a.to);
	denied_by_person(&a);
	step_await(a.from);
	/* by now a request would be denied: the same, in this session alone */
	EXPLAINED(STATUS_DENIED, "--session", a.session, "same");
	is("source", "repeat");
	ck_assert_str_eq(step_said("repeat"), "deny");
	EXPLAINED(STATUS_ASK, "same");
	EXPLAINED(STATUS_ASK, "--session", a.session, "other");
	nothing_comes_of_it(&a);
	/* the ceiling, and what would be without it */
	TAKEN("mode", a.session, "plan");
	EXPLAINED(STATUS_DENIED, "--session", a.session, "other");
	is("mode", "plan");
	is("ceiling", "plan");
	EXPLAINED(STATUS_OK, "--session", a.session, "--mode", "yolo", "other");
	TAKEN("mode", a.session, "yolo");
	EXPLAINED(STATUS_OK, "--session", a.session, "other");
	/* its turn */
	TAKEN("suspend", a.session);
	EXPLAINED(STATUS_ASK, "--session", a.session, "frob x");
	is("step", "suspended");
	ck_assert_str_eq(step_said("suspended"), "hold");
	EXPLAINED(STATUS_OK, "frob x");
	TAKEN("resume", a.session);
	TAKEN("end-turn", a.session);
	EXPLAINED(STATUS_DENIED, "--session", a.session, "frob x");
	is("source", "user");
	/* the request says the same as was foretold */
	step_tell(a.to);
	step_await(a.from);
	step_tell(a.to);
	agent_end(&a);
	end();
}
END_TEST

START_TEST(rules_of_a_session)
{
	struct agent a;
	char where[16];

	begin();
	agent_start(&a, &b, "ruled", calls);
	step_await(a.from);
	step_tell(a.to);
	agent_offered(&a, &watch);
	TAKEN("rules", "add", "--session", a.session, "allow Bash(mine)");
	EXPLAINED(STATUS_OK, "--session", a.session, "mine");
	ck_assert_str_eq(json_text(rule_said(0), "scope"), "session");
	ck_assert_str_eq(json_text(rule_said(0), "session"), a.session);
	snprintf(where, sizeof(where), "%s", json_text(rule_said(0), "id"));
	ck_assert_int_gt(atoi(where), 0);
	EXPLAINED(STATUS_ASK, "mine");
	TAKEN("deny", a.request);
	step_await(a.from);
	ck_assert_int_eq(kill(a.pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(a.pid, NULL, 0), a.pid);
	end();
}
END_TEST

/* ---- policies, and nobody ---- */

START_TEST(policies)
{
	struct wire_open m;
	struct raw policy;

	begin();
	raw_connect(&policy, b.frontend);
	wire_map_open(&m, raw_call(&policy, "hello"));
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "a test");
	wire_map_strz(&m, "role", "policy");
	wire_map_strz(&m, "name", "strict");
	wire_close(&m);
	ck_assert(!raw_reply(&policy, raw_send(&policy)).error.data);
	wire_pack_map(raw_call(&policy, "subscribe"), 0);
	raw_reply(&policy, raw_send(&policy));
	EXPLAINED(STATUS_ASK, "other");
	is("step", "policy");
	is("policies", "[ \"strict\" ]");
	ck_assert_str_eq(step_said("policy"), "asked");
	EXPLAINED(STATUS_ASK, "frob ask");
	is("step", "ask-rules");
	is("policies", "[ \"strict\" ]");
	EXPLAINED(STATUS_OK, "frob x");
	is("policies", "[ ]");
	ck_assert_str_eq(step_said("policy"), "");
	/* without bye it counts as ask from now on */
	raw_close(&policy);
	do
		EXPLAINED(STATUS_ASK, "other");
	while (strcmp(json_text(said, "policies"), "[ ]") != 0);
	is("policy_missing", "true");
	is("step", "policy");
	ck_assert_str_eq(step_said("policy"), "ask");
	end();
}
END_TEST

START_TEST(nobody)
{
	broker_configure(&b, "[broker]\nheadless = yes\n");
	broker_start(&b, NULL);
	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	EXPLAINED(STATUS_DENIED, "other");
	is("source", "broker");
	is("step", "human");
	ck_assert_str_eq(step_said("human"), "deny");
	broker_stop(&b);
}
END_TEST

/* ---- refused ---- */

static void refused_call(const char *key, const char *value, const char *more,
	const char *more_value, const char *code)
{
	struct wire_frame f;
	struct wire_open m;

	wire_map_open(&m, raw_call(&person, "explain"));
	if (strcmp(key, "tool") != 0)
		wire_map_strz(&m, "tool", "Bash");
	wire_map_strz(&m, key, value);
	if (more)
		wire_map_strz(&m, more, more_value);
	wire_close(&m);
	f = raw_reply(&person, raw_send(&person));
	ck_assert_msg(f.error.data, "%s: no error", key);
	ck_assert_msg(bytes_is(error_code(&f), code), "%s: %.*s", key, (int)error_code(&f).len,
		(const char *)error_code(&f).data);
}

START_TEST(wrong)
{
	struct run r;

	begin();
	refused_call("tool", "", NULL, NULL, "invalid");
	refused_call("kind", "frob", NULL, NULL, "invalid");
	refused_call("mode", "frob", NULL, NULL, "invalid");
	refused_call("cwd", "relative", NULL, NULL, "invalid");
	refused_call("workspace", "", NULL, NULL, "invalid");
	refused_call("session", "frob", NULL, NULL, "not_found");
	refused_call(
		"session", "ses_00000000-0000-7000-8000-000000000000", NULL, NULL, "not_found");
	refused_call("session", "frob", "workspace", "/", "invalid");
	refused_call(
		"request", "req_00000000-0000-7000-8000-000000000000", NULL, NULL, "not_found");
	ck_assert_int_eq(RUN_WHOLE(&r, "explain"), STATUS_USAGE);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "explain", "--input", "{"), STATUS_USAGE);
	run_free(&r);
	ck_assert_int_eq(
		RUN_WHOLE(&r, "explain", "--request", "abcd", "--mode", "yolo"), STATUS_USAGE);
	run_free(&r);
	end();
}
END_TEST

/* Others' calls are an administrator's to ask for. */
START_TEST(other_user)
{
	begin();
	EXPLAINED(STATUS_OK, "frob x");
	if (getuid() == 0) {
		EXPLAINED(STATUS_ASK, "--uid", "4242", "--cwd", "/", "frob x");
		is("uid", "4242");
	} else {
		REFUSED("explain", "--uid", "0", "frob x");
	}
	end();
}
END_TEST

/* ---- who does not wait for the answer ---- */

/* Of paths that nobody has asked for yet, so that a worker has to look. */
static void ask_cold(struct raw *r, unsigned round, unsigned i)
{
	struct wire_open m, input;
	char text[128];

	wire_map_open(&m, raw_call(r, "explain"));
	wire_map_strz(&m, "tool", "Bash");
	wire_map_key(&m, "input");
	wire_map_open(&input, m.b);
	snprintf(text, sizeof(text), "cat none-%u/%u > out-%u/x", round, i, i);
	wire_map_strz(&input, "command", text);
	wire_close(&input);
	snprintf(text, sizeof(text), "%s/cold-%u-%u", b.dir, round, i);
	wire_map_strz(&m, "cwd", text);
	wire_close(&m);
	raw_send(r);
}

START_TEST(gone)
{
	enum { ROUNDS = 200, CALLS = 5 };
	struct wire_open m;
	struct raw r;

	begin();
	for (unsigned round = 0; round < ROUNDS; round++) {
		const unsigned wanted = round % 4;

		raw_connect(&r, b.frontend);
		/* its answer is on the way yet when the first of the others is looked at */
		wire_map_open(&m, raw_call(&r, "hello"));
		wire_map_u64(&m, "protocol", 1);
		wire_map_strz(&m, "client", "a test");
		wire_map_strz(&m, "role", "observer");
		wire_close(&m);
		raw_send(&r);
		for (unsigned i = 0; i < CALLS; i++)
			ask_cold(&r, round, i);
		for (unsigned i = 0; i < wanted; i++)
			ck_assert(!raw_next(&r).error.data);
		raw_close(&r);
	}
	EXPLAINED(STATUS_OK, "frob x");
	/* and what waits at the end of the broker is told so, or answered */
	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	for (unsigned i = 0; i < CALLS; i++)
		ask_cold(&r, ROUNDS, i);
	end();
	raw_close(&r);
}
END_TEST

/* ---- for people ---- */

START_TEST(for_people)
{
	struct run r;

	begin();
	ck_assert_int_eq(RUN_WHOLE(&r, "explain", "frob \x1b[2J x"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(r.text, "allow\n"));
	ck_assert_ptr_nonnull(strstr(r.text, "/rules:2"));
	ck_assert_ptr_nonnull(strstr(r.text, "  allow-rules  allow\n"));
	ck_assert_ptr_null(strchr(r.text, '\x1b'));
	run_free(&r);
	ck_assert_int_eq(
		RUN_WHOLE(&r, "explain", "--mode=yolo", "cat '\x1b[2J.env'"), STATUS_OK);
	ck_assert_ptr_null(strchr(r.text, '\x1b'));
	run_free(&r);
	end();
}
END_TEST

/* The test goes to another folder than the programs'. */
static void program_name(const char *variable, const char *name)
{
	char *const path = getenv(variable) ? NULL : realpath(name, NULL);

	if (path)
		setenv(variable, path, 1);
	free(path);
}

int main(void)
{
	Suite *s = suite_create("explain");
	TCase *t = tcase_create("broker");
	SRunner *sr;
	int failed;

	program_name("APPROVALD", "./approvald");
	program_name("APPROVALCTL", "./approvalctl");
	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, steps);
	if (!broker_valgrind())
		tcase_add_test(t, paths);
	tcase_add_test(t, of_a_session);
	tcase_add_test(t, rules_of_a_session);
	tcase_add_test(t, policies);
	tcase_add_test(t, nobody);
	tcase_add_test(t, wrong);
	tcase_add_test(t, other_user);
	tcase_add_test(t, gone);
	tcase_add_test(t, for_people);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
