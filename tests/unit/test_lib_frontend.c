/* SPDX-License-Identifier: MIT */
/* The frontend's side: snapshots without gap or duplicate, decisions that are sent once. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test_lib_peer.h"

static struct peer peer;
static struct approval *client;

/* "a b c" of the names of items, "+n" of events, "|" for the end of a snapshot, "-" of a loss
 */
static char seen[512];
static int snapshots, losses, gave_up;
static bool any_snapshot, any_loss, any_event, any_end;
static char why[32];

static void see(const char *what, const char *name)
{
	size_t len = strlen(seen);

	snprintf(seen + len, sizeof(seen) - len, "%s%s", what, name);
}

static void on_event(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	switch (event) {
	case APPROVAL_CONNECTED: break;
	case APPROVAL_DISCONNECTED:
		see("-", "");
		losses++;
		any_loss = true;
		break;
	case APPROVAL_GAVE_UP:
		gave_up++;
		any_end = true;
		snprintf(why, sizeof(why), "%s", error->code);
		break;
	case APPROVAL_NOTIFICATION:
		if (strcmp(name, "item") == 0) {
			see("", approval_value_text(value, "name"));
		} else {
			see("+",
				approval_value_text(approval_value_get(value, "item"), "name"));
			any_event = true;
		}
		break;
	case APPROVAL_SNAPSHOT:
		see("|", "");
		snapshots++;
		any_snapshot = true;
		break;
	}
}

static void setup(void)
{
	seen[0] = '\0';
	snapshots = losses = gave_up = 0;
	any_snapshot = any_loss = any_event = any_end = false;
	peer_open(&peer, APPROVAL_FRONTEND);
	client = peer_client(&peer);
	approval_on_event(client, on_event, NULL);
	ck_assert_int_eq(approval_subscribe(client), 0);
}

static void teardown(void)
{
	approval_free(client);
	peer_close(&peer);
}

/* The answer to a subscribe: an item for each letter, and a cursor where more follow. */
static void page_from(const char *epoch, const char *names, const char *cursor)
{
	struct wire_buffer b;
	struct wire_open map, items, item;
	char name[2] = "";

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_ok(&b, peer.id);
	wire_map_open(&map, &b);
	wire_map_strz(&map, "epoch", epoch);
	wire_map_key(&map, "items");
	wire_array_open(&items, &b);
	for (; *names; names++) {
		name[0] = *names;
		wire_array_item(&items);
		wire_map_open(&item, &b);
		wire_map_strz(&item, "name", name);
		wire_close(&item);
	}
	wire_close(&items);
	wire_map_bool(&map, "more", cursor != NULL);
	wire_map_bin(&map, "cursor", bytes_of(cursor));
	wire_close(&map);
	peer_send_buffer(&peer, client, &b);
}

static void page(const char *names, const char *cursor)
{
	page_from(peer.epoch, names, cursor);
}

static void expect_subscribe(const char *cursor)
{
	peer_expect(&peer, client, "subscribe");
	ck_assert_str_eq(peer_param(&peer, "cursor"), cursor);
}

static void expect_seen(const char *text)
{
	ck_assert_str_eq(seen, text);
	seen[0] = '\0';
}

static void run_for(bool *what)
{
	peer_run(client, what);
	*what = false;
}

START_TEST(test_hello)
{
	static const char *const answers[] = {"tool_call", "question", NULL};
	struct approval_options o = peer_options(&peer);

	o.role = "policy";
	o.name = "p";
	o.answers = answers;
	o.reasons = o.headless = true;
	approval_free(client);
	ck_assert_int_eq(approval_new(&client, &o), 0);
	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	ck_assert_uint_eq(approval_value_count(peer.params), 7);
	ck_assert_str_eq(peer_param(&peer, "role"), "policy");
	ck_assert_str_eq(peer_param(&peer, "name"), "p");
	ck_assert_str_eq(
		approval_value_str(
			approval_value_at(approval_value_get(peer.params, "answers"), 1), NULL),
		"question");
	ck_assert_int_eq(peer.passed_fd, -1);
}
END_TEST

START_TEST(test_pages_then_events)
{
	peer_greet(&peer, client);
	expect_subscribe("");
	page("ab", "more");
	expect_subscribe("more");
	/* an event of something that was told already, while pages are pulled */
	peer_event(&peer, client, "refreshed", "a");
	page("c", "last");
	expect_subscribe("last");
	page("", NULL);
	run_for(&any_snapshot);
	any_event = false;
	peer_event(&peer, client, "offered", "d");
	run_for(&any_event);
	expect_seen("ab+ac|+d");
	/* once is enough */
	ck_assert_int_eq(approval_subscribe(client), 0);
	peer_expect_nothing(&peer, client);
}
END_TEST

