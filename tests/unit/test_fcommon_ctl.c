/* SPDX-License-Identifier: MIT */
/* approvalctl itself, without a broker: what it says to wrong command lines, and to there being
 * none. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/core/types.h"
#include "frontends/common/exit.h"

struct ran {
	int status;
	char out[16384], err[16384];
};

static void slurp(FILE *f, char *to, size_t size)
{
	size_t n;

	rewind(f);
	n = fread(to, 1, size - 1, f);
	to[n] = '\0';
	fclose(f);
}

/* Runs `approvalctl` with words separated by spaces; '' is an empty one. */
static void run(struct ran *r, const char *words)
{
	char line[256], *argv[32] = {NULL}, *save;
	FILE *out = tmpfile(), *err = tmpfile();
	int argc = 0, wstatus;

	ck_assert(out && err);
	snprintf(line, sizeof(line), "./approvalctl %s", words);
	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = strcmp(w, "''") ? w : w + 2;

	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (dup2(fileno(out), STDOUT_FILENO) < 0 ||
			dup2(fileno(err), STDERR_FILENO) < 0)
			_exit(99);
		execv(argv[0], argv);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &wstatus, 0), pid);
	ck_assert_msg(WIFEXITED(wstatus), "'%s' ended by a signal", words);
	r->status = WEXITSTATUS(wstatus);
	slurp(out, r->out, sizeof(r->out));
	slurp(err, r->err, sizeof(r->err));
}

static void wrong(const char *words, const char *says)
{
	struct ran r;

	run(&r, words);
	ck_assert_msg(
		r.status == STATUS_USAGE, "'%s' exited with %d: %s", words, r.status, r.err);
	ck_assert_msg(strstr(r.err, says), "'%s' said '%s'", words, r.err);
	ck_assert_msg(strstr(r.err, "--help'"), "'%s' gave no help: '%s'", words, r.err);
	ck_assert_str_eq(r.out, "");
}

START_TEST(usage)
{
	wrong("", "a command is missing");
	wrong("frobnicate", "unknown command");
	wrong("--frobnicate", "unknown option");
	wrong("list --frobnicate", "unknown or ambiguous option");
	wrong("list x", "takes no operands");
	wrong("show", "an id is missing");
	wrong("allow", "an id is missing");
	wrong("allow abcd --all", "either ids or --all");
	wrong("deny abcd --reason", "needs a value");
	wrong("ask", "the command to run is missing");
	wrong("ask --timeout soon -- ls", "is no duration");
	wrong("ask --timeout 0 -- ls", "no time to answer");
	wrong("ask --retry 1 -- ls", "'1' is too short to find a broker; write 2s or more");
	wrong("ask --retry 1999ms -- ls", "is too short");
	wrong("check", "a command line or --input is missing");
	wrong("check --input {} -- ls", "either --input or a command line");
	wrong("check --input {", "the input is no JSON");
	wrong("mode ses_1", "a session and a mode");
	wrong("mode ses_1 sudo", "is none of plan");
	wrong("suspend", "a session is missing");
	wrong("suspend a b", "one session, or --all");
	wrong("end-turn", "a session is missing");
	wrong("history -n many", "is no number");
	wrong("history --since never", "is no time");
	wrong("history --until 1h1h", "is no time");
	wrong("history --since 1h --until 2h", "--since is later than --until");
	wrong("history -n -1", "is no number");
	wrong("explain --uid 4294967295 -- ls", "is no number from 0 to 4294967294");
	wrong("rules trust --uid 4294967295", "is no number from 0 to 4294967294");
	wrong("rules add --expires 0 x", "in force for some time");
	wrong("rules remove --session abcd 1", "--session is for add");
	wrong("rules --expires 1h", "--expires is for add");
	wrong("rules remove 1x", "is no number");
	wrong("resume --tokens 0x10 abcd", "is no number");
	wrong("resume --cost 1e9 abcd", "is no amount");
	wrong("kill --grace -1s abcd", "is no duration");
	wrong("history --verdict perhaps", "'perhaps' is none of allow, deny\n");
	wrong("history --source nobody", "is none of user, policy, rule, mode, floor, ");
	wrong("history --event party", "is none of session_opened, session_ended, ");
	wrong("history --event none", "is none of ");
	wrong("allow --always forever abcd", "is none of turn, session, project, user\n");
	wrong("rules --scope global", "is none of admin, user, project, session, turn\n");
	wrong("rules add --scope admin x", "is none of user, project, session, turn\n");
	wrong("explain --mode sudo -- ls", "'sudo' is none of plan, normal, auto-edit, yolo\n");
	wrong("explain --kind frob -- ls", "'frob' is none of read, edit, ");
	wrong("stats x", "takes no operands");
	wrong("watch x", "takes no operands");
	wrong("doctor x", "takes no operands");
}
END_TEST

