/* SPDX-License-Identifier: MIT */
/* approval-policy with the real broker. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontends/common/exit.h"
#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"

static struct broker broker;
static char file[128]; /* of the policy */

static const char *policy_program(void)
{
	const char *program = getenv("APPROVAL_POLICY");

	return program ? program : "./approval-policy";
}
#define POLICY(r, ...)                                                                         \
	run_program((r), policy_program(), (const char *const[]){__VA_ARGS__, NULL})

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void setup(void)
{
	broker_init(&broker);
	/* programs may take as long as the test's machine needs */
	broker_configure(&broker, "[broker]\npolicy-timeout = 60s\n");
	setenv("APPROVAL_SOCKET", broker.agent, 1);
	setenv("APPROVAL_FRONTEND_SOCKET", broker.frontend, 1);
	snprintf(file, sizeof(file), "%s/ci.policy", broker.dir);
	broker_start(&broker, NULL);
}

static void teardown(void)
{
	broker_stop(&broker);
	broker_fini(&broker);
}

static void policy_start(struct run *r, const char *text)
{
	put(file, text, 0600);
	POLICY(r, file);
	run_until_error(r, "ready");
}

static void policy_stop(struct run *r)
{
	kill(r->pid, SIGTERM);
	ck_assert_int_eq(run_wait(r), 0);
}

/* approvalctl check: 0, 77 or 79 for allow, deny and ask. */
static void checks(int status, const char *command)
{
	struct run r;

	RUN_WHOLE(&r, "check", "--", "sh", "-c", command);
	ck_assert_msg(r.status == status, "'%s' exited with %d: %s%s", command, r.status,
		r.text, r.error);
	run_free(&r);
}

static void checks_tool(int status, const char *tool, const char *input)
{
	struct run r;

	RUN_WHOLE(&r, "check", "--tool", tool, "--input", input);
	ck_assert_msg(r.status == status, "'%s' exited with %d: %s%s", tool, r.status, r.text,
		r.error);
	run_free(&r);
}

#define ALLOWS 0
#define DENIES STATUS_DENIED
#define ASKS   STATUS_ASK

static void has(const char *text, const char *what)
{
	ck_assert_msg(text && strstr(text, what), "no '%s' in '%s'", what, text);
}

START_TEST(verdicts)
{
	static char large[20000];
	struct run p;

	policy_start(&p, "allow Bash(touch:*)\n"
			 "ask Bash(chmod:*)\n"
			 "deny Bash(mkdir:*)\n"
			 "allow Good\n"
			 "allow Large\n"
			 "[agent=somebody]\n"
			 "deny Good\n"
			 "[agent=approvalctl project!=nothing-such]\n"
			 "deny Bad\n");
	checks(ALLOWS, "touch a");
	checks(DENIES, "touch a; mkdir b");
	checks(ASKS, "touch a; chmod +x b");
	checks(ASKS, "touch a; frobnicate");
	checks_tool(ALLOWS, "Good", "{}");
	checks_tool(ASKS, "Other\033[31m", "{}");
	/* too large to come with the offer */
	snprintf(large, sizeof(large), "{\"x\": \"%0*d\"}", 18000, 0);
	checks_tool(ALLOWS, "Large", large);
	policy_stop(&p);
	has(p.text, "allow req_");
	has(p.text, "(ci.policy:1: allow Bash(touch:*))");
	has(p.text, "(ci.policy:3: deny Bash(mkdir:*))");
	has(p.text, "(ci.policy:2: ask Bash(chmod:*))");
	has(p.text, "(no rule speaks)");
	has(p.text, "Other\\x1b[31m");
	ck_assert_ptr_null(strchr(p.text, '\033'));
	/* after bye nobody is waited for */
	checks(ASKS, "touch a");
	run_free(&p);
}
END_TEST

START_TEST(defaults_and_floor)
{
	struct run p;

	policy_start(&p, "default allow\n[agent=approvalctl title=never]\ndefault deny\n");
	checks_tool(ALLOWS, "Any", "{}");
	/* the floor holds against a policy */
	checks(ASKS, "sudo make install");
	policy_stop(&p);
	has(p.text, "on the floor");
	run_free(&p);
	policy_start(&p, "default allow\n[agent=approv*]\ndefault deny\n");
	checks_tool(DENIES, "Any", "{}");
	policy_stop(&p);
	run_free(&p);
}
END_TEST

