/* SPDX-License-Identifier: MIT */
/* Standing rules, with the real broker: added, kept and removed. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* key NULL: no further parameter. */
static struct wire_frame rule_add(
	struct raw *f, const char *rule, const char *scope, const char *key, struct bytes value)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(f, "rules_add"));
	wire_map_strz(&m, "rule", rule);
	wire_map_strz(&m, "scope", scope);
	if (key)
		wire_map_str(&m, key, value);
	wire_close(&m);
	return raw_reply(f, raw_send(f));
}

static uint64_t added(struct raw *f, const char *rule)
{
	const struct wire_frame reply =
		rule_add(f, rule, "user", NULL, (struct bytes){NULL, 0});

	ck_assert_msg(!reply.error.data, "%s", rule);
	return raw_uint(reply.result, "id");
}

static bool removed(struct raw *f, uint64_t id)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(f, "rules_remove"));
	wire_map_u64(&m, "id", id);
	wire_close(&m);
	return !raw_reply(f, raw_send(f)).error.data;
}

/* How many there are; of the one with that text, how often it matched: -1: there is none. */
static unsigned listed(struct raw *f, const char *rule, int64_t *matches, unsigned limit)
{
	struct raw_pages pages = {.r = f, .method = "rules_list", .limit = limit};
	struct bytes page, item;
	struct wire_iter it;
	unsigned n = 0;

	*matches = -1;
	while (raw_pages_next(&pages, &page, &it)) {
		ck_assert_uint_le(pages.len, 64);
		while (wire_array_next(&it, &item)) {
			n++;
			if (bytes_is(raw_text(item, "rule"), rule))
				*matches = (int64_t)raw_uint(item, "matches");
		}
	}
	return n;
}

static void history_has(struct raw *f, const char *event, uint64_t id)
{
	struct wire_frame reply;
	struct bytes item;
	struct wire_iter it;
	struct wire_open m;

	wire_map_open(&m, raw_call(f, "history"));
	wire_map_strz(&m, "event", event);
	wire_close(&m);
	reply = raw_reply(f, raw_send(f));
	ck_assert_int_eq(wire_iter_array(&it, raw_member(reply.result, "items")), 0);
	while (wire_array_next(&it, &item))
		if (raw_uint(item, "rule_id") == id)
			return;
	ck_abort_msg("no %s of rule %llu", event, (unsigned long long)id);
}

static void changed(struct raw *f, const char *change, uint64_t id)
{
	const struct wire_frame event = raw_notification(f, "rule_changed");

	ck_assert(bytes_is(raw_text(event.params, "change"), change));
	ck_assert_uint_eq(raw_uint(raw_member(event.params, "rule"), "id"), id);
}

START_TEST(standing)
{
	struct raw f, other;
	uint64_t id, denies;
	int64_t matches;

	file_write("rules", "allow Bash(file)\n");
	broker_start(&b, NULL);
	person_open(&f);
	person_open(&other);
	id = added(&f, "allow   Bash(frob *)  # why not");
	changed(&other, "added", id);
	allowed("frob x", "allow Bash(frob *)");
	allowed("frob y", NULL);
	history_has(&f, "decision", id);
	/* the same once more is the same one */
	ck_assert_uint_eq(added(&f, "allow Bash(frob *)"), id);
	denies = added(&f, "deny Bash(frob z)");
	ck_assert_uint_gt(denies, id);
	denied("frob z", "deny Bash(frob z)");
	history_has(&f, "decision", denies);
	ck_assert_uint_eq(listed(&f, "allow Bash(frob *)", &matches, 1), 3);
	ck_assert_int_eq(matches, 2);
	/* they outlive files that are read anew */
	reload();
	allowed("frob x", NULL);
	ck_assert_uint_eq(listed(&f, "allow Bash(frob *)", &matches, 500), 3);
	ck_assert_int_eq(matches, 3);
	history_has(&f, "rule_added", id);
	raw_close(&f);
	raw_close(&other);
	/* and a death without notice */
	broker_kill(&b);
	broker_start(&b, NULL);
	allowed("frob x", "allow Bash(frob *)");
	denied("frob z", NULL);
	person_open(&f);
	ck_assert_uint_eq(listed(&f, "allow Bash(frob *)", &matches, 2), 3);
	person_open(&other);
	ck_assert(removed(&f, id));
	changed(&other, "removed", id);
	raw_close(&other);
	ck_assert(!removed(&f, id));
	history_has(&f, "rule_removed", id);
	asked("frob x");
	raw_close(&f);
	broker_stop(&b);
	/* at an end that is asked for their counts are kept, and ids are not used again */
	broker_start(&b, NULL);
	asked("frob x");
	person_open(&f);
	ck_assert_uint_eq(listed(&f, "deny Bash(frob z)", &matches, 2), 2);
	ck_assert_int_eq(matches, 1);
	ck_assert_uint_gt(added(&f, "allow Bash(frob *)"), denies);
	raw_close(&f);
	broker_stop(&b);
}
END_TEST

