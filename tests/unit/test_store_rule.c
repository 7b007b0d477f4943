/* SPDX-License-Identifier: MIT */
/* Standing rules, over memory and over SQLite. */
#include "libapproval/limits.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <stdlib.h>

/* What load gives of rules alone, and the largest id. */
static char *dump_rules(struct journal *j)
{
	char *load = dump_load(j), *out = NULL, *line, *rest = load;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	while ((line = strsep(&rest, "\n"))) {
		if (strncmp(line, "rule", 4) == 0)
			fprintf(f, "%s\n", line);
		else if (strstr(line, " rule_id="))
			fprintf(f, "%s\n", strstr(line, "rule_id="));
	}
	fclose(f);
	free(load);
	return out;
}

/* The rules must be these, as test_rule makes them; id 0 ends. */
struct expected {
	uint64_t id;
	unsigned seed;
	bool full;
	const struct rule_matches *matches;
};

static void expect_rules(struct journal *j, const struct expected *e, uint64_t highest)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	for (; e->id; e++) {
		struct rule_record r = test_rule(e->id, e->seed, e->full);

		if (e->matches) {
			r.matches = e->matches->matches;
			r.matched_at = e->matches->matched_at;
		}
		dump_rule(f, &r);
		rule_release(&r);
	}
	fprintf(f, "rule_id=%llu\n", (unsigned long long)highest);
	fclose(f);
	expect_same(dump_rules(j), out);
}
#define EXPECT_RULES(j, highest, ...)                                                          \
	expect_rules(j, (const struct expected[]){__VA_ARGS__ __VA_OPT__(, ){0}}, highest)

static struct journal *reopen(struct journal *j, int which)
{
	if (which == MEMORY)
		return j;
	journal_close(j);
	return open_db();
}

static int try_rule(struct journal *j, const struct rule_record *r)
{
	int err;

	must_begin(j);
	err = journal_put(j, JOURNAL_RULE, r);
	if (!err)
		must_commit(j);
	journal_rollback(j);
	return err;
}

static int try_rule_id(struct journal *j, uint64_t id)
{
	struct rule_record r = test_rule(id, 1, true);
	int err = try_rule(j, &r);

	rule_release(&r);
	return err;
}

START_TEST(come_back)
{
	struct journal *j = open_one(_i);

	EXPECT_RULES(j, 0);
	must_begin(j);
	put_rule(j, 2, 1, true);
	put_rule(j, 7, 2, true);
	put_rule(j, 300, 3, false);
	put_rule(j, INT64_MAX, 4, true);
	must_commit(j);
	for (int i = 0; i < 2; i++) {
		EXPECT_RULES(j, INT64_MAX, {2, 1, true}, {7, 2, true}, {300, 3, false},
			{INT64_MAX, 4, true});
		j = reopen(j, _i);
	}
	/* the last one stands */
	must_begin(j);
	put_rule(j, 7, 5, false);
	put_rule(j, 7, 6, true);
	put_rule(j, 300, 7, true);
	must_commit(j);
	must_begin(j);
	remove_rule(j, 2);
	remove_rule(j, 2); /* no error */
	remove_rule(j, 3);
	remove_rule(j, 0);
	remove_rule(j, UINT64_MAX);
	must_commit(j);
	for (int i = 0; i < 2; i++) {
		EXPECT_RULES(j, INT64_MAX, {7, 6, true}, {300, 7, true}, {INT64_MAX, 4, true});
		j = reopen(j, _i);
	}
	journal_close(j);
}
END_TEST

static int note_session(void *arg, const struct session_record *r)
{
	strcat(arg, "s");
	return 0;
}

static int note_turn(void *arg, const struct turn_record *r)
{
	strcat(arg, "t");
	return 0;
}

static int note_request(void *arg, const struct request_record *r)
{
	strcat(arg, "q");
	return 0;
}

static int note_decision(void *arg, const struct history_row *r)
{
	strcat(arg, "d");
	return 0;
}

static int note_rule(void *arg, const struct rule_record *r)
{
	strcat(arg, "r");
	return 0;
}

static int refuse_rule(void *arg, const struct rule_record *r)
{
	return -ECANCELED;
}