START_TEST(test_subscribe_late)
{
	approval_free(client);
	client = peer_client(&peer);
	approval_on_event(client, on_event, NULL);
	peer_greet(&peer, client);
	/* what is no event of a subscription is only passed on */
	peer_notify(&peer, client, "news", "item", "x", NULL);
	run_for(&any_event);
	ck_assert_int_eq(approval_subscribe(client), 0);
	expect_subscribe("");
	page("a", NULL);
	run_for(&any_snapshot);
	expect_seen("+a|");
}
END_TEST

START_TEST(test_reconnect_subscribes_again)
{
	peer_greet(&peer, client);
	expect_subscribe("");
	page("a", "more");
	/* lost in the middle of the pages */
	expect_subscribe("more");
	peer_hang_up(&peer);
	peer.epoch = "second";
	peer_greet(&peer, client);
	expect_subscribe("");
	page("ab", NULL);
	run_for(&any_snapshot);
	expect_seen("a-ab|");
	/* events count from one again */
	peer_event(&peer, client, "offered", "c");
	run_for(&any_event);
	peer_hang_up(&peer);
	peer_greet(&peer, client);
	expect_subscribe("");
	page("", NULL);
	run_for(&any_snapshot);
	expect_seen("+c-|");
	ck_assert_int_eq(gave_up, 0);
}
END_TEST

/* Runs from a complete snapshot to the one after the trouble. */
static void expect_new_snapshot(const char *text)
{
	peer_expect_end(&peer, client);
	peer_greet(&peer, client);
	expect_subscribe("");
	page("z", NULL);
	run_for(&any_snapshot);
	expect_seen(text);
}

static void first_snapshot(void)
{
	peer_greet(&peer, client);
	expect_subscribe("");
	page("a", NULL);
	run_for(&any_snapshot);
	expect_seen("a|");
}

START_TEST(test_gap)
{
	first_snapshot();
	peer_event(&peer, client, "offered", "b");
	peer.seq++;
	peer_event(&peer, client, "offered", "d");
	expect_new_snapshot("+b-z|");
}
END_TEST

START_TEST(test_duplicate)
{
	first_snapshot();
	peer_event(&peer, client, "offered", "b");
	peer.seq--;
	peer_event(&peer, client, "offered", "b");
	expect_new_snapshot("+b-z|");
}
END_TEST

START_TEST(test_event_of_another_epoch)
{
	first_snapshot();
	peer.epoch = "other";
	peer_event(&peer, client, "offered", "b");
	expect_new_snapshot("-z|");
}
END_TEST

START_TEST(test_event_without_seq)
{
	first_snapshot();
	peer_notify(&peer, client, "offered", "epoch", peer.epoch, NULL);
	expect_new_snapshot("-z|");
}
END_TEST

START_TEST(test_page_of_another_epoch)
{
	peer_greet(&peer, client);
	expect_subscribe("");
	page_from("other", "a", NULL);
	expect_new_snapshot("-z|");
}
END_TEST

START_TEST(test_page_nonsense)
{
	peer_greet(&peer, client);
	expect_subscribe("");
	peer_reply(&peer, client, peer.id, "epoch", "first", NULL);
	expect_new_snapshot("-z|");
}
END_TEST

START_TEST(test_subscribe_put_off)
{
	peer_greet(&peer, client);
	expect_subscribe("");
	peer_error(&peer, client, peer.id, WIRE_SHUTDOWN, "stopping");
	expect_new_snapshot("-z|");
}
END_TEST

START_TEST(test_subscribe_refused)
{
	peer_greet(&peer, client);
	expect_subscribe("");
	peer_error(&peer, client, peer.id, WIRE_FORBIDDEN, "you are an agent");
	run_for(&any_end);
	ck_assert_str_eq(why, "forbidden");
	ck_assert_int_eq(approval_dispatch(client), -EREMOTEIO);
	ck_assert_int_eq(approval_subscribe(client), -EREMOTEIO);
	peer_expect_end(&peer, client);
}
END_TEST

START_TEST(test_byte_by_byte)
{
	peer.trickle = true;
	first_snapshot();
	peer_event(&peer, client, "offered", "b");
	expect_seen("+b");
}
END_TEST

/* ---- decide ---- */

struct answer {
	bool done;
	int times, status;
	size_t results;
};

static void on_reply(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	struct answer *answer = arg;

	answer->done = true;
	answer->times++;
	answer->status = status;
	answer->results = approval_value_count(approval_value_get(result, "results"));
}

static const unsigned char digest[32] = {7};

static struct approval_answer allow(const char *request)
{
	return (struct approval_answer){
		.size = sizeof(struct approval_answer),
		.request = request,
		.digest = digest,
		.verdict = APPROVAL_ALLOW,
	};
}

