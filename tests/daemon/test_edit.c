/* SPDX-License-Identifier: MIT */
/* Edited inputs: their paths are looked up as those of a request, and judged. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libapproval/limits.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define REQUESTS 2

static struct broker b;
static struct raw person;
static pid_t agent;
/* not below the broker's own folder, which is on the floor by its name */
static char work[32];

static struct offer {
	char id[64];
	uint8_t digest[32];
} offers[REQUESTS];

/* Asks for all of them, and leaves with how many were allowed. */
static void agent_run(void)
{
	struct wire_open m, i;
	int allowed = 0, answers = 0;
	struct raw r;

	raw_connect(&r, b.agent);
	if (raw_hello_agent(&r, "a").error.data)
		_exit(99);
	for (unsigned n = 0; n < REQUESTS; n++) {
		char id[16];

		snprintf(id, sizeof(id), "c%u", n);
		wire_map_open(&m, raw_call(&r, "request"));
		wire_map_strz(&m, "tool_call_id", id);
		wire_map_strz(&m, "tool", "Bash");
		wire_map_bool(&m, "takes_input", true);
		wire_map_key(&m, "input");
		wire_map_open(&i, &r.out);
		wire_map_strz(&i, "command", "touch x");
		wire_close(&i);
		wire_close(&m);
		raw_send(&r);
	}
	/* in the order in which they are decided */
	while (answers < REQUESTS) {
		const struct wire_frame f = raw_next(&r);

		if (f.type != WIRE_REPLY)
			continue;
		answers++;
		allowed += bytes_is(raw_text(f.result, "verdict"), "allow");
	}
	_exit(allowed);
}

static void offer_take(struct offer *o)
{
	const struct bytes item =
		raw_member(raw_notification(&person, "offered").params, "item");
	const struct bytes id = raw_text(item, "request"), digest = raw_text(item, "digest");

	snprintf(o->id, sizeof(o->id), "%.*s", (int)id.len, (const char *)id.data);
	ck_assert_uint_eq(digest.len, sizeof(o->digest));
	memcpy(o->digest, digest.data, digest.len);
}

static void setup(void)
{
	struct wire_open m;

	broker_init(&b);
	broker_start(&b, NULL);
	raw_connect(&person, b.frontend);
	ck_assert(!raw_hello_frontend(&person, "human").error.data);
	wire_map_open(&m, raw_call(&person, "subscribe"));
	wire_close(&m);
	ck_assert(!raw_reply(&person, raw_send(&person)).error.data);
	strcpy(work, "/tmp/edit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(work));
	ck_assert_int_eq(chdir(work), 0);
	/* nothing is known yet of what stands in these: the broker's thread has to look */
	ck_assert(mkdir(".git", 0700) == 0 && mkdir("cold0", 0700) == 0 &&
		  mkdir("cold1", 0700) == 0 && mkdir("cold2", 0700) == 0);
	ck_assert_int_eq(symlink("/var/tmp/none/id_rsa", "hidden"), 0);
	agent = fork();
	ck_assert_int_ge(agent, 0);
	if (agent == 0)
		agent_run();
	for (unsigned n = 0; n < REQUESTS; n++)
		offer_take(&offers[n]);
}

static void teardown(void)
{
	raw_close(&person);
	broker_stop(&b);
	broker_fini(&b);
	ck_assert(unlink("hidden") == 0 && rmdir("cold0") == 0 && rmdir("cold1") == 0 &&
		  rmdir("cold2") == 0 && rmdir(".git") == 0);
	ck_assert(chdir("/") == 0 && rmdir(work) == 0);
}

/* What refuses them. */
static const char *step = "floor";

/* Allows the requests with these commands in their place; NULL: not this one. */
static void decide(const char *const commands[REQUESTS], const char *const want[REQUESTS])
{
	struct wire_open m, d, u;
	struct wire_frame reply;
	struct wire_iter it;
	struct bytes result;
	unsigned n = 0;

	wire_map_open(&m, raw_call(&person, "decide"));
	wire_map_key(&m, "decisions");
	for (unsigned i = 0; i < REQUESTS; i++)
		n += commands[i] != NULL;
	wire_pack_array(&person.out, n);
	for (unsigned i = 0; i < REQUESTS; i++) {
		if (!commands[i])
			continue;
		wire_map_open(&d, &person.out);
		wire_map_strz(&d, "request", offers[i].id);
		wire_map_bin(&d, "digest", (struct bytes){offers[i].digest, 32});
		wire_map_strz(&d, "verdict", "allow");
		wire_map_key(&d, "updated_input");
		wire_map_open(&u, &person.out);
		wire_map_strz(&u, "command", commands[i]);
		wire_close(&u);
		wire_close(&d);
	}
	wire_close(&m);
	reply = raw_reply(&person, raw_send(&person));
	ck_assert(!reply.error.data);
	ck_assert_int_eq(wire_iter_array(&it, raw_member(reply.result, "results")), 0);
	for (unsigned i = 0; i < REQUESTS; i++) {
		if (!commands[i])
			continue;
		ck_assert(wire_array_next(&it, &result));
		ck_assert_msg(bytes_is(raw_text(result, "result"), want[i]), "%s: %.*s",
			commands[i], (int)raw_text(result, "result").len,
			(const char *)raw_text(result, "result").data);
		if (strcmp(want[i], "refused") == 0)
			ck_assert(bytes_is(raw_text(result, "step"), step));
	}
}
#define DECIDE(first, second, ...)                                                             \
	decide((const char *const[]){first, second}, (const char *const[]){__VA_ARGS__})

static void allowed(int n)
{
	int status;

	ck_assert_int_eq(waitpid(agent, &status, 0), agent);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), n);
}