/* ---- programs ---- */

static void program_put(const char *name, const char *body)
{
	char path[160], text[512];

	snprintf(path, sizeof(path), "%s/%s", broker.dir, name);
	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", body);
	put(path, text, 0700);
}

START_TEST(programs)
{
	static const struct {
		const char *name, *body, *told;
		int status;
	} list[] = {
		{"yes", "cat >/dev/null; echo '{\"verdict\": \"allow\", \"reason\": \"well\"}'",
			"; well)", ALLOWS},
		{"no", "echo '{\"verdict\": \"deny\", \"reason\": \"a\\u001bb\"}'",
			"; a\\x1bb)", DENIES},
		{"perhaps", "echo '{\"verdict\": \"ask\"}'", "ask   req_", ASKS},
		{"silent", ":", "no JSON object with a verdict", ASKS},
		{"garbage", "echo allow", "no JSON object with a verdict", ASKS},
		{"word", "echo '{\"verdict\": \"sure\"}'", "no JSON object with a verdict",
			ASKS},
		{"more", "echo '{\"verdict\": \"allow\"} x'", "no JSON object with a verdict",
			ASKS},
		{"fails", "echo '{\"verdict\": \"allow\"}'; exit 3", "it ended with status 3",
			ASKS},
		{"killed", "echo '{\"verdict\": \"allow\"}'; kill -9 $$", "it was killed",
			ASKS},
		{"late", "echo '{\"verdict\": \"allow\"}'; exec sleep 1000",
			"it did not answer in time", ASKS},
		{"held", "echo '{\"verdict\": \"allow\"}'; sleep 1000 & exit 0",
			"it did not answer in time", ASKS},
		{"endless", "exec yes", "its answer is too long", ASKS},
		/* what it reads is the request, and its own rule */
		{"reads",
			"read -r x; case $x in '{\"rule\":\"run "
			"'*'\"command\":\"'*'\"tool\":\"Reads\"'*|"
			"'{\"rule\":\"run '*'\"tool\":\"reads\"'*) echo '{\"verdict\": "
			"\"allow\"}';; esac",
			"allow req_", ALLOWS},
	};
	char text[8192] = "default allow\n";
	struct run p;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		const bool slow = strstr(list[i].told, "in time");

		program_put(list[i].name, list[i].body);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			"timeout %s\nrun %s/%s %s\n", slow ? "200ms" : "30s", broker.dir,
			list[i].name, list[i].name);
	}
	program_put("cover", "echo '{\"verdict\": \"allow\"}'");
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		"run %s/cover Bash(make:*)\n", broker.dir);
	policy_start(&p, text);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		checks_tool(list[i].status, list[i].name, "{}");
		run_until(&p, list[i].told);
	}
	/* it may allow no more than its rule is for */
	checks(ALLOWS, "make all");
	checks(ASKS, "make all; rm x");
	run_until(&p, "allowed more than its rule is for");
	policy_stop(&p);
	run_free(&p);
}
END_TEST

/* ---- reload ---- */

static void reload(struct run *p, const char *says)
{
	free(p->error);
	p->error = NULL;
	p->error_len = 0;
	kill(p->pid, SIGHUP);
	run_until_error(p, says);
}

START_TEST(reloads)
{
	struct run p;

	policy_start(&p, "allow Tool\n");
	checks_tool(ALLOWS, "Tool", "{}");
	put(file, "deny Tool\n", 0600);
	reload(&p, "read anew");
	checks_tool(DENIES, "Tool", "{}");
	put(file, "allow Tool\nallow Bash(x\n", 0600);
	reload(&p, "before stays");
	has(p.error, "ci.policy:2:11: the closing parenthesis is missing");
	checks_tool(DENIES, "Tool", "{}");
	put(file, "allow Tool\n", 0620);
	reload(&p, "before stays");
	has(p.error, "others can write it");
	checks_tool(DENIES, "Tool", "{}");
	unlink(file);
	reload(&p, "before stays");
	checks_tool(DENIES, "Tool", "{}");
	put(file, "allow Tool\n", 0600);
	reload(&p, "read anew");
	checks_tool(ALLOWS, "Tool", "{}");
	policy_stop(&p);
	run_free(&p);
}
END_TEST

