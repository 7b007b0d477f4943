/* SPDX-License-Identifier: MIT */
/* Why the broker does not start: its exit status, and what it says; and what its log says when
 * it is flooded. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"

static struct broker b; /* the folder alone, and a second broker */
static char runtime[128], state[128];

static void setup(void)
{
	broker_init(&b);
	snprintf(runtime, sizeof(runtime), "%s/run", b.dir);
	snprintf(state, sizeof(state), "%s/state", b.dir);
	unsetenv("NOTIFY_SOCKET");
}

static void teardown(void)
{
	broker_fini(&b);
}

static const char *path(const char *name)
{
	static char text[160];

	snprintf(text, sizeof(text), "%s/%s", b.dir, name);
	return text;
}

static void file_put(const char *name, const char *text)
{
	FILE *f = fopen(path(name), "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fchmod(fileno(f), 0600), 0);
	fclose(f);
}

/* It ends with that status, and says both: why, and what to do. Each line tells who speaks. */
static void refuses(int status, const char *why, const char *what_to_do, ...)
{
	const char *words[RUN_ARGS];
	struct run r;
	va_list ap;
	size_t n = 0;

	va_start(ap, what_to_do);
	while ((words[n] = va_arg(ap, const char *)))
		n++;
	va_end(ap);
	run_program(&r, broker_program(), words);
	run_close_in(&r);
	run_wait(&r);
	ck_assert_msg(r.status == status, "%s: %d instead of %d: %s", why, r.status, status,
		r.error);
	ck_assert_str_eq(r.text, "");
	ck_assert_msg(strstr(r.error, why), "no '%s' in: %s", why, r.error);
	ck_assert_msg(strstr(r.error, what_to_do), "no '%s' in: %s", what_to_do, r.error);
	for (const char *line = r.error, *end; (end = strchr(line, '\n')); line = end + 1)
		ck_assert_msg(!strncmp(line, "approvald: ", 11) ||
				      !strcmp(line, "Try 'approvald --help'.\n"),
			"'%s' does not say who speaks", line);
	run_free(&r);
}
#define USAGE(why, ...) refuses(2, why, "Try 'approvald --help'.", __VA_ARGS__, NULL)
#define STARTS_NOT(status, why, what_to_do)                                                    \
	refuses(status, why, what_to_do, "--runtime-dir", runtime, "--state-dir", state,       \
		"--config", b.config, NULL)

START_TEST(command_line)
{
	USAGE("unknown or ambiguous option '--frobnicate'", "--frobnicate");
	USAGE("unknown or ambiguous option '-x'", "-x");
	USAGE("'--config' needs a value\n", "--config");
	USAGE("'--config' needs a value that is not empty", "--config", "");
	USAGE("'--runtime-dir' needs a value that is not empty", "--runtime-dir=");
	USAGE("'--state-dir' needs a value that is not empty", "--state-dir", "");
	USAGE("unexpected argument 'start'", "start");
	USAGE("--store is sqlite, memory or none", "--store", "paper");
	USAGE("no such log level: 'loud'", "--log-level", "loud");
}
END_TEST

START_TEST(configuration)
{
	const char *advice = "correct it, or name another with --config";

	broker_configure(&b, "[broker]\ndefault-mode = sudo\n");
	STARTS_NOT(3, "approvald.conf:2", advice);
	broker_configure(&b, "[broker]\nfrobnicate = 1\n");
	STARTS_NOT(3, "approvald.conf:2", advice);
	unlink(b.config);
	STARTS_NOT(3, b.config, advice);
	broker_configure(&b, "");
	file_put("rules", "allow Bash(\n");
	STARTS_NOT(3, "/rules:1:", "put right what is named above, or move the file away");
	unlink(path("rules"));
	file_put("floor", "frob x\n");
	STARTS_NOT(3, "/floor:1:", "put right what is named above, or move the file away");
}
END_TEST

START_TEST(store)
{
	const char *folder = "put that right, or name another with --state-dir";

	file_put("state", "");
	STARTS_NOT(4, "/state: Not a directory", folder);
	unlink(state);
	ck_assert_int_eq(symlink(".", state), 0);
	STARTS_NOT(4, "/state: it is a symbolic link", folder);
	unlink(state);
	ck_assert_int_eq(mkdir(state, 0700), 0);
	ck_assert_int_eq(chmod(state, 0777), 0);
	STARTS_NOT(4, "others may write to it", folder);
	ck_assert_int_eq(chmod(state, 0700), 0);
	file_put("state/history.db", "this is no database, although it is long enough for one "
				     "to be looked for in it, is it not?");
	STARTS_NOT(4, "history.db: it is corrupt", "move it away, or restore a copy");
	unlink(path("state/history.db"));
	ck_assert_int_eq(mkdir(path("state/history.db"), 0700), 0);
	STARTS_NOT(4, "history.db: ", "name another folder with --state-dir");
	ck_assert_int_eq(rmdir(path("state/history.db")), 0);
	ck_assert_int_eq(symlink("nowhere", path("state/history.db")), 0);
	STARTS_NOT(4, "history.db: it is a symbolic link", "name the file itself");
	ck_assert_int_eq(access(path("state/nowhere"), F_OK), -1);
	ck_assert_int_eq(unlink(path("state/history.db")), 0);

	/* a second one on the same store */
	broker_start(&b, NULL);
	refuses(4, "history.db: it is in use by another approvald",
		"end that one, or give this one a --state-dir", "--runtime-dir", path("run2"),
		"--state-dir", state, "--config", b.config, NULL);
	broker_stop(&b);
}
END_TEST

START_TEST(sockets)
{
	const char *folder = "put that right, or name another with --runtime-dir";
	char longer[200];

	file_put("run", "");
	STARTS_NOT(5, "/run: Not a directory", folder);
	unlink(runtime);
	ck_assert_int_eq(symlink(".", runtime), 0);
	STARTS_NOT(5, "/run: it is a symbolic link", folder);
	unlink(runtime);
	ck_assert_int_eq(mkdir(runtime, 0700), 0);
	file_put("run/agent", "");
	STARTS_NOT(5, "/run/agent: Not a directory", folder);
	unlink(path("run/agent"));
	ck_assert_int_eq(mkdir(path("run/agent"), 0700), 0);
	file_put("run/agent/sock", "");
	STARTS_NOT(5, "what is in its place is none", "remove that");
	unlink(path("run/agent/sock"));

	snprintf(longer, sizeof(longer), "%s/%0100d", b.dir, 0);
	refuses(5, "the path is too long for one", "name a shorter --runtime-dir",
		"--runtime-dir", longer, "--state-dir", state, "--config", b.config, NULL);

	/* a second one on the same sockets */
	broker_start(&b, NULL);
	refuses(5, "another approvald listens there",
		"end that one, or give this one a --runtime-dir", "--runtime-dir", runtime,
		"--state-dir", path("state2"), "--config", b.config, NULL);
	broker_stop(&b);
}
END_TEST

START_TEST(manager)
{
	setenv("NOTIFY_SOCKET", "vsock:1", 1);
	STARTS_NOT(1, "NOTIFY_SOCKET: ", "unset it, or leave it to a service manager");
	unsetenv("NOTIFY_SOCKET");
}
END_TEST

/* ---- a flood of refused connections ---- */

static int connect_to(const char *socket_path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", socket_path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static unsigned lines_with(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

START_TEST(flood)
{
	int held[2];
	struct run r;

	broker_configure(&b, "[limits]\nconnections = 2\n");
	run_program(&r, broker_program(),
		(const char *const[]){"--runtime-dir", runtime, "--state-dir", state,
			"--config", b.config, NULL});
	run_until_error(&r, " listens in ");
	for (int i = 0; i < 2; i++)
		held[i] = connect_to(b.agent);
	for (int i = 0; i < 200; i++) {
		int fd = connect_to(b.agent);
		char c;

		/* it is turned away before the next one comes */
		ck_assert_int_le(read(fd, &c, 1), 0);
		close(fd);
	}
	close(held[0]);
	close(held[1]);
	kill(r.pid, SIGTERM);
	ck_assert_int_eq(run_wait(&r), 0);
	ck_assert_msg(lines_with(r.error, "refused: connections") == 1, "%s", r.error);
	run_free(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("start of the broker");
	TCase *tc = tcase_create("start");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, command_line);
	tcase_add_test(tc, configuration);
	tcase_add_test(tc, store);
	tcase_add_test(tc, sockets);
	tcase_add_test(tc, manager);
	tcase_add_test(tc, flood);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
