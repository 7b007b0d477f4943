/* SPDX-License-Identifier: MIT */
/* approval-run as a job of a shell, at a terminal: stopped, continued, in the background, asked.
 */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/run/launch.h"

static struct broker broker;
static struct run shell;

/* A shell with job control, of which nothing is left of what has been shown. */
static void setup(void)
{
	launch_setup(&broker);
	setenv("APPROVALCTL", "/bin/bash", 1);
	setenv("PS1", "prompt> ", 1);
	run_start_tty(&shell, (const char *const[]){"--norc", "--noprofile", "-i", NULL});
	unsetenv("APPROVALCTL");
	run_next(&shell, "prompt> ");
}

static void teardown(void)
{
	run_write(&shell, "exit\n");
	run_wait(&shell);
	run_free(&shell);
	launch_teardown(&broker);
}

/* What is typed must not be what is awaited: it is echoed. */
#define READS                                                                                  \
	"sh -c 'trap \"echo size-\\$(stty size)\" WINCH; echo up-$((20+22)); read x; "            \
	"echo got-$x-$((1+1))'"

START_TEST(stopped_and_continued)
{
	run_write(&shell, "./approval-run -- " READS "\n");
	run_next(&shell, "up-42");
	run_write(&shell, "\x1a");
	run_next(&shell, "Stopped");
	run_next(&shell, "prompt> ");
	run_write(&shell, "fg\n");
	/* the shell says what it continues, and the program has the terminal again */
	run_next(&shell, "./approval-run -- sh");
	run_write(&shell, "hello\n");
	run_next(&shell, "got-hello-2");
	run_next(&shell, "prompt> ");
}
END_TEST

START_TEST(continued_in_the_background)
{
	run_write(&shell, "./approval-run -- " READS "\n");
	run_next(&shell, "up-42");
	run_write(&shell, "\x1a");
	run_next(&shell, "Stopped");
	run_next(&shell, "prompt> ");
	/* it reads, which nobody may in the background: it is stopped at once, and we with it */
	run_write(&shell, "bg; wait %1; echo waited-$((3+4))\n");
	run_next(&shell, "waited-7");
	run_next(&shell, "prompt> ");
	run_write(&shell, "fg\n");
	run_next(&shell, "./approval-run -- sh");
	run_write(&shell, "again\n");
	run_next(&shell, "got-again-2");
	run_next(&shell, "prompt> ");
}
END_TEST

START_TEST(started_in_the_background)
{
	run_write(&shell, "./approval-run -- sh -c 'echo up-$((20+22)); while [ ! -e \"$0\" ]; do "
			  "sleep 0.01; done; read x; echo got-$x-$((1+1))' ");
	run_write(&shell, broker.dir);
	run_write(&shell, "/go &\n");
	run_next(&shell, "up-42");
	/* the shell has kept the terminal */
	run_write(&shell, "echo mine-$((5+6))\n");
	run_next(&shell, "mine-11");
	run_next(&shell, "prompt> ");
	run_write(&shell, "fg\n");
	run_next(&shell, "./approval-run -- sh");
	{
		char path[300];

		snprintf(path, sizeof(path), "%s/go", broker.dir);
		fclose(fopen(path, "we"));
	}
	run_write(&shell, "fore\n");
	run_next(&shell, "got-fore-2");
	run_next(&shell, "prompt> ");
}
END_TEST

START_TEST(interrupted)
{
	run_write(&shell, "./approval-run -- sh -c 'trap \"echo int-\\$((7+8)); exit 3\" INT; "
			  "echo up-$((20+22)); while :; do sleep 0.01; done'; echo status-$?\n");
	run_next(&shell, "up-42");
	run_write(&shell, "\x03");
	run_next(&shell, "int-15");
	run_next(&shell, "status-3");
	run_next(&shell, "prompt> ");
}
END_TEST

START_TEST(window_size)
{
	const struct winsize size = {.ws_row = 33, .ws_col = 71};

	run_write(&shell, "./approval-run -- " READS "\n");
	run_next(&shell, "up-42");
	ck_assert_int_eq(ioctl(shell.in, TIOCSWINSZ, &size), 0);
	run_write(&shell, "\n");
	run_next(&shell, "size-33 71");
	run_next(&shell, "prompt> ");
}
END_TEST

/* It asks where it is in the foreground, and else does not take the terminal from others. */
START_TEST(asked_in_the_foreground_only)
{
	run_write(&shell, "./approval-run --budget-wall 300ms -- sh -c 'echo up-$((20+22)); "
			  "while :; do :; done' &\n");
	run_next(&shell, "up-42");
	run_next(&shell, "is suspended");
	run_write(&shell, "echo mine-$((5+6))\n");
	run_next(&shell, "mine-11");
	run_next(&shell, "prompt> ");
	run_write(&shell, "fg\n");
	run_next(&shell, "k: kill it");
	/* stopped while it asks, too */
	run_write(&shell, "\x1a");
	run_next(&shell, "Stopped");
	run_next(&shell, "prompt> ");
	run_write(&shell, "fg\n");
	run_next(&shell, "k: kill it");
	run_write(&shell, "k\n");
	run_next(&shell, "prompt> ");
	run_write(&shell, "echo status-$?\n");
	run_next(&shell, "status-1");
	run_next(&shell, "prompt> ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("job");
	TCase *t = tcase_create("job");
	SRunner *sr;
	int failed;

	if (broker_valgrind() || !launch_possible())
		return 77;
	if (access("/bin/bash", X_OK)) {
		puts("skipped: there is no bash");
		return 77;
	}
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, stopped_and_continued);
	tcase_add_test(t, continued_in_the_background);
	tcase_add_test(t, started_in_the_background);
	tcase_add_test(t, interrupted);
	tcase_add_test(t, window_size);
	tcase_add_test(t, asked_in_the_foreground_only);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