/* Whose they are comes before them, what they are asked about behind. */
START_TEST(load_order)
{
	struct journal_loader loader = {
		note_session, note_turn, note_request, note_decision, note_rule};
	struct journal *j = open_one(_i);
	struct journal_state state;
	char order[16] = "";

	must_begin(j);
	put_decision(j, 1, 1, 11, 21);
	put_rule(j, 1, 1, true);
	put_rule(j, 2, 1, false);
	put_request(j, 21, 1, 11, 1, true);
	put_turn(j, 11, 1, 1, true);
	put_session(j, 1, 1, true);
	must_commit(j);
	ck_assert_int_eq(journal_load(j, &loader, order, &state), 0);
	ck_assert_str_eq(order, "strrqd");
	ck_assert_uint_eq(state.rule_id, 2);
	loader.rule = refuse_rule;
	ck_assert_int_eq(journal_load(j, &loader, order, &state), -ECANCELED);
	journal_close(j);
}
END_TEST

START_TEST(ids_are_used_once)
{
	struct journal *j = open_one(_i);
	uint64_t id = 5;

	ck_assert_int_eq(try_rule_id(j, id), 0);
	/* also where it was but in a transaction with its end */
	must_begin(j);
	put_rule(j, 8, 1, true);
	remove_rule(j, 8);
	must_commit(j);
	put_alone(j, JOURNAL_RULE_REMOVE, &id);
	for (int i = 0; i < 3; i++) {
		EXPECT_RULES(j, 8);
		for (id = 0; id <= 8; id++)
			ck_assert_int_eq(try_rule_id(j, id), -EINVAL);
		j = reopen(j, _i);
	}
	/* what was rolled back was not used */
	must_begin(j);
	put_rule(j, 20, 1, true);
	journal_rollback(j);
	EXPECT_RULES(j, 8);
	ck_assert_int_eq(try_rule_id(j, 9), 0);
	/* one that was refused takes back nothing but its own transaction */
	must_begin(j);
	put_rule(j, 10, 1, true);
	remove_rule(j, 10);
	{
		struct rule_record r = test_rule(10, 1, true);

		ck_assert_int_eq(journal_put(j, JOURNAL_RULE, &r), -EINVAL);
		rule_release(&r);
	}
	ck_assert_int_eq(journal_commit(j), -EINVAL);
	journal_rollback(j);
	for (int i = 0; i < 2; i++) {
		EXPECT_RULES(j, 9, {9, 1, true});
		j = reopen(j, _i);
	}
	journal_close(j);
}
END_TEST

/* Whoever takes rules out of the database does not make their ids new. */
START_TEST(ids_survive_tampering)
{
	struct journal *j = open_db();

	must_begin(j);
	put_rule(j, 1, 1, true);
	put_rule(j, 2, 1, true);
	must_commit(j);
	journal_close(j);
	tamper("DELETE FROM rule");
	j = open_db();
	EXPECT_RULES(j, 2);
	journal_close(j);
	/* and a rule that was put there has its id */
	tamper("INSERT INTO rule VALUES (9, 4, 1000, NULL, NULL, 'deny Bash', 'me', NULL, 1, "
	       "0, "
	       "0, 0)");
	j = open_db();
	ck_assert_int_eq(try_rule_id(j, 8), -EINVAL);
	ck_assert_int_eq(try_rule_id(j, 10), 0);
	journal_close(j);
}
END_TEST

START_TEST(matches)
{
	struct journal *j = open_one(_i);
	struct rule_matches m[] = {{1, 17, 4711}, {2, UINT64_MAX, INT64_MAX}, {9, 1, 1}};
	struct rule_matches bad = {1, 1, -1};

	must_begin(j);
	put_rule(j, 1, 1, true);
	put_rule(j, 2, 2, false);
	put_rule(j, 3, 3, true);
	must_put(j, JOURNAL_RULE_MATCHES, &m[0]);
	must_commit(j);
	must_begin(j);
	must_put(j, JOURNAL_RULE_MATCHES, &m[1]);
	must_put(j, JOURNAL_RULE_MATCHES, &m[2]); /* there is none: no error, and none */
	must_commit(j);
	must_begin(j);
	must_put(j, JOURNAL_RULE_MATCHES, (&(struct rule_matches){3, 8, 8}));
	journal_rollback(j);
	must_begin(j);
	ck_assert_int_eq(journal_put(j, JOURNAL_RULE_MATCHES, &bad), -EINVAL);
	journal_rollback(j);
	for (int i = 0; i < 2; i++) {
		EXPECT_RULES(j, 3, {1, 1, true, &m[0]}, {2, 2, false, &m[1]}, {3, 3, true});
		j = reopen(j, _i);
	}
	/* a rule that is put again is as it is put, that included */
	must_begin(j);
	put_rule(j, 1, 4, true);
	must_commit(j);
	EXPECT_RULES(j, 3, {1, 4, true}, {2, 2, false, &m[1]}, {3, 3, true});
	journal_close(j);
}
END_TEST

