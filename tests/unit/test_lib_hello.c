/* SPDX-License-Identifier: MIT */
/* The agent's side, asynchronous: how it is greeted, and by whom. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libapproval/wire/message.h"
#include "tests/unit/lib_client.h"

/* ---- hello ---- */

START_TEST(test_hello)
{
	struct approval_options o = peer_options(&peer);
	struct told told = {0};
	struct stat mine, theirs;

	o.title = "a title";
	o.mode = "plan";
	o.fail_closed = true;
	o.channel_ms = 600000;
	o.subject_pidfd =
		open(peer.folder, O_RDONLY | O_CLOEXEC); /* any will do for this peer */
	ck_assert_int_ge(o.subject_pidfd, 0);
	client_with(&o);
	fstat(o.subject_pidfd, &mine);
	close(o.subject_pidfd); /* it was duplicated */
	approval_on_event(client, on_event, &told);
	ck_assert_int_eq(approval_fd(client), -1);
	ck_assert_int_eq(approval_timeout(client), 0);
	ck_assert_ptr_null(approval_hello(client));
	ck_assert_str_eq(approval_socket(client), peer.path);

	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	ck_assert_str_eq(peer_param(&peer, "client"), "test 1");
	ck_assert_str_eq(peer_param(&peer, "agent"), "tester");
	ck_assert_str_eq(peer_param(&peer, "title"), "a title");
	ck_assert_str_eq(peer_param(&peer, "mode"), "plan");
	ck_assert_int_eq(approval_value_int(approval_value_get(peer.params, "protocol")), 1);
	ck_assert_int_eq(
		approval_value_int(approval_value_get(peer.params, "channel_ms")), 600000);
	ck_assert(approval_value_bool(approval_value_get(peer.params, "subject")));
	ck_assert(approval_value_bool(approval_value_get(peer.params, "fail_closed")));
	ck_assert_ptr_null(approval_value_get(peer.params, "session"));
	ck_assert_int_ge(peer.passed_fd, 0);
	fstat(peer.passed_fd, &theirs);
	ck_assert_uint_eq(mine.st_ino, theirs.st_ino);
	ck_assert_int_eq(told.connected, 0);

	peer_welcome(&peer, client);
	peer_run(client, &told.any_connected);
	ck_assert_int_eq(told.connected, 1);
	ck_assert_str_eq(approval_value_text(approval_hello(client), "session"), "ses_1");
	ck_assert_str_eq(approval_status(client), "connected");
	ck_assert_int_eq(approval_timeout(client), -1);
	ck_assert_int_eq(approval_events(client), 1 /* POLLIN */);
}
END_TEST

START_TEST(test_subject_goes_with_hello_only)
{
	struct approval_options o = peer_options(&peer);
	struct answer answer;
	int i;

	o.subject_pidfd = open(peer.folder, O_RDONLY | O_CLOEXEC);
	client_with(&o);
	close(o.subject_pidfd);
	ask(&answer, "c1");
	for (i = 0; i < 2; i++) { /* on each connection */
		peer_accept(&peer, client);
		peer_expect(&peer, client, "hello");
		ck_assert_int_ge(peer.passed_fd, 0);
		close(peer.passed_fd);
		peer.passed_fd = -1;
		peer_welcome(&peer, client);
		peer_expect(&peer, client, "request");
		ck_assert_int_eq(peer.passed_fd, -1);
	}
	peer_verdict(&peer, client, peer.id, "c1", "deny");
	peer_run(client, &answer.done);
}
END_TEST

START_TEST(test_bad_options)
{
	struct approval_options o = peer_options(&peer);
	struct approval *a;
	char longer[LIMIT_NAME + 2];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	o.agent = NULL;
	ck_assert_int_eq(approval_new(&a, &o), -EINVAL);
	ck_assert_ptr_null(a);
	o.agent = longer;
	ck_assert_int_eq(approval_new(&a, &o), -EINVAL);
	o.agent = "x";
	o.size = 0;
	ck_assert_int_eq(approval_new(&a, &o), -EINVAL);
	o.size = sizeof(o);
	o.subject_pidfd = 4000;
	ck_assert_int_eq(approval_new(&a, &o), -EBADF);
}
END_TEST

START_TEST(test_structures_may_grow)
{
	struct {
		struct approval_options o;
		int newer;
	} wide = {.o = peer_options(&peer)};
	struct approval *a;

	/* a caller that is newer than the library, and does not use what is new */
	wide.o.size = sizeof(wide);
	ck_assert_int_eq(approval_new(&a, &wide.o), 0);
	approval_free(a);
	wide.newer = 1;
	ck_assert_int_eq(approval_new(&a, &wide.o), -E2BIG);
	/* one that is older */
	wide.o.size = offsetof(struct approval_options, role);
	ck_assert_int_eq(approval_new(&a, &wide.o), 0);
	approval_free(a);
}
END_TEST