/* A name that a script left empty is no name. */
START_TEST(empty)
{
	wrong("ask --tool '' -- ls", "'--tool' needs a value that is not empty");
	wrong("ask -- ''", "operand 1 is empty");
	wrong("ask -- '' x", "operand 1 is empty");
	wrong("ask --timeout '' -- ls", "'--timeout' needs a value that is not empty");
	wrong("check --tool '' -- ls", "'--tool' needs a value that is not empty");
	wrong("check --input ''", "'--input' needs a value that is not empty");
	wrong("allow ''", "operand 1 is empty");
	wrong("deny abcd ''", "operand 2 is empty");
	wrong("show ''", "operand 1 is empty");
	wrong("list --session ''", "'--session' needs a value that is not empty");
	wrong("list --socket ''", "'--socket' needs a value that is not empty");
	wrong("mode '' plan", "operand 1 is empty");
	wrong("suspend ''", "operand 1 is empty");
	wrong("history --agent ''", "'--agent' needs a value that is not empty");
	wrong("history -n ''", "'--limit' needs a value that is not empty");
	wrong("rules add ''", "operand 2 is empty");
	wrong("rules --project '' add x", "'--project' needs a value that is not empty");
	wrong("rules import --from ''", "'--from' needs a value that is not empty");
}
END_TEST

static void has_no_broker(const char *words)
{
	struct ran r;

	run(&r, words);
	ck_assert_msg(r.status == STATUS_NO_BROKER, "'%s' exited with %d: %s", words, r.status,
		r.err);
}

static void without_broker(void)
{
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	unsetenv("APPROVAL_SOCKET");
	unsetenv("APPROVAL_FRONTEND_SOCKET");
}

/* Texts may be empty, and so may the arguments of a command line. */
START_TEST(not_empty)
{
	without_broker();
	has_no_broker("ask --retry 2 --reason '' --summary '' --title '' -- true ''");
	has_no_broker("check -- true ''");
	has_no_broker("deny --reason '' abcd");
}
END_TEST

static void filter_known(const char *filter, const char *name)
{
	char line[96];

	snprintf(line, sizeof(line), "history --%s %s", filter, name);
	has_no_broker(line);
}

/* Of the words before a command line. */
static void word_known(const char *option, const char *name)
{
	char line[96];

	snprintf(line, sizeof(line), "explain --%s %s -- ls", option, name);
	has_no_broker(line);
}

/* The options take all the names that the broker has. */
START_TEST(filters)
{
	without_broker();
	filter_known("verdict", verdict_name(VERDICT_ALLOW));
	filter_known("verdict", verdict_name(VERDICT_DENY));
	for (int i = SOURCE_NONE + 1; i < SOURCE_N; i++)
		filter_known("source", source_name((enum source)i));
	for (int i = 0; i < HISTORY_N; i++)
		filter_known("event", history_event_name((enum history_event)i));
	for (int i = 0; i < MODE_N; i++)
		word_known("mode", mode_name((enum mode)i));
	for (int i = 0; i < KIND_N; i++)
		word_known("kind", kind_name((enum kind)i));
}
END_TEST

