/* SPDX-License-Identifier: MIT */
/* The hash chain: its encoding, and that tampering is found where it is. */
#include "broker/store/chain.h"
#include "broker/store/sqlite_private.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define ROWS 60u

static void write_rows(struct journal *j, unsigned n)
{
	must_begin(j);
	for (unsigned i = 0; i < n; i++)
		put_decision(j, i, 1, 2, 3 + i);
	must_commit(j);
}

/* ---- encoding ---- */

static void expect_hash(const uint8_t hash[32], const char *hex)
{
	char text[65];

	for (int i = 0; i < 32; i++)
		snprintf(text + 2 * i, 3, "%02x", hash[i]);
	ck_assert_str_eq(text, hex);
}

/* Computed by another program from the description in chain.h and chain.c. */
START_TEST(known_answers)
{
	struct history_row row = {
		.seq = 258,
		.at = -2,
		.event = HISTORY_OUTCOME,
		.uid = 1000,
		.pid = UINT32_MAX,
		.session = test_id(1),
		.turn = test_id(2),
		.agent = bytes_of("claude"),
		.tool = bytes_of(""),
		.input = {"\x80", 1},
		.detail = bytes_of("ok"),
		.type = 1,
		.kind = 2,
		.verdict = 3,
		.source = 4,
		.scope = 1,
		.step = 6,
		.state = 7,
		.mode = 2,
		.count = UINT64_C(0x0102030405060708),
	};
	struct chain_link head = {.seq = 257};

	memset(head.hash, 0xab, sizeof(head.hash));
	row.digest[31] = 1;
	chain_append(&head, &row);
	ck_assert_uint_eq(row.seq, 258);
	expect_hash(
		row.hash, "162590ea23eced0fe7e1306a18d3eb81f3df26ff4ea8e28d10f614482cfa019b");
	/* what came later does not enter it while it is absent */
	head = (struct chain_link){.seq = 257};
	memset(head.hash, 0xab, sizeof(head.hash));
	row.rule = bytes_of("deny Bash(rm *)");
	row.rule_id = 77;
	row.floor = bytes_of("");
	chain_append(&head, &row);
	expect_hash(
		row.hash, "61d867d0a510df8397172b83c6013b44b321a59e040d0dfb08faa8b0018a276f");
	row = (struct history_row){.floor = bytes_of("private-keys")};
	head = (struct chain_link){0};
	chain_append(&head, &row);
	expect_hash(
		row.hash, "fcd5eed62d3efe695533f4c4288ae074ed7ac30066e262ad8f41521b67fb944d");
	row = (struct history_row){0};
	head = (struct chain_link){0};
	chain_append(&head, &row);
	expect_hash(
		head.hash, "f3d4c4621d482824c7ea410f6ca5823050211a82ce699168dee4269a78889144");
}
END_TEST

/* Where one text ends and the next begins is part of what is hashed. */
START_TEST(boundaries)
{
	static const uint8_t zero[32];
	struct history_row a = {.agent = bytes_of("ab"), .call = bytes_of("c")};
	struct history_row b = {.agent = bytes_of("a"), .call = bytes_of("bc")};
	struct history_row c = {.agent = bytes_of("abc"), .call = bytes_of("")};
	struct history_row d = {.agent = bytes_of("abc")};
	uint8_t hash[4][32];

	chain_hash(zero, &a, hash[0]);
	chain_hash(zero, &b, hash[1]);
	chain_hash(zero, &c, hash[2]);
	chain_hash(zero, &d, hash[3]);
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < i; k++)
			ck_assert_int_ne(memcmp(hash[i], hash[k], 32), 0);
	}
}
END_TEST

/* The same of the columns that came later. */
START_TEST(boundaries_of_later)
{
	static const uint8_t zero[32];
	const struct history_row rows[] = {
		{0},
		{.rule = bytes_of("")},
		{.floor = bytes_of("")},
		{.rule = bytes_of(""), .floor = bytes_of("")},
		{.rule = bytes_of("ab")},
		{.floor = bytes_of("ab")},
		{.rule = bytes_of("a"), .floor = bytes_of("b")},
		{.rule_id = 1},
		{.rule_id = 3},
		{.rule = bytes_of(""), .rule_id = 3},
		/* as if a rule's text held what follows it */
		{.rule = {"\3\0\0\0\0\0\0\0\0", 9}},
		{.detail = {"\1\0\0\0\0\0\0\0\0", 9}},
	};
	uint8_t hash[12][32];

	for (int i = 0; i < 12; i++) {
		chain_hash(zero, &rows[i], hash[i]);
		for (int k = 0; k < i; k++)
			ck_assert_int_ne(memcmp(hash[i], hash[k], 32), 0);
	}
}
END_TEST

/* ---- tampering ---- */

