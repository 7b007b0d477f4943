/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontends/hook/transcript.h"
#include "libapproval/approval.h"

#define PROMPT(id)                                                                             \
	"{\"type\":\"user\",\"promptId\":\"" id "\",\"message\":{\"content\":\"go\"}}\n"
#define ANSWER(id, in, out)                                                                    \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"" id                                    \
	"\",\"usage\":{\"input_tokens\":" in ",\"output_tokens\":" out "}}}\n"

struct seen {
	char text[4096];
};

static char path[64];

static void setup(void)
{
	int fd;

	strcpy(path, "/tmp/test_hook_transcript.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
}

static void put(const char *text)
{
	FILE *f = fopen(path, "a");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void see(const struct tally *t, enum tally_event event, void *arg)
{
	struct seen *s = arg;
	size_t len = strlen(s->text);

	snprintf(s->text + len, sizeof(s->text) - len, "%s %s %llu;",
		event == TALLY_TURN_OVER ? "over" : "interrupted", t->turn,
		(unsigned long long)tally_total(t, TALLY_INPUT));
}

static int go_on(struct tally *t, struct seen *s)
{
	return tally_read(t, path, TALLY_BEGIN, 1 << 20, s ? see : NULL, s);
}

/* Through the bytes that the broker keeps. */
static void keep(struct tally *t)
{
	struct approval_pack *p = NULL;
	struct tally copy = *t;
	const void *data;
	size_t len;

	ck_assert_int_eq(approval_pack_new(&p), 0);
	ck_assert_int_eq(tally_save(t, p), 0);
	data = approval_pack_data(p, &len);
	ck_assert_uint_le(len, 2048);
	memset(t, 0xff, sizeof(*t));
	ck_assert_int_eq(tally_load(t, data, len), 0);
	ck_assert_uint_eq(tally_seq(t), tally_seq(&copy));
	ck_assert_str_eq(t->turn, copy.turn);
	approval_pack_free(p);
}

START_TEST(test_sums)
{
	struct seen s = {""};
	struct tally t = {0};

	put(PROMPT("p1") ANSWER("a", "10", "1") ANSWER("a", "10", "5") ANSWER("b", "3", "2"));
	ck_assert_int_eq(go_on(&t, &s), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 13);
	ck_assert_uint_eq(tally_total(&t, TALLY_OUTPUT), 7);
	keep(&t);
	put(ANSWER("a", "10", "4") ANSWER("b", "3", "9"));
	ck_assert_int_eq(go_on(&t, &s), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_OUTPUT), 14);
	ck_assert(t.answered);
	keep(&t);
	put(PROMPT("p2"));
	ck_assert_int_eq(go_on(&t, &s), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 0);
	ck_assert(!t.answered);
	ck_assert_str_eq(s.text, "over p1 13;");
}
END_TEST

/* However the bytes come, the sums are the same. */
START_TEST(test_every_cut)
{
	static const char text[] = PROMPT("p") ANSWER("a", "10", "1") "not json\n\n" ANSWER("b",
		"5",
		"5") "{\"type\":\"assistant\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n";
	size_t n = sizeof(text) - 1, i;

	for (i = 0; i <= n; i++) {
		struct tally t = {0};
		char part[sizeof(text)];

		ck_assert_int_eq(truncate(path, 0), 0);
		memcpy(part, text, i);
		part[i] = '\0';
		put(part);
		ck_assert_int_eq(go_on(&t, NULL), 0);
		keep(&t);
		put(text + i);
		ck_assert_int_eq(go_on(&t, NULL), 0);
		ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 16);
		ck_assert_uint_eq(t.offset, n);
	}
}
END_TEST

START_TEST(test_hostile_numbers)
{
	struct tally t = {0};

	put(PROMPT("p") ANSWER("a", "-5", "1") ANSWER("b", "1e3", "\"7\"")
			ANSWER("c", "99999999999999999999999", "2")
				ANSWER("d", "1099511627777", "3") ANSWER("e", "null", "[]"));
	ck_assert_int_eq(go_on(&t, NULL), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 0);
	ck_assert_uint_le(tally_total(&t, TALLY_OUTPUT), 6);
}
END_TEST

