/* SPDX-License-Identifier: MIT */
/*
 * The scenarios of tests/harness, each with a broker of its own, and the conformance
 * of our own frontends and agents.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"

#define WAIT_MS 240000

static struct broker broker;
static char restart[256], asked[96], done[96];

static void config_read(const char *name)
{
	char path[512], text[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/harness/%s.conf", TEST_SRCDIR, name);
	f = fopen(path, "re");
	if (!f)
		return; /* none: the defaults */
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	broker_configure(&broker, text);
}

/* The command that the harness is given asks this process, which owns the broker. */
static void restart_prepare(void)
{
	snprintf(asked, sizeof(asked), "%s/asked", broker.dir);
	snprintf(done, sizeof(done), "%s/done", broker.dir);
	snprintf(restart, sizeof(restart), "echo > '%s'; read x < '%s'", asked, done);
	ck_assert_int_eq(mkfifo(asked, 0600), 0);
	ck_assert_int_eq(mkfifo(done, 0600), 0);
}

static void restart_serve(int fd)
{
	char text[8];
	int answer;

	ck_assert_int_gt(read(fd, text, sizeof(text)), 0);
	broker_kill(&broker);
	broker_start(&broker, NULL);
	answer = open(done, O_WRONLY | O_CLOEXEC); /* waits for the shell to listen */
	ck_assert_int_ge(answer, 0);
	ck_assert_int_eq(write(answer, "\n", 1), 1);
	close(answer);
}

static void setup(void)
{
	broker_init(&broker);
	restart_prepare();
}

static void teardown(void)
{
	broker_stop(&broker);
	broker_fini(&broker);
}

static void output_show(const char *path)
{
	char text[16384];
	FILE *f = fopen(path, "re");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	ck_abort_msg("approval-harness: %s", text);
}

static pid_t harness_spawn(const char *const *words, const char *output)
{
	const char *argv[40] = {"./approval-harness"};
	size_t n = 1;
	pid_t pid;

	argv[n++] = *words++;
	argv[n++] = "--agent-socket";
	argv[n++] = broker.agent;
	argv[n++] = "--frontend-socket";
	argv[n++] = broker.frontend;
	/* what needs it is skipped then */
	if (!broker_valgrind()) {
		argv[n++] = "--restart";
		argv[n++] = restart;
	}
	argv[n++] = "--timeout";
	argv[n++] = "60s";
	for (; *words && n < 39; words++)
		argv[n++] = *words;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
			_exit(99);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(99);
	}
	return pid;
}