/* Row 30 is of seed 29. Each changes it, and it alone. */
static const char *const changes[] = {
	"at = at + 1",
	"at = NULL",
	"event = event + 1",
	"event = 99",
	"uid = 0",
	"pid = pid + 1",
	"session = NULL",
	"session = x'00112233445566778899aabbccddeeff'",
	"session = x'0011'",
	"session = CAST(session AS TEXT)",
	"turn = session",
	"request = NULL",
	"request = zeroblob(16)",
	"agent = 'Claude'",
	"agent = NULL",
	"agent = CAST(agent AS BLOB)",
	"call = 'call'",
	"tool = 'Read'",
	"tool = tool || ' '",
	"command = ''",
	"cwd = '/'",
	"workspace = NULL",
	"exe = 5",
	"input = x'80'",
	"input = NULL",
	"reason = NULL",
	"reason = 'because'",
	"decided_by = 'uid 0'",
	"detail = ''",
	"rule = NULL",
	"rule = 'allow Bash(rm -r *)'",
	"rule = ''",
	"rule_id = 0",
	"rule_id = rule_id + 1",
	"floor = NULL",
	"floor = ''",
	"floor = 'keyrings'",
	"rule = floor, floor = rule",
	"digest = NULL",
	"digest = zeroblob(32)",
	"digest = x'00'",
	"type = 1",
	"kind = 0",
	"verdict = 2",
	"source = source + 1",
	"scope = 1",
	"step = 0",
	"state = 9",
	"mode = 3",
	"count = count + 1",
	"hash = NULL",
	"hash = zeroblob(32)",
	"hash = (SELECT hash FROM history WHERE seq = 29)",
};

static uint64_t reopened_verify(uint32_t chunk)
{
	struct journal *j = open_db();
	uint64_t bad = verify_all(j, chunk);

	journal_close(j);
	return bad;
}

START_TEST(changes_are_found)
{
	struct journal *j = open_db();
	char sql[256];

	write_rows(j, ROWS);
	ck_assert_uint_eq(verify_all(j, 1000), 0);
	snprintf(sql, sizeof(sql), "UPDATE history SET %s WHERE seq = 30", changes[_i]);
	tamper(sql);
	/* while it is open, and after */
	for (uint32_t chunk = 1; chunk < ROWS + 5; chunk += 7)
		ck_assert_msg(verify_all(j, chunk) == 30, "%s: %d", changes[_i],
			(int)verify_all(j, chunk));
	journal_close(j);
	ck_assert_uint_eq(reopened_verify(7), 30);
}
END_TEST

/* Row 31 has none of these. */
static const char *const additions[] = {
	"rule = 'allow Bash(rm *)'",
	"rule = ''",
	"rule_id = 1",
	"floor = 'private-keys'",
	"floor = ''",
};

START_TEST(additions_are_found)
{
	struct journal *j = open_db();
	char sql[256];

	write_rows(j, ROWS);
	snprintf(sql, sizeof(sql), "UPDATE history SET %s WHERE seq = 31", additions[_i]);
	tamper(sql);
	ck_assert_uint_eq(verify_all(j, 7), 31);
	journal_close(j);
	ck_assert_uint_eq(reopened_verify(7), 31);
}
END_TEST

static const struct {
	const char *sql;
	uint64_t bad; /* while open, and after closing and opening */
} removals[] = {
	{"DELETE FROM history WHERE seq = 30", 30},
	{"DELETE FROM history WHERE seq BETWEEN 30 AND 40", 30},
	{"DELETE FROM history WHERE seq = 1", 1},
	{"DELETE FROM history WHERE seq <= 30", 1},
	{"DELETE FROM history WHERE seq = 60", 60},
	{"DELETE FROM history WHERE seq > 40", 41},
	{"DELETE FROM history", 1},
	/* two rows change places */
	{"UPDATE history SET seq = -1 WHERE seq = 30; UPDATE history SET seq = 30 WHERE seq = "
	 "31;"
	 "UPDATE history SET seq = 31 WHERE seq = -1",
		30},
	/* the rows behind move up */
	{"DELETE FROM history WHERE seq = 30; UPDATE history SET seq = seq - 1 WHERE seq > 30",
		30},
	{"DELETE FROM history WHERE seq = 1; UPDATE history SET seq = seq - 1", 1},
	/* a row is put in between */
	{"UPDATE history SET seq = -seq WHERE seq >= 30; UPDATE history SET seq = 1 - seq "
	 "WHERE "
	 "seq < 0; INSERT INTO history SELECT 30, at, event, uid, pid, session, turn, request, "
	 "agent, call, tool, command, cwd, workspace, exe, input, reason, decided_by, detail, "
	 "digest, type, kind, verdict, source, scope, step, state, mode, count, hash, rule, "
	 "rule_id, floor FROM history WHERE seq = 29",
		30},
	/* an anchor that never was */
	{"DELETE FROM history WHERE seq <= 30; UPDATE meta SET anchor_seq = 30, anchor_row = "
	 "50",
		31},
	{"UPDATE meta SET anchor_seq = 30, anchor_row = 50, anchor_hash = (SELECT hash FROM "
	 "history WHERE seq = 30); DELETE FROM history WHERE seq <= 30",
		31},
	{"UPDATE meta SET anchor_seq = 30, anchor_hash = (SELECT hash FROM history WHERE seq = "
	 "30); DELETE FROM history WHERE seq <= 30",
		31},
};