START_TEST(comes_back)
{
	struct run p;

	policy_start(&p, "allow Tool\n");
	broker_stop(&broker);
	run_until_error(&p, "disconnected");
	free(p.error);
	p.error = NULL;
	p.error_len = 0;
	broker_start(&broker, NULL);
	run_until_error(&p, "ready");
	checks_tool(ALLOWS, "Tool", "{}");
	policy_stop(&p);
	run_free(&p);
}
END_TEST

/* ---- for CI ---- */

static void asks(int status, const char *command)
{
	struct run r;

	RUN_WHOLE(&r, "ask", "--", "sh", "-c", command);
	ck_assert_msg(r.status == status, "'%s' exited with %d: %s%s", command, r.status,
		r.text, r.error);
	run_free(&r);
}

static void ctl(int status, const char *said, const char *a, const char *b, const char *c)
{
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, a, b, c), status);
	has(r.text, said);
	run_free(&r);
}

START_TEST(headless)
{
	struct run p, other;
	char path[128];

	put(file, "allow Bash(touch .)\ndeny Bash(mkdir x)\nask Bash(chmod:*)\n", 0600);
	POLICY(&p, "--headless", file);
	run_until_error(&p, "ready");
	asks(0, "touch .");
	asks(0, "touch .");
	asks(STATUS_DENIED, "mkdir x");
	asks(STATUS_DENIED, "chmod x");
	asks(STATUS_DENIED, "echo \"\033[2J\"; frobnicate");
	asks(STATUS_DENIED, "frobnicate more");
	/* whoever checks may have somebody to ask; explain says what a request would be told */
	ctl(STATUS_ASK, "ask", "check", "--", "frobnicate");
	ctl(STATUS_ASK, "what it does not allow is denied", "explain", "--", "frobnicate");
	ctl(STATUS_DENIED, "no person can be asked", "explain", "--", "sudo");
	ctl(STATUS_FAILED, "headless: a policy said that nobody is there", "doctor", NULL, NULL);
	policy_stop(&p);
	has(p.text, "\nallowed: 2\n       2  approvalctl: Bash: ");
	has(p.text, "\ndenied: 1\n");
	has(p.text, "\ndenied, since nobody is there to be asked: 1\n");
	has(p.text, "\ndenied, since nothing allowed it: 2\n");
	has(p.text, ", and others  (");
	has(p.text, "(ci.policy:2: deny Bash(mkdir x))\n");
	ck_assert_ptr_null(strchr(p.text, '\033'));
	run_free(&p);

	POLICY(&p, "--headless", "--json", file);
	run_until(&p, "{\"event\":\"ready\"}");
	asks(STATUS_DENIED, "mkdir x");
	policy_stop(&p);
	has(p.text, "\"verdict\":\"deny\",\"line\":2,");
	has(p.text,
		"{\"event\":\"summary\",\"headless\":true,\"allow\":0,\"defer\":0,\"ask\":0,"
		"\"deny\":1,\"allowed\":0,\"denied\":1,\"open\":0,");
	run_free(&p);

	snprintf(path, sizeof(path), "%s/other.policy", broker.dir);
	put(path, "allow Bash(test:*)\nallow Bash(frobnicate)\ndeny Bash(touch:*)\n", 0600);
	POLICY(&p, "--headless", file);
	run_until_error(&p, "ready");
	POLICY(&other, "--name", "other", path);
	run_until_error(&other, "ready");
	asks(0, "test -d /");
	asks(STATUS_DENIED, "touch .");
	ctl(STATUS_OK, "allow", "check", "--", "frobnicate");
	policy_stop(&p);
	policy_stop(&other);
	has(p.text, "\nallowed by another: 2\n");
	has(p.text, "\ndenied by another: 1\n");
	ck_assert_ptr_null(strstr(p.text, "since nothing allowed it"));
	run_free(&p);
	run_free(&other);
}
END_TEST

/* What an agent runs can't answer for it. */
START_TEST(below_an_agent)
{
	char command[512];
	struct run p;

	policy_start(&p, "allow Bash\n");
	snprintf(command, sizeof(command), "%s --name other --retry 10s %s", policy_program(),
		file);
	asks(STATUS_NO_BROKER, command);
	policy_stop(&p);
	run_free(&p);
}
END_TEST