/* Runs it to its end, restarting the broker whenever it asks; its exit status. */
static int harness_status(const char *const *words, const char *output)
{
	int fd = open(asked, O_RDWR | O_CLOEXEC), pidfd, status;
	pid_t pid;

	ck_assert_int_ge(fd, 0);
	pid = harness_spawn(words, output);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	ck_assert_int_ge(pidfd, 0);
	for (;;) {
		struct pollfd p[2] = {
			{.fd = pidfd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

		ck_assert_int_gt(poll(p, 2, WAIT_MS), 0);
		if (p[1].revents)
			restart_serve(fd);
		else if (p[0].revents)
			break;
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	close(pidfd);
	close(fd);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void harness(const char *const *words)
{
	char output[128];

	snprintf(output, sizeof(output), "%s/output", broker.dir);
	if (harness_status(words, output))
		output_show(output);
}
#define HARNESS(...) harness((const char *const[]){__VA_ARGS__, NULL})

static const char *const scenarios[] = {"chain", "check", "deadline", "disconnect", "edited",
	"elsewhere", "first-wins", "grace", "headless", "loop", "policy", "policy-bye", "raw",
	"repeat", "restart", "resubmit", "self-approval", "supersede", "suspend"};

START_TEST(scenario)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/harness/%s.scn", TEST_SRCDIR, scenarios[_i]);
	config_read(scenarios[_i]);
	broker_start(&broker, NULL);
	HARNESS("run", path);
}
END_TEST

#define CONFORMANCE "conformance", "--scenarios", TEST_SRCDIR "/frontends/harness/conformance"

START_TEST(frontend_watch)
{
	broker_start(&broker, NULL);
	HARNESS(CONFORMANCE, "frontend", "--", "./approvalctl", "watch", "--json");
}
END_TEST

/* One that answers, too. */
START_TEST(frontend_answers)
{
	broker_start(&broker, NULL);
	HARNESS(CONFORMANCE, "--with", "answers", "frontend", "--",
		"./tests/daemon/answering_frontend");
}
END_TEST

#define ASK_TIMED                                                                              \
	"exec ./approvalctl ask --quiet "                                                      \
	"${APPROVAL_HARNESS_TIMEOUT:+--timeout=$APPROVAL_HARNESS_TIMEOUT} -- "                 \
	"touch \"$APPROVAL_HARNESS_WITNESS\""

START_TEST(agent_ask)
{
	broker_start(&broker, NULL);
	HARNESS(CONFORMANCE, "--with", "timeout", "agent", "--", "sh", "-c", ASK_TIMED);
}
END_TEST

/* A Python that has msgpack; NULL: none. */
static const char *python_find(void)
{
	static const char *const list[] = {"python3", "/usr/bin/python3"};
	char command[128];

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		snprintf(command, sizeof(command), "%s -c 'import msgpack' 2>/dev/null",
			list[i]);
		if (!system(command))
			return list[i];
	}
	return NULL;
}

START_TEST(agent_python)
{
	const char *python = python_find();

	broker_start(&broker, NULL);
	if (python)
		HARNESS(CONFORMANCE, "agent", "--", python,
			TEST_SRCDIR "/contrib/python/approval_client.py", "ask", "--", "sh",
			"-c", "touch \"$APPROVAL_HARNESS_WITNESS\"");
}
END_TEST

/* It ends with that status, and says what. */
static void fails(int status, const char *what, const char *const *words)
{
	char output[128], text[16384];
	FILE *f;

	snprintf(output, sizeof(output), "%s/output", broker.dir);
	ck_assert_int_eq(harness_status(words, output), status);
	f = fopen(output, "re");
	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	ck_assert_msg(strstr(text, what), "no '%s' in '%s'", what, text);
}
#define FAILS(what, ...)   fails(1, what, (const char *const[]){__VA_ARGS__, NULL})
#define REFUSES(what, ...) fails(2, what, (const char *const[]){__VA_ARGS__, NULL})
#define SHORTLY		 CONFORMANCE, "--timeout", "2s"

/* Programs that do not conform are found out. */
START_TEST(offending_frontends)
{
	broker_start(&broker, NULL);
	FAILS("expected connected", SHORTLY, "frontend", "--", "true");
	FAILS("was told twice", SHORTLY, "frontend", "--", "sh", "-c",
		"./approvalctl watch --json | sed -u p");
	FAILS("told of ", SHORTLY, "frontend", "--", "sh", "-c",
		"./approvalctl watch --json | sed -u '/early-7\"/d'");
	FAILS("expected withdrawn", SHORTLY, "frontend", "--", "sh", "-c",
		"./approvalctl watch --json | sed -u /withdrawn/d");
	FAILS("expected answered", SHORTLY, "--with", "answers", "frontend", "--",
		"./tests/daemon/answering_frontend", "--deaf");
}
END_TEST

START_TEST(offending_agents)
{
	broker_start(&broker, NULL);
	FAILS("has run what it asked for", SHORTLY, "agent", "--", "sh", "-c",
		"touch \"$APPROVAL_HARNESS_WITNESS\"; exec ./approvalctl ask -- touch .");
	FAILS("has not run what it asked for", SHORTLY, "agent", "--", "./approvalctl", "ask",
		"--", "touch", ".");
	FAILS("expected withdrawn", SHORTLY, "--with", "timeout", "agent", "--",
		"./approvalctl", "ask", "--", "sh", "-c",
		"touch \"$APPROVAL_HARNESS_WITNESS\"");
	FAILS("came before exit", SHORTLY, "agent", "--", "sh", "-c",
		"./approvalctl ask -- touch \"$APPROVAL_HARNESS_WITNESS\" || :");
}
END_TEST

static void write_scenario(char path[128], const char *text)
{
	FILE *f;

	snprintf(path, 128, "%s/bad.scn", broker.dir);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* A step that fails is told with its place, what was expected, and what came. */
START_TEST(failing_steps)
{
	static const char begin[] = "agent a\nfrontend f\nconnect a\nconnect f\nsubscribe f\n";
	static const struct {
		const char *step, *what;
	} list[] = {
		{"call a check {\"tool\": \"Deploy\", \"input\": {}} {\"verdict\": \"allow\"}",
			"{\"verdict\":\"allow\"}; there was"},
		{"call a nonsense {}", "unknown_method"},
		{"decide f req_00000000-0000-7000-8000-000000000000 deny", "not_found"},
		{"expect f offered", "within 300 ms"},
		{"connect f fails", "connected"},
		{"send a r request {\"tool\": \"Deploy\", \"input\": \"$none\"}",
			"a variable is not set"},
		{"kill a\ncall a check {}", "has ended"},
		{"connect b", "nobody is called 'b'"},
		{"program p", "no program under test"},
	};
	char path[128], text[1024];

	broker_start(&broker, NULL);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		snprintf(text, sizeof(text), "%s%s\n", begin, list[i].step);
		write_scenario(path, text);
		FAILS(list[i].what, "run", "--timeout", "300ms", path);
		FAILS("0 passed, 1 failed", "run", "--timeout", "300ms", path);
		FAILS(strchr(list[i].step, '\n') ? "bad.scn:7: " : "bad.scn:6: ", "run",
			"--timeout", "300ms", path);
	}
}
END_TEST

/* What is no scenario is not begun, and told with its place. */
START_TEST(wrong_scenarios)
{
	static const struct {
		const char *step, *what;
	} list[] = {
		{"agent a {\"session\": }", "bad.scn:2: unexpected"},
		{"leap a", "bad.scn:2: there is no verb 'leap'"},
		{"connect", "bad.scn:2: usage: connect NAME"},
		{"restart-broker now", "bad.scn:2: usage: restart-broker"},
		{"drop a \\", "bad.scn:2: the last line ends in a backslash"},
	};
	char path[128], text[1024];

	broker_start(&broker, NULL);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		snprintf(text, sizeof(text), "connect a\n%s\n", list[i].step);
		write_scenario(path, text);
		REFUSES(list[i].what, "run", path);
	}
	REFUSES("absent.scn: No such file", "run", "absent.scn");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conformance");
	TCase *t = tcase_create("conformance"), *s = tcase_create("scenarios");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(s, 300);
	tcase_add_checked_fixture(s, setup, teardown);
	tcase_add_loop_test(s, scenario, 0, (int)(sizeof(scenarios) / sizeof(scenarios[0])));
	tcase_add_test(t, frontend_watch);
	tcase_add_test(t, frontend_answers);
	tcase_add_test(t, agent_ask);
	tcase_add_test(t, agent_python);
	tcase_add_test(t, offending_frontends);
	tcase_add_test(t, offending_agents);
	tcase_add_test(t, failing_steps);
	tcase_add_test(t, wrong_scenarios);
	suite_add_tcase(suite, s);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