START_TEST(removals_are_found)
{
	struct journal *j = open_db();

	write_rows(j, ROWS);
	journal_close(j);
	tamper(removals[_i].sql);
	ck_assert_uint_eq(reopened_verify(1000), removals[_i].bad);
	ck_assert_uint_eq(reopened_verify(7), removals[_i].bad);

	/* what is written afterwards does not cover it up */
	j = open_db();
	write_rows(j, 10);
	ck_assert_uint_eq(verify_all(j, 1000), removals[_i].bad);
	journal_close(j);
	ck_assert_uint_eq(reopened_verify(1000), removals[_i].bad);
}
END_TEST

/* The same while the broker has it open: it knows how far the history went. */
START_TEST(removals_while_open)
{
	static const struct {
		const char *sql;
		uint64_t bad;
	} cases[] = {
		{"DELETE FROM history WHERE seq = 60", 60},
		{"DELETE FROM history WHERE seq > 10", 11},
		{"DELETE FROM history", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct journal *j = open_db();

		write_rows(j, ROWS);
		tamper(cases[i].sql);
		ck_assert_uint_eq(verify_all(j, 7), cases[i].bad);
		write_rows(j, 10);
		ck_assert_uint_eq(verify_all(j, 7), cases[i].bad);
		sqlite_of(j)->suspect = true; /* opened anew */
		write_rows(j, 10);
		ck_assert_uint_eq(verify_all(j, 7), cases[i].bad);
		journal_close(j);
		ck_assert_uint_eq(reopened_verify(7), cases[i].bad);
		fixture_teardown();
		fixture_setup();
	}
}
END_TEST

/* ---- anchors ---- */

static const struct {
	const char *sql;
	uint64_t bad;
} anchor_changes[] = {
	{"UPDATE meta SET anchor_hash = (SELECT hash FROM history WHERE seq = 25)", 21},
	{"UPDATE meta SET anchor_row = 40", 21},
	{"UPDATE meta SET anchor_row = 0", 21},
	{"UPDATE meta SET anchor_seq = 21, anchor_hash = (SELECT hash FROM history WHERE "
	 "seq = 21); DELETE FROM history WHERE seq = 21",
		22},
	{"UPDATE meta SET anchor_seq = 0, anchor_hash = NULL, anchor_row = 0", 1},
	{"DELETE FROM history WHERE seq = 21", 21},
	{"UPDATE history SET tool = 'x' WHERE seq = 21", 21},
	{"UPDATE history SET detail = 'x' WHERE seq = 61", 21},
};

START_TEST(anchors)
{
	struct retention r = {.max_age_us = 20 * 1000000};
	struct journal *j = open_db();

	write_rows(j, ROWS);
	ck_assert_int_eq(journal_prune(j, &r, 40 * 1000000, 1000), 20);
	ck_assert_uint_eq(verify_all(j, 7), 0);
	journal_close(j);
	ck_assert_uint_eq(reopened_verify(7), 0);
	tamper(anchor_changes[_i].sql);
	ck_assert_uint_eq(reopened_verify(7), anchor_changes[_i].bad);
}
END_TEST

/* Pruning what had been changed does not hide that it was. */
START_TEST(pruning_tells)
{
	struct retention r = {.max_age_us = 20 * 1000000};
	struct history_query q = query_all();
	struct journal *j = open_db();
	char *got;

	write_rows(j, ROWS);
	tamper("UPDATE history SET tool = 'x' WHERE seq = 10; DELETE FROM history WHERE seq = "
	       "15");
	ck_assert_int_eq(journal_prune(j, &r, 40 * 1000000, 1000), 19);
	q.event = HISTORY_ANCHOR;
	got = dump_history(j, &q);
	/* "intact at seq 10" */
	ck_assert_ptr_nonnull(strstr(got, "696e7461637420617420736571203130\""));
	free(got);
	ck_assert_uint_eq(verify_all(j, 7), 0);
	journal_close(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("chain");
	TCase *tc = tcase_create("chain");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, known_answers);
	tcase_add_test(tc, boundaries);
	tcase_add_test(tc, boundaries_of_later);
	tcase_add_loop_test(
		tc, changes_are_found, 0, (int)(sizeof(changes) / sizeof(changes[0])));
	tcase_add_loop_test(
		tc, additions_are_found, 0, (int)(sizeof(additions) / sizeof(additions[0])));
	tcase_add_loop_test(
		tc, removals_are_found, 0, (int)(sizeof(removals) / sizeof(removals[0])));
	tcase_add_test(tc, removals_while_open);
	tcase_add_loop_test(
		tc, anchors, 0, (int)(sizeof(anchor_changes) / sizeof(anchor_changes[0])));
	tcase_add_test(tc, pruning_tells);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