START_TEST(a_link_hides_nothing)
{
	DECIDE("touch hidden", NULL, "refused", NULL);
	DECIDE("touch hidden", "touch y", "refused", "ok");
	DECIDE("touch hidden", "touch y", "refused", "gone");
	DECIDE("touch ./hidden z", NULL, "refused", NULL);
	DECIDE("touch z", NULL, "ok", NULL);
	allowed(2);
}
END_TEST

/* Of more operands than are looked at, some are not. */
START_TEST(too_many)
{
	char many[1024] = "touch";

	for (int i = 0; i < 70; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), " ./z%d", i);
	snprintf(many + strlen(many), sizeof(many) - strlen(many), " hidden");
	DECIDE(many, NULL, "refused", NULL);
	DECIDE("touch y", "touch z", "ok", "ok");
	allowed(2);
}
END_TEST

/* The call waits where the disk has to be asked, and then says the same. */
START_TEST(looked_up_first)
{
	DECIDE("touch cold0/none hidden", "touch cold1/none hidden", "refused", "refused");
	/* and does not where what has to be looked for is known already */
	DECIDE("touch cold0/../hidden", "touch cold1/../hidden", "refused", "refused");
	DECIDE("touch cold2/none", "touch cold0/../cold1", "ok", "ok");
	allowed(2);
}
END_TEST

/* What the project's file says counts as it is now, not as it was at the request. */
START_TEST(rules_read_first)
{
	static const struct timespec old = {.tv_sec = TIME_PROJECT_MS / 1000 + 1};
	FILE *f;

	ck_assert_int_eq(mkdir(".approvald", 0700), 0);
	f = fopen(".approvald/rules", "w");
	ck_assert_ptr_nonnull(f);
	fputs("deny Bash(frob *)\n", f);
	ck_assert_int_eq(fclose(f), 0);
	/* the last look has to be so old that another is due; nothing tells of that */
	ck_assert_int_eq(nanosleep(&old, NULL), 0);
	step = "deny-rules";
	DECIDE("frob x", "frob cold0/none", "refused", "refused");
	DECIDE("touch y", "touch z", "ok", "ok");
	allowed(2);
	ck_assert(unlink(".approvald/rules") == 0 && rmdir(".approvald") == 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("edit");
	TCase *t = tcase_create("all");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_link_hides_nothing);
	tcase_add_test(t, looked_up_first);
	tcase_add_test(t, too_many);
	tcase_add_test(t, rules_read_first);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