START_TEST(test_decide)
{
	struct approval_answer answers[2] = {allow("req_1"), allow("req_2")};
	const struct approval_value *list, *one;
	struct answer answer = {0};
	struct wire_buffer b;
	struct wire_open map;
	size_t len;

	answers[0].scope = "session";
	answers[0].updated_input = "\x81\xa1k\x01";
	answers[0].updated_input_len = 4;
	answers[1].verdict = APPROVAL_DENY;
	answers[1].digest = NULL;
	answers[1].reason = "no";
	first_snapshot();
	ck_assert_int_eq(approval_decide(client, answers, 2, on_reply, &answer, NULL), 0);
	peer_expect(&peer, client, "decide");
	list = approval_value_get(peer.params, "decisions");
	ck_assert_uint_eq(approval_value_count(list), 2);
	one = approval_value_at(list, 0);
	ck_assert_str_eq(approval_value_text(one, "request"), "req_1");
	ck_assert_str_eq(approval_value_text(one, "verdict"), "allow");
	ck_assert_str_eq(approval_value_text(one, "scope"), "session");
	ck_assert_mem_eq(
		approval_value_str(approval_value_get(one, "digest"), &len), digest, 32);
	ck_assert_uint_eq(len, 32);
	ck_assert_int_eq(approval_value_int(approval_value_get(
				 approval_value_get(one, "updated_input"), "k")),
		1);
	one = approval_value_at(list, 1);
	ck_assert_str_eq(approval_value_text(one, "verdict"), "deny");
	ck_assert_str_eq(approval_value_text(one, "reason"), "no");
	ck_assert_ptr_null(approval_value_get(one, "digest"));

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_ok(&b, peer.id);
	wire_map_open(&map, &b);
	wire_map_raw(&map, "results", (struct bytes){"\x92\x80\x80", 3});
	wire_close(&map);
	peer_send_buffer(&peer, client, &b);
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, 0);
	ck_assert_uint_eq(answer.results, 2);
}
END_TEST

START_TEST(test_decide_is_not_repeated)
{
	struct approval_answer one = allow("req_1");
	struct answer answer = {0};

	first_snapshot();
	ck_assert_int_eq(approval_decide(client, &one, 1, on_reply, &answer, NULL), 0);
	peer_expect(&peer, client, "decide");
	peer_hang_up(&peer);
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, -ENOTCONN);
	peer_greet(&peer, client);
	expect_subscribe("");
	peer_expect_nothing(&peer, client);
	ck_assert_int_eq(answer.times, 1);
}
END_TEST

START_TEST(test_bad_decisions)
{
	struct approval_answer one = allow("req_1"), many[2] = {allow("req_1"), allow("req_2")};
	struct answer answer = {0};

	one.digest = NULL; /* an allow of what was not seen */
	ck_assert_int_eq(approval_decide(client, &one, 1, on_reply, &answer, NULL), -EINVAL);
	one = allow(NULL);
	ck_assert_int_eq(approval_decide(client, &one, 1, on_reply, &answer, NULL), -EINVAL);
	one = allow("req_1");
	one.verdict = APPROVAL_ASK;
	ck_assert_int_eq(approval_decide(client, &one, 1, on_reply, &answer, NULL), -EINVAL);
	one.verdict = APPROVAL_NONE;
	ck_assert_int_eq(approval_decide(client, &one, 1, on_reply, &answer, NULL), -EINVAL);
	one = allow("req_1");
	one.size = 0;
	ck_assert_int_eq(approval_decide(client, &one, 1, on_reply, &answer, NULL), -EINVAL);
	one = allow("req_1");
	one.updated_input = "\x91";
	one.updated_input_len = 1;
	ck_assert_int_eq(approval_decide(client, &one, 1, on_reply, &answer, NULL), -EINVAL);
	ck_assert_int_eq(approval_decide(client, &one, 0, on_reply, &answer, NULL), -EINVAL);
	ck_assert_int_eq(
		approval_decide(client, &one, LIMIT_DECISIONS + 1, on_reply, &answer, NULL),
		-EINVAL);
	/* one bad one spoils all */
	many[1].digest = NULL;
	ck_assert_int_eq(approval_decide(client, many, 2, on_reply, &answer, NULL), -EINVAL);
	first_snapshot();
	peer_expect_nothing(&peer, client);
	ck_assert_int_eq(answer.times, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_frontend");
	TCase *t = tcase_create("frontend");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, test_hello);
	tcase_add_test(t, test_pages_then_events);
	tcase_add_test(t, test_subscribe_late);
	tcase_add_test(t, test_reconnect_subscribes_again);
	tcase_add_test(t, test_gap);
	tcase_add_test(t, test_duplicate);
	tcase_add_test(t, test_event_of_another_epoch);
	tcase_add_test(t, test_event_without_seq);
	tcase_add_test(t, test_page_of_another_epoch);
	tcase_add_test(t, test_page_nonsense);
	tcase_add_test(t, test_subscribe_put_off);
	tcase_add_test(t, test_subscribe_refused);
	tcase_add_test(t, test_byte_by_byte);
	tcase_add_test(t, test_decide);
	tcase_add_test(t, test_decide_is_not_repeated);
	tcase_add_test(t, test_bad_decisions);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