START_TEST(test_hello_refused)
{
	struct answer answer;
	struct told told = {0};

	approval_on_event(client, on_event, &told);
	ask(&answer, "c1");
	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	peer_error(&peer, client, peer.id, WIRE_BAD_SUBJECT, "no\nsuch thing");
	peer_run(client, &told.any_gave_up);
	ck_assert(answer.done);
	ck_assert_int_eq(answer.status, -EREMOTEIO);
	ck_assert_str_eq(answer.code, "bad_subject");
	ck_assert_str_eq(told.code, "bad_subject");
	ck_assert_str_eq(told.message, "no\nsuch thing");
	/* the status stays on one line */
	ck_assert_ptr_null(strchr(approval_status(client), '\n'));
	ck_assert_ptr_nonnull(strstr(approval_status(client), "no?such thing"));
	ck_assert_int_eq(told.disconnected, 0);
	ck_assert_int_eq(approval_fd(client), -1);
	ck_assert_int_eq(approval_timeout(client), -1);
	ck_assert_int_eq(approval_dispatch(client), -EREMOTEIO);
	ck_assert_int_eq(
		approval_call(client, "x", "\x80", 1, true, NULL, NULL, NULL), -EREMOTEIO);
}
END_TEST

START_TEST(test_hello_put_off)
{
	static const enum wire_code codes[] = {WIRE_SHUTDOWN, WIRE_STORE, WIRE_LIMIT};
	struct answer answer;
	struct told told = {0};
	size_t i;

	approval_on_event(client, on_event, &told);
	ask(&answer, "c1");
	for (i = 0; i < 3; i++) {
		peer_accept(&peer, client);
		peer_expect(&peer, client, "hello");
		peer_error(&peer, client, peer.id, codes[i], "later");
		peer_expect_end(&peer, client);
	}
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_verdict(&peer, client, peer.id, "c1", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
	ck_assert_int_eq(told.gave_up, 0);
}
END_TEST

/* A broker that stops does not decide: the next one does. Only what can't be repeated is told. */
START_TEST(test_call_put_off)
{
	struct answer answer, plain = {0};
	uint32_t id;

	peer_greet(&peer, client);
	ck_assert_int_eq(
		approval_call(client, "x", "\x80", 1, false, on_reply, &plain, NULL), 0);
	ask(&answer, "c1");
	peer_expect(&peer, client, "x");
	peer_error(&peer, client, peer.id, WIRE_SHUTDOWN, "stopping");
	peer_run(client, &plain.done);
	ck_assert_int_eq(plain.status, -EREMOTEIO);
	ck_assert_str_eq(plain.code, "shutdown");
	peer_expect(&peer, client, "request");
	id = peer.id;
	peer_error(&peer, client, id, WIRE_SHUTDOWN, "stopping");
	peer_expect_end(&peer, client);
	ck_assert(!answer.done);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
	peer_verdict(&peer, client, peer.id, "c1", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
}
END_TEST

START_TEST(test_hello_nonsense)
{
	struct answer answer;

	ask(&answer, "c1");
	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	/* a result that lacks everything */
	peer_reply(&peer, client, peer.id, NULL);
	peer_expect_end(&peer, client);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_verdict(&peer, client, peer.id, "c1", "deny");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_DENY);
}
END_TEST

/* ---- who serves ---- */

START_TEST(test_agent_serves_itself)
{
	struct approval_options o = peer_options(&peer);
	struct answer answer;
	struct told told = {0};

	o.trust_socket = false;
	client_with(&o);
	approval_on_event(client, on_event, &told);
	ask(&answer, "c1");
	peer_run(client, &told.any_gave_up);
	ck_assert_int_eq(answer.status, -EACCES);
	ck_assert_str_eq(answer.code, "");
	ck_assert_ptr_nonnull(strstr(told.message, "started by it"));
	/* and was not told a word */
	peer_accept(&peer, NULL);
	peer_expect_end(&peer, NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_hello");
	SRunner *sr = srunner_create(s);
	TCase *t;
	int failed;

	t = client_tcase(s, "hello");
	tcase_add_test(t, test_hello);
	tcase_add_test(t, test_subject_goes_with_hello_only);
	tcase_add_test(t, test_bad_options);
	tcase_add_test(t, test_structures_may_grow);
	tcase_add_test(t, test_hello_refused);
	tcase_add_test(t, test_hello_put_off);
	tcase_add_test(t, test_call_put_off);
	tcase_add_test(t, test_hello_nonsense);
	t = client_tcase(s, "trust");
	tcase_add_test(t, test_agent_serves_itself);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