START_TEST(dry_run)
{
	struct run p, ask, watch;
	char id[64];

	put(file, "allow *\n", 0600);
	POLICY(&p, "--dry-run", file);
	run_until_error(&p, "ready");
	watch_start(&watch);
	RUN(&ask, "ask", "--", "touch", ".");
	watch_offered(&watch, id);
	run_until(&p, id);
	run_until(&p, "(ci.policy:1: allow *)\n");
	has(p.text, "allow req_");
	/* it still waits, and a person decides */
	{
		struct run deny;

		RUN_WHOLE(&deny, "deny", id);
		ck_assert_int_eq(deny.status, 0);
		run_free(&deny);
	}
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	policy_stop(&p);
	kill(watch.pid, SIGINT);
	run_wait(&watch);
	run_free(&watch);
	run_free(&ask);
	run_free(&p);
}
END_TEST

START_TEST(lines)
{
	struct run p;

	put(file, "allow Bash(git diff:*)\n[time=22:00-06:00 day=sat-mon]\ndeny Night\n", 0600);
	POLICY(&p, "--dry-run", "--stdin", "--json", file);
	/* as a co-process: the answer comes before the next line is written */
	run_write(&p, "{\"tool\":\"Bash\",\"input\":{\"command\":\"git diff x\"}}\n");
	has(run_line(&p), "\"verdict\":\"allow\",\"line\":1,");
	run_write(&p, "{\"tool\":\"Night\",\"time\":\"23:59\",\"day\":\"sun\"}\n"
		      "{\"tool\":\"Night\",\"time\":\"06:00\",\"day\":\"sun\"}\n"
		      "{\"tool\":\"Night\",\"time\":\"25:00\"}\n"
		      "nothing\n");
	run_close_in(&p);
	has(run_line(&p), "\"verdict\":\"deny\",\"line\":3,");
	has(run_line(&p), "\"verdict\":\"defer\",\"line\":null,");
	has(run_line(&p), "\"why\":\"time is HH:MM\"");
	has(run_line(&p), "\"verdict\":\"error\"");
	ck_assert_int_eq(run_wait(&p), STATUS_FAILED);
	run_free(&p);
}
END_TEST

static void ends(int status, const char *says, const char *const *words)
{
	struct run p;

	run_program(&p, policy_program(), words);
	run_close_in(&p);
	ck_assert_msg(run_wait(&p) == status, "%d: %s", p.status, p.error);
	has(p.error, says);
	run_free(&p);
}
#define ENDS(status, says, ...) ends(status, says, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(refuses)
{
	char none[160];

	put(file, "allow Tool\n", 0600);
	ENDS(0, "", "--check", file);
	ENDS(0, "", "--help");
	ENDS(STATUS_USAGE, "missing", "--check");
	ENDS(STATUS_USAGE, "unknown", "--frob", file);
	ENDS(STATUS_USAGE, "--stdin is for", "--stdin", file);
	ENDS(STATUS_USAGE, "no duration", "--retry", "soon", file);
	ENDS(STATUS_USAGE, "leaves no time", "--retry", "0", file);
	snprintf(none, sizeof(none), "%s/none", broker.dir);
	ENDS(STATUS_NO_BROKER, "no broker", "--retry", "100ms", "--socket", none, file);
	ENDS(STATUS_DATA, "No such file", "--check", none);
	put(file, "allow Tool\n", 0602);
	ENDS(STATUS_DATA, "others can write it", "--check", file);
	put(file, "run /none/such Tool\n", 0600);
	ENDS(STATUS_DATA, "ci.policy:1:1: /none/such: No such file", "--check", file);
	ENDS(STATUS_DATA, "no regular file", "--check", broker.dir);
	if (geteuid() == 0) {
		put(file, "allow Tool\n", 0600);
		ck_assert_int_eq(chown(file, 65534, (gid_t)-1), 0);
		ENDS(STATUS_DATA, "belongs to somebody else", "--check", file);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("policy");
	TCase *t = tcase_create("policy");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, verdicts);
	tcase_add_test(t, defaults_and_floor);
	tcase_add_test(t, programs);
	tcase_add_test(t, reloads);
	if (!broker_valgrind())
		tcase_add_test(t, comes_back);
	tcase_add_test(t, headless);
	tcase_add_test(t, below_an_agent);
	tcase_add_test(t, dry_run);
	tcase_add_test(t, lines);
	tcase_add_test(t, refuses);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
