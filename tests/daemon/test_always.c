/* SPDX-License-Identifier: MIT */
/* Decisions that hold for longer than once: the standing rules that they leave behind. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/limits.h"
#include "tests/ctl/run.h"
#include "tests/daemon/ruled.h"

static void person_open(struct raw *f)
{
	struct wire_open m;

	raw_connect(f, b.frontend);
	ck_assert(!raw_hello_frontend(f, "human").error.data);
	wire_map_open(&m, raw_call(f, "subscribe"));
	wire_close(&m);
	ck_assert(!raw_reply(f, raw_send(f)).error.data);
}

/* Asks in a child, and waits for the answer there, which has to be this verdict. */
static pid_t ask_waiting(const char *command, const char *want)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		ask_body("request", command, want, NULL);
		_exit(0);
	}
	return pid;
}

static void answered(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void offered(struct raw *f, char id[64], char exact[256])
{
	struct bytes item = raw_member(raw_notification(f, "offered").params, "item");
	struct bytes text = raw_text(item, "request"), first;
	struct wire_iter it;

	snprintf(id, 64, "%.*s", (int)text.len, (const char *)text.data);
	exact[0] = '\0';
	ck_assert_int_eq(wire_iter_array(&it, raw_member(item, "suggestions")), 0);
	if (wire_array_next(&it, &first)) {
		text = raw_text(first, "rule");
		snprintf(exact, 256, "%.*s", (int)text.len, (const char *)text.data);
	}
}

START_TEST(always)
{
	char id[64], exact[256];
	struct raw f;
	struct run r;
	pid_t pid;

	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	broker_start(&b, NULL);
	person_open(&f);
	pid = ask_waiting("frob 'a b' *.c", "allow");
	offered(&f, id, exact);
	ck_assert_msg(strncmp(exact, "allow Bash(frob", 15) == 0, "%s", exact);
	ck_assert_int_eq(RUN_WHOLE(&r, "allow", "--always", "user", id), 0);
	run_free(&r);
	answered(pid);
	allowed("frob 'a b' *.c", exact);
	asked("frob 'a b' x.c");
	/* a broader one, which has to be one for this call */
	pid = ask_waiting("frob x", "allow");
	offered(&f, id, exact);
	ck_assert_int_eq(
		RUN_WHOLE(&r, "allow", "--always", "user", "--rule", "allow Bash(twist *)", id),
		1);
	run_free(&r);
	ck_assert_int_eq(
		RUN_WHOLE(&r, "allow", "--always", "user", "--rule", "deny Bash(frob *)", id),
		1);
	run_free(&r);
	ck_assert_int_eq(
		RUN_WHOLE(&r, "allow", "--always", "user", "--rule", "no rule", id), 1);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "allow", "--rule", "allow Bash(frob *)", id), 2);
	run_free(&r);
	ck_assert_int_eq(
		RUN_WHOLE(&r, "allow", "--always", "user", "--rule", "allow Bash(frob *)", id),
		0);
	run_free(&r);
	answered(pid);
	allowed("frob y", "allow Bash(frob *)");
	asked("twist x");
	/* never */
	pid = ask_waiting("twist x", "deny");
	offered(&f, id, exact);
	ck_assert_int_eq(RUN_WHOLE(&r, "deny", "--always", "user", id), 0);
	run_free(&r);
	answered(pid);
	denied("twist x", NULL);
	asked("twist y");
	/* what is on the floor only once */
	pid = ask_waiting("sudo frob", "allow");
	offered(&f, id, exact);
	ck_assert_str_eq(exact, "");
	ck_assert_int_eq(RUN_WHOLE(&r, "allow", "--always", "user", id), 1);
	ck_assert_msg(strstr(r.text, "floor") != NULL, "%s", r.text);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "allow", id), 0);
	run_free(&r);
	answered(pid);
	asked("sudo frob");
	/* they are kept */
	raw_close(&f);
	broker_kill(&b);
	broker_start(&b, NULL);
	allowed("frob y", "allow Bash(frob *)");
	denied("twist x", NULL);
	broker_stop(&b);
}
END_TEST

/* ---- many at once, where few have room ---- */

#define ROOM  9 /* so many rules less than the most are there: one decision may leave 8 */
#define ASKED 12

static void rules_fill(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	for (unsigned i = 0; i < LIMIT_RULES - ROOM; i++)
		fprintf(f, "deny Read(/x/%u)\n", i);
	fclose(f);
	file_write("rules", text);
	free(text);
}

static struct wire_frame deny_all(
	struct raw *f, char ids[ASKED][64], const char *scope, unsigned from)
{
	struct wire_open m, all, one;
	struct wire_buffer *const buffer = raw_call(f, "decide");

	wire_map_open(&m, buffer);
	wire_map_key(&m, "decisions");
	wire_array_open(&all, buffer);
	for (unsigned i = from; i < ASKED; i++) {
		wire_array_item(&all);
		wire_map_open(&one, buffer);
		wire_map_strz(&one, "request", ids[i]);
		wire_map_strz(&one, "verdict", "deny");
		wire_map_strz(&one, "scope", scope);
		wire_close(&one);
	}
	wire_close(&all);
	wire_close(&m);
	return raw_reply(f, raw_send(f));
}

/* Those for which there is room hold; the others are told, and harm none. */
START_TEST(near_the_limit)
{
	char ids[ASKED][64], exact[256], command[32];
	struct bytes element;
	struct wire_frame reply;
	struct wire_iter it;
	struct raw f;
	pid_t pids[ASKED];
	unsigned n = 0;

	rules_fill();
	broker_start(&b, NULL);
	person_open(&f);
	for (unsigned i = 0; i < ASKED; i++) {
		snprintf(command, sizeof(command), "frob %u", i);
		pids[i] = ask_waiting(command, "deny");
		offered(&f, ids[i], exact);
	}
	reply = deny_all(&f, ids, "user", 0);
	ck_assert(!reply.error.data);
	ck_assert_int_eq(wire_iter_array(&it, raw_member(reply.result, "results")), 0);
	for (; wire_array_next(&it, &element); n++) {
		ck_assert_msg(bytes_is(raw_text(element, "result"), n < 2 ? "ok" : "invalid"),
			"%u: %.*s", n, (int)raw_text(element, "message").len,
			(const char *)raw_text(element, "message").data);
		if (n >= 2)
			ck_assert(bytes_is(
				raw_text(element, "message"), "there are too many rules"));
	}
	ck_assert_uint_eq(n, ASKED);
	ck_assert(!deny_all(&f, ids, "once", 2).error.data);
	for (unsigned i = 0; i < ASKED; i++)
		answered(pids[i]);
	denied("frob 1", "deny Bash(frob 1)");
	asked("frob 2");
	raw_close(&f);
	broker_stop(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("standing rules");
	TCase *t = ruled_tcase(s);
	SRunner *sr;
	int failed;

	tcase_add_test(t, always);
	tcase_add_test(t, near_the_limit);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