static void invalid(struct wire_frame reply, const char *code)
{
	ck_assert(reply.error.data);
	ck_assert(bytes_is(raw_text(reply.error, "code"), code));
}

START_TEST(standing_refused)
{
	const struct bytes none = {NULL, 0};
	struct wire_open m;
	struct raw f;
	int64_t matches;

	broker_start(&b, NULL);
	person_open(&f);
	invalid(rule_add(&f, "allow", "user", NULL, none), "invalid");
	invalid(rule_add(&f, "# none", "user", NULL, none), "invalid");
	invalid(rule_add(&f, "allow Bash(x)", "once", NULL, none), "invalid");
	invalid(rule_add(&f, "allow Bash(x)", "admin", NULL, none), "invalid");
	invalid(rule_add(&f, "allow Bash(x)", "session", NULL, none), "invalid");
	invalid(rule_add(&f, "allow Bash(x)", "turn", NULL, none), "not_found");
	invalid(rule_add(&f, "allow Bash(x)", "project", NULL, none), "invalid");
	invalid(rule_add(&f, "allow Bash(x)", "project", "project", bytes_of("relative")),
		"invalid");
	wire_map_open(&m, raw_call(&f, "rules_add"));
	wire_map_strz(&m, "rule", "allow Bash(x)");
	wire_map_strz(&m, "scope", "user");
	wire_map_i64(&m, "expires", 1);
	wire_close(&m);
	invalid(raw_reply(&f, raw_send(&f)), "invalid");
	ck_assert_uint_eq(listed(&f, "allow Bash(x)", &matches, 10), 0);
	raw_close(&f);
	/* who only looks on changes nothing */
	raw_connect(&f, b.frontend);
	ck_assert(!raw_hello_frontend(&f, "observer").error.data);
	invalid(rule_add(&f, "allow Bash(x)", "user", NULL, none), "forbidden");
	raw_close(&f);
	asked("x");
	broker_stop(&b);
}
END_TEST

/* An agent that stays until it is told to go. */
static pid_t agent_stays(const char *key, int *to)
{
	int p[2], ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct wire_open m;
		struct raw r;

		close(p[1]);
		raw_connect(&r, b.agent);
		ck_assert(!raw_hello_agent(&r, key).error.data);
		ck_assert_int_eq(write(ready[1], "x", 1), 1);
		while (read(p[0], &c, 1) < 0)
			;
		wire_map_open(&m, raw_call(&r, "bye"));
		wire_map_bool(&m, "end", true);
		wire_close(&m);
		raw_reply(&r, raw_send(&r));
		_exit(0);
	}
	close(p[0]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	*to = p[1];
	return pid;
}

START_TEST(of_a_session)
{
	struct wire_frame reply;
	struct bytes item;
	char session[64];
	struct wire_iter it;
	struct wire_open m;
	struct raw f;
	int64_t matches;
	uint64_t id;
	pid_t agent;
	int to;

	broker_start(&b, NULL);
	person_open(&f);
	agent = agent_stays("stays", &to);
	wire_map_open(&m, raw_call(&f, "sessions"));
	wire_close(&m);
	reply = raw_reply(&f, raw_send(&f));
	ck_assert_int_eq(wire_iter_array(&it, raw_member(reply.result, "items")), 0);
	ck_assert(wire_array_next(&it, &item));
	item = raw_text(item, "session");
	snprintf(session, sizeof(session), "%.*s", (int)item.len, (const char *)item.data);
	reply = rule_add(&f, "allow Bash(frob)", "session", "session", bytes_of(session));
	ck_assert(!reply.error.data);
	id = raw_uint(reply.result, "id");
	ck_assert_uint_eq(listed(&f, "allow Bash(frob)", &matches, 10), 1);
	/* it is no other session's, and goes with its own */
	asked("frob");
	ck_assert_int_eq(write(to, "x", 1), 1);
	ck_assert_int_eq(waitpid(agent, NULL, 0), agent);
	changed(&f, "expired", id);
	history_has(&f, "rule_expired", id);
	ck_assert_uint_eq(listed(&f, "allow Bash(frob)", &matches, 10), 0);
	close(to);
	raw_close(&f);
	broker_stop(&b);
}
END_TEST

/* ---- a store that fails ---- */

/* SQLite's lock of the one writer: a byte of the index of the write-ahead log. */
#define WRITE_LOCK 120

static void store_lock(int fd, short type)
{
	struct flock l = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = WRITE_LOCK, .l_len = 1};

	ck_assert_int_eq(fcntl(fd, F_SETLKW, &l), 0);
}