START_TEST(help)
{
	static const char *const commands[] = {"ask", "check", "list", "show", "allow", "deny",
		"watch", "sessions", "turns", "mode", "suspend", "resume", "end-turn",
		"history", "stats", "doctor"};
	struct ran r;

	run(&r, "--version");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out, "approvalctl " PACKAGE_VERSION "\n");
	run(&r, "--help");
	ck_assert_int_eq(r.status, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char line[64];
		struct ran one;

		snprintf(line, sizeof(line), "\n  %-12s ", commands[i]);
		ck_assert_msg(strstr(r.out, line), "no '%s' in --help", commands[i]);
		snprintf(line, sizeof(line), "%s --help", commands[i]);
		run(&one, line);
		ck_assert_int_eq(one.status, 0);
		ck_assert_ptr_nonnull(strstr(one.out, "Usage: approvalctl "));
		ck_assert_str_eq(one.err, "");
	}
}
END_TEST

/* Each command, where no broker is: its own status, and how to start one. */
START_TEST(no_broker)
{
	static const char *const lines[] = {
		"list",
		"check -- ls",
		"ask --retry 2 -- touch ./must-not-be-there",
	};
	struct ran r;

	without_broker();
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		run(&r, lines[i]);
		ck_assert_msg(r.status == STATUS_NO_BROKER, "'%s' exited with %d: %s", lines[i],
			r.status, r.err);
		ck_assert_msg(strstr(r.err, "Start one with 'approvald &'"), "%s", r.err);
		ck_assert_str_eq(r.out, "");
	}
	ck_assert_int_ne(access("./must-not-be-there", F_OK), 0);

	run(&r, "doctor");
	ck_assert_int_eq(r.status, STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(r.out, "problem"));
	ck_assert_ptr_nonnull(strstr(r.out, "/nonexistent/approvald"));
	ck_assert_ptr_nonnull(strstr(r.out, "-> start it with 'approvald &'"));
	ck_assert_ptr_null(strchr(r.out, '\033'));
	run(&r, "doctor --json");
	ck_assert_int_eq(r.out[0], '{');
	ck_assert_ptr_nonnull(strstr(r.out, "\"level\":\"problem\""));
}
END_TEST

START_TEST(environment_redirects)
{
	struct ran r;

	setenv("APPROVAL_FRONTEND_SOCKET", "/tmp/x\033[2J", 1);
	run(&r, "doctor");
	ck_assert_ptr_nonnull(
		strstr(r.out, "APPROVAL_FRONTEND_SOCKET leads to /tmp/x\\x1b[2J"));
	ck_assert_ptr_null(strchr(r.out, '\033'));
}
END_TEST

/* As the broker ignores it, so does doctor, and says so. */
START_TEST(environment_relative)
{
	struct ran r;

	without_broker();
	setenv("XDG_RUNTIME_DIR", "run/me", 1);
	run(&r, "doctor");
	ck_assert_ptr_nonnull(strstr(r.out, "XDG_RUNTIME_DIR is run/me, no absolute path"));
	ck_assert_ptr_nonnull(strstr(r.out, "agent socket /tmp/approvald-"));
	ck_assert_ptr_null(strstr(r.out, "socket run/me"));
}
END_TEST

START_TEST(output_fails)
{
	char line[] = "./approvalctl --help > /dev/full 2> /dev/null";
	int wstatus = system(line);

	ck_assert(WIFEXITED(wstatus));
	ck_assert_int_eq(WEXITSTATUS(wstatus), STATUS_FAILED);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("approvalctl");
	TCase *tc = tcase_create("approvalctl");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 60); /* 2 s for each command that looks for a broker */
	tcase_add_test(tc, usage);
	tcase_add_test(tc, empty);
	tcase_add_test(tc, not_empty);
	tcase_add_test(tc, filters);
	tcase_add_test(tc, help);
	tcase_add_test(tc, no_broker);
	tcase_add_test(tc, environment_redirects);
	tcase_add_test(tc, environment_relative);
	tcase_add_test(tc, output_fails);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