static struct str *filled(size_t len)
{
	char *data = malloc(len);
	struct str *s;

	memset(data, 'x', len);
	s = str_new(data, len);
	free(data);
	return s;
}

/* What a rule must have: else it is refused, and nothing of it is kept. */
START_TEST(what_is_no_rule)
{
	struct journal *j = open_one(_i);
	struct rule_record full = test_rule(1, 1, true), admin = test_rule(1, 1, false), r;
	struct str *empty = str_new("", 0), *lines = str_new("deny Bash\nallow Bash", 20);
	struct str *nul = str_new("deny Bash\0x", 11), *huge = filled(LIMIT_RULE + 1);
	struct str *rule = filled(LIMIT_RULE), *text = filled(LIMIT_TEXT);
	struct str *long_text = filled(LIMIT_TEXT + 1);

#define REFUSED(from, ...)                                                                     \
	do {                                                                                   \
		r = from;                                                                      \
		__VA_ARGS__;                                                                   \
		ck_assert(!rule_record_valid(&r));                                             \
		ck_assert_int_eq(try_rule(j, &r), -EINVAL);                                    \
	} while (0)
#define TAKEN(from, ...)                                                                       \
	do {                                                                                   \
		static uint64_t id;                                                            \
		r = from;                                                                      \
		__VA_ARGS__;                                                                   \
		r.id = ++id + (uint64_t)__LINE__;                                              \
		ck_assert(rule_record_valid(&r));                                              \
		ck_assert_int_eq(try_rule(j, &r), 0);                                          \
	} while (0)
	REFUSED(full, r.id = 0);
	REFUSED(full, r.id = (uint64_t)INT64_MAX + 1);
	REFUSED(full, r.scope = SCOPE_ONCE);
	REFUSED(full, r.scope = SCOPE_N);
	REFUSED(full, r.scope = 255);
	REFUSED(full, r.scope = SCOPE_PROJECT);	     /* with an owner */
	REFUSED(full, r.owner = (struct uuid){{0}}); /* of a session, without one */
	REFUSED(full, r.uid = RULE_UID_ADMIN);	     /* of a session */
	REFUSED(admin, r.scope = SCOPE_PROJECT);     /* without its folder */
	REFUSED(admin, r.scope = SCOPE_PROJECT; r.uid = 1; r.project = empty);
	REFUSED(admin, r.owner = test_id(1));
	REFUSED(full, r.project = empty);
	REFUSED(full, r.project = long_text);
	REFUSED(full, r.text = NULL);
	REFUSED(full, r.text = empty);
	REFUSED(full, r.text = lines);
	REFUSED(full, r.text = nul);
	REFUSED(full, r.text = huge);
	REFUSED(full, r.by = NULL);
	REFUSED(full, r.by = empty);
	REFUSED(full, r.by = lines);
	REFUSED(full, r.by = long_text);
	REFUSED(full, r.origin = empty);
	REFUSED(full, r.origin = nul);
	REFUSED(full, r.origin = long_text);
	REFUSED(full, r.made = -1);
	REFUSED(full, r.expires = -1);
	REFUSED(full, r.matched_at = -1);
	EXPECT_RULES(j, 0);

	TAKEN(full, r.text = rule; r.project = r.by = r.origin = text);
	TAKEN(full, r.project = lines);
	TAKEN(admin, r.uid = 0; r.project = text; r.scope = SCOPE_PROJECT);
	TAKEN(admin, r.uid = 0; r.origin = text);
	j = reopen(j, _i);
	free(dump_rules(j));
#undef REFUSED
#undef TAKEN
	rule_release(&full);
	rule_release(&admin);
	str_unref(empty), str_unref(lines), str_unref(nul), str_unref(huge), str_unref(rule);
	str_unref(text), str_unref(long_text);
	journal_close(j);
}
END_TEST