START_TEST(test_interrupts)
{
	struct seen s = {""};
	struct tally t = {0};

	put(PROMPT("p"));
	put("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\","
	    "\"content\":"
	    "\"[Request interrupted by user]\"},{\"type\":\"text\",\"text\":\" [Request "
	    "interrupted "
	    "by user]\"}]}}\n");
	put("{\"type\":\"assistant\",\"message\":{\"content\":\"[Request interrupted by "
	    "user]\"}}\n");
	ck_assert_int_eq(go_on(&t, &s), 0);
	ck_assert_str_eq(s.text, "");
	put("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"["
	    "Request "
	    "interrupted by user]\"}]}}\n");
	put("{\"type\":\"user\",\"message\":{\"content\":\"[Request interrupted by user for "
	    "tool "
	    "use]\"}}\n");
	ck_assert_int_eq(go_on(&t, &s), 0);
	ck_assert_str_eq(s.text, "interrupted p 0;interrupted p 0;");
}
END_TEST

START_TEST(test_cut)
{
	struct tally t = {0};
	uint64_t seq;

	put(PROMPT("p") ANSWER("a", "10", "1") ANSWER("b", "20", "1"));
	ck_assert_int_eq(go_on(&t, NULL), 0);
	seq = tally_seq(&t);
	keep(&t);
	ck_assert_int_eq(truncate(path, 0), 0);
	put(PROMPT("p") ANSWER("a", "10", "1"));
	ck_assert_int_eq(go_on(&t, NULL), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 30);
	ck_assert_uint_gt(tally_seq(&t), seq);
	keep(&t);
	put(ANSWER("b", "20", "1") ANSWER("c", "1", "1"));
	ck_assert_int_eq(go_on(&t, NULL), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 31);
	put(PROMPT("q") ANSWER("d", "2", "1"));
	ck_assert_int_eq(go_on(&t, NULL), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 2);
}
END_TEST

START_TEST(test_starts)
{
	struct tally t = {0};
	char *fill = malloc(TALLY_TAIL);

	put(PROMPT("old") ANSWER("a", "10", "1"));
	ck_assert_int_eq(tally_read(&t, path, TALLY_END, 1 << 20, NULL, NULL), 0);
	put(PROMPT("p") ANSWER("b", "20", "1"));
	ck_assert_int_eq(go_on(&t, NULL), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 20);

	memset(fill, 'x', TALLY_TAIL);
	fill[TALLY_TAIL - 1] = '\0';
	put(fill);
	put("\n" ANSWER("c", "3", "1"));
	memset(&t, 0, sizeof(t));
	ck_assert_int_eq(tally_read(&t, path, TALLY_LAST, 1 << 20, NULL, NULL), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 3);
	free(fill);
}
END_TEST

START_TEST(test_budget)
{
	struct tally t = {0};
	int i, r, rounds = 0;

	put(PROMPT("p"));
	for (i = 0; i < 1000; i++) {
		char line[256];

		snprintf(line, sizeof(line),
			"{\"type\":\"assistant\",\"message\":{\"id\":\"m%d\",\"usage\":{"
			"\"input_tokens\":"
			"1}}}\n",
			i);
		put(line);
	}
	while ((r = tally_read(&t, path, TALLY_BEGIN, 4096, NULL, NULL)) == 1) {
		keep(&t);
		rounds++;
	}
	ck_assert_int_eq(r, 0);
	ck_assert_int_gt(rounds, 5);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 1000);
}
END_TEST

START_TEST(test_long_lines)
{
	char *fill = malloc(TALLY_LINE_MAX + 2);
	struct tally t = {0};

	put(PROMPT("p"));
	memset(fill, 'x', TALLY_LINE_MAX + 1);
	fill[TALLY_LINE_MAX + 1] = '\0';
	put(fill);
	ck_assert_int_ge(tally_read(&t, path, TALLY_BEGIN, 64 << 20, NULL, NULL), 0);
	keep(&t);
	put(fill);
	put("\n" ANSWER("a", "4", "1"));
	ck_assert_int_ge(tally_read(&t, path, TALLY_BEGIN, 64 << 20, NULL, NULL), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 4);
	free(fill);
}
END_TEST

START_TEST(test_hint)
{
	struct tally t = {0};
	struct seen s = {""};

	tally_hint(&t, "p1");
	put("{\"type\":\"user\",\"message\":{\"content\":\"go\"}}\n" ANSWER("a", "1", "1"));
	ck_assert_int_eq(go_on(&t, &s), 0);
	ck_assert_str_eq(t.turn, "p1");
	tally_hint(&t, "p2");
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 0);
	put(ANSWER("b", "2", "1") PROMPT("p2") ANSWER("c", "4", "1"));
	ck_assert_int_eq(go_on(&t, &s), 0);
	ck_assert_uint_eq(tally_total(&t, TALLY_INPUT), 6);
	/* from now on the file says it */
	tally_hint(&t, "p3");
	ck_assert_str_eq(t.turn, "p2");
}
END_TEST

START_TEST(test_no_file)
{
	struct tally t = {0};

	unlink(path);
	ck_assert_int_eq(go_on(&t, NULL), -ENOENT);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(go_on(&t, NULL), -EINVAL);
	ck_assert_int_eq(tally_read(&t, "/", TALLY_BEGIN, 1, NULL, NULL), -EINVAL);
}
END_TEST

START_TEST(test_bad_cursors)
{
	struct approval_pack *p = NULL;
	struct tally t = {.turn = "x", .started = true, .offset = 7}, zero = {0};
	const void *data;
	size_t len, i;
	char *copy;

	ck_assert_int_eq(approval_pack_new(&p), 0);
	ck_assert_int_eq(tally_save(&t, p), 0);
	data = approval_pack_data(p, &len);
	copy = malloc(len);
	for (i = 0; i < len; i++) {
		memcpy(copy, data, i);
		ck_assert_int_eq(tally_load(&t, copy, i), -EBADMSG);
		ck_assert_mem_eq(&t, &zero, sizeof(t));
	}
	/* no byte may lead out of bounds, whatever it says */
	for (i = 0; i < len * 256; i++) {
		memcpy(copy, data, len);
		copy[i / 256] = (char)(i % 256);
		if (tally_load(&t, copy, len) == 0)
			ck_assert_uint_lt(t.next, TALLY_RECENT);
	}
	free(copy);
	approval_pack_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_transcript");
	TCase *t = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_sums);
	tcase_add_test(t, test_every_cut);
	tcase_add_test(t, test_hostile_numbers);
	tcase_add_test(t, test_interrupts);
	tcase_add_test(t, test_cut);
	tcase_add_test(t, test_starts);
	tcase_add_test(t, test_budget);
	tcase_add_test(t, test_long_lines);
	tcase_add_test(t, test_hint);
	tcase_add_test(t, test_no_file);
	tcase_add_test(t, test_bad_cursors);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