/* What is not recorded is not in force, and what was stays so. */
START_TEST(store_fails)
{
	const struct bytes none = {NULL, 0};
	struct wire_open m;
	char path[128];
	struct raw f;
	int64_t matches;
	uint64_t id;
	int fd;

	broker_start(&b, NULL);
	person_open(&f);
	id = added(&f, "deny Bash(frob)");
	snprintf(path, sizeof(path), "%s/state/history.db-shm", b.dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	store_lock(fd, F_WRLCK);
	invalid(rule_add(&f, "allow Bash(twist)", "user", NULL, none), "store");
	wire_map_open(&m, raw_call(&f, "rules_remove"));
	wire_map_u64(&m, "id", id);
	wire_close(&m);
	invalid(raw_reply(&f, raw_send(&f)), "store");
	ck_assert_uint_eq(listed(&f, "allow Bash(twist)", &matches, 10), 1);
	ck_assert_int_eq(matches, -1);
	store_lock(fd, F_UNLCK);
	close(fd);
	/* the store is tried again every second */
	for (;;) {
		struct wire_frame reply = rule_add(&f, "allow Bash(third)", "user", NULL, none);

		if (!reply.error.data)
			break;
		invalid(reply, "store");
	}
	ck_assert_uint_eq(listed(&f, "allow Bash(twist)", &matches, 10), 2);
	denied("frob", NULL);
	asked("twist");
	allowed("third", NULL);
	ck_assert(removed(&f, id));
	raw_close(&f);
	broker_kill(&b);
	broker_start(&b, NULL);
	asked("frob");
	asked("twist");
	allowed("third", NULL);
	broker_stop(&b);
}
END_TEST

/* ---- approvalctl ---- */

START_TEST(ctl)
{
	char session[64] = "ses_nothing";
	struct run r;

	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	file_write("rules", "\nallow Bash(file)\n");
	broker_start(&b, NULL);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "allow  Bash(frob *)"), 0);
	ck_assert_str_eq(r.text, "1 allow Bash(frob *)\n");
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "allow Bash(frob *)"), 0);
	ck_assert_str_eq(r.text, "1 allow Bash(frob *) (was there)\n");
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "--project", "/home/u/p", "--expires",
				 "1h", "ask Edit(/x)"),
		0);
	run_free(&r);
	allowed("frob x", NULL);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules"), 0);
	ck_assert_msg(
		strstr(r.text, "allow Bash(frob *)\tin force\t1\t") != NULL, "%s", r.text);
	ck_assert_msg(strstr(r.text, "/rules:2\n") != NULL, "%s", r.text);
	ck_assert_msg(
		strstr(r.text, "2\tproject\task Edit(/x)\tin force") != NULL, "%s", r.text);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "list", "--json", "--scope", "project"), 0);
	ck_assert_msg(strstr(r.text, "\"project\":\"/home/u/p\"") != NULL, "%s", r.text);
	ck_assert_ptr_null(strstr(r.text, "frob"));
	run_free(&r);
	/* what is in a file is read again when that is asked for, or not at all */
	file_write("rules", "allow Bash(twist)\n");
	asked("twist");
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "reload"), 0);
	run_free(&r);
	allowed("twist", "allow Bash(twist)");
	file_write("rules", "alow Bash(twist)\n");
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "reload"), 1);
	run_free(&r);
	allowed("twist", NULL);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "lint"), 0);
	ck_assert_str_eq(r.text, "");
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "allow Bash(frob x)"), 0);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "lint"), 1);
	ck_assert_msg(strncmp(r.text, "rule 3: allow Bash(frob x): shadowed: ", 38) == 0, "%s",
		r.text);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "remove", "3"), 0);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "remove", "1"), 0);
	run_free(&r);
	asked("frob x");
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "remove", "1"), 1);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "alow Bash(x)"), 1);
	ck_assert_msg(strstr(r.error, "column 1") != NULL, "%s", r.error);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "--session", session, "deny Bash"), 1);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add"), 2);
	run_free(&r);
	/* what would be a rule without end, or for nobody knows what */
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "--expires", "0s", "deny Bash"), 2);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "--scope", "project", "deny Bash"), 2);
	ck_assert_msg(strstr(r.error, "--project FOLDER") != NULL, "%s", r.error);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "--scope", "turn", "deny Bash"), 2);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "add", "--project", "p", "deny Bash"), 2);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "remove", "x"), 2);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "frob"), 2);
	run_free(&r);
	broker_stop(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("standing rules");
	TCase *t = ruled_tcase(s);
	SRunner *sr;
	int failed;

	tcase_add_test(t, standing);
	tcase_add_test(t, standing_refused);
	tcase_add_test(t, of_a_session);
	tcase_add_test(t, store_fails);
	tcase_add_test(t, ctl);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