/* Who changed the rules is on record. */
START_TEST(events)
{
	struct journal *j = open_one(_i);
	struct rule_record of_turn = test_rule(3, 2, true), of_session = test_rule(4, 3, true);
	struct rule_record admin = test_rule(5, 9, false);
	struct history_query q = query_all();
	struct history_row row[3];
	char *got, *want = NULL;
	size_t len;
	FILE *f;

	rule_row(&row[0], HISTORY_RULE_ADDED, &of_turn, str_bytes(of_turn.by), 100);
	rule_row(&row[1], HISTORY_RULE_REMOVED, &of_session, bytes_of("uid 0"), 200);
	rule_row(&row[2], HISTORY_RULE_EXPIRED, &admin, bytes_of(NULL), 300);
	ck_assert_int_eq(uuid_compare(&row[0].turn, &of_turn.owner), 0);
	ck_assert(uuid_is_nil(&row[0].session) && uuid_is_nil(&row[1].turn));
	ck_assert_int_eq(uuid_compare(&row[1].session, &of_session.owner), 0);
	ck_assert(bytes_equal(row[1].rule, str_bytes(of_session.text)));
	ck_assert(bytes_is(row[1].by, "uid 0") && row[1].rule_id == 4 && row[1].count == 3);
	ck_assert(row[1].scope == SCOPE_SESSION && row[1].uid == RULE_UID_ADMIN - 1 - 3);
	ck_assert(bytes_equal(row[1].workspace, str_bytes(of_session.project)));
	ck_assert(bytes_is(row[1].detail, "settings.json:3"));
	ck_assert(row[2].uid == RULE_UID_ADMIN && uuid_is_nil(&row[2].session));
	must_begin(j);
	for (int i = 0; i < 3; i++)
		must_put(j, JOURNAL_HISTORY, &row[i]);
	must_commit(j);
	j = reopen(j, _i);
	ck_assert_uint_eq(verify_count(j), 3);

	q.event = HISTORY_RULE_REMOVED;
	f = open_memstream(&want, &len);
	row[1].seq = 2;
	dump_row(f, &row[1]);
	fclose(f);
	got = dump_history(j, &q);
	/* up to the hash, which the store gives it */
	ck_assert_uint_eq(strlen(got), strlen(want));
	ck_assert_int_eq(memcmp(got, want, (size_t)(strstr(want, " hash=") - want)), 0);
	free(got);
	free(want);
	q = query_all();
	q.rule = str_bytes(admin.text);
	got = dump_history(j, &q);
	ck_assert_uint_eq(count_lines(got), 1);
	ck_assert_ptr_nonnull(strstr(got, "row seq=3 at=300 event=15 uid=4294967295 "));
	free(got);
	rule_release(&of_turn);
	rule_release(&of_session);
	rule_release(&admin);
	journal_close(j);
}
END_TEST

/* Changes of rules and of their matches take one row each, and decisions none of theirs. */
START_TEST(rules_apart_from_decisions)
{
	struct journal *j = open_db();
	struct journal_stats before, after;

	must_begin(j);
	for (uint64_t id = 1; id <= 1000; id++)
		put_rule(j, id, (unsigned)id, id % 2);
	must_commit(j);
	journal_stats(j, &before);
	must_begin(j);
	for (unsigned i = 0; i < 100; i++)
		put_decision(j, i, 1, 2, 3);
	must_put(j, JOURNAL_RULE_MATCHES, (&(struct rule_matches){7, 100, 5}));
	must_commit(j);
	journal_stats(j, &after);
	ck_assert_uint_eq(after.rows - before.rows, 101);
	journal_close(j);
}
END_TEST

START_TEST(none_keeps_none)
{
	struct journal *j = NULL;

	ck_assert_int_eq(journal_open_none(&j), 0);
	must_begin(j);
	put_rule(j, 1, 1, true);
	must_put(j, JOURNAL_RULE_MATCHES, (&(struct rule_matches){1, 100, 5}));
	remove_rule(j, 1);
	must_commit(j);
	EXPECT_RULES(j, 0);
	journal_close(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule");
	TCase *tc = tcase_create("rule");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, come_back, 0, JOURNALS);
	tcase_add_loop_test(tc, load_order, 0, JOURNALS);
	tcase_add_loop_test(tc, ids_are_used_once, 0, JOURNALS);
	tcase_add_test(tc, ids_survive_tampering);
	tcase_add_loop_test(tc, matches, 0, JOURNALS);
	tcase_add_loop_test(tc, what_is_no_rule, 0, JOURNALS);
	tcase_add_loop_test(tc, events, 0, JOURNALS);
	tcase_add_test(tc, rules_apart_from_decisions);
	tcase_add_test(tc, none_keeps_none);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
