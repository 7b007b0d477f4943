/* SPDX-License-Identifier: MIT */
/* Trust in projects, over memory and over SQLite. */
#include "libapproval/limits.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <stdlib.h>

static char *dump_trusts(struct journal *j)
{
	char *load = dump_load(j), *out = NULL, *line, *rest = load;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	while ((line = strsep(&rest, "\n")))
		if (strncmp(line, "trust", 5) == 0)
			fprintf(f, "%s\n", line);
	fclose(f);
	free(load);
	return out;
}

struct expected {
	uint32_t uid;
	unsigned project, seed;
};

static void expect(struct journal *j, const struct expected *e)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	for (; e->project; e++) {
		struct trust_record r = test_trust(e->uid, e->project, e->seed);

		dump_trust(f, &r);
		trust_release(&r);
	}
	fclose(f);
	expect_same(dump_trusts(j), out);
}
#define EXPECT(j, ...) expect(j, (const struct expected[]){__VA_ARGS__ __VA_OPT__(, ){0}})

static struct journal *reopen(struct journal *j, int which)
{
	if (which == MEMORY)
		return j;
	journal_close(j);
	return open_db();
}

START_TEST(come_back)
{
	struct journal *j = open_one(_i);

	EXPECT(j);
	must_begin(j);
	put_trust(j, UINT32_MAX - 1, 1, 1);
	put_trust(j, 1000, 3, 2);
	put_trust(j, 0, 2, 3);
	put_trust(j, 1000, 2, 4);
	must_commit(j);
	for (int i = 0; i < 2; i++) {
		EXPECT(j, {0, 2, 3}, {1000, 2, 4}, {1000, 3, 2}, {UINT32_MAX - 1, 1, 1});
		j = reopen(j, _i);
	}
	/* another file of the same project; that of another user stays */
	must_begin(j);
	put_trust(j, 1000, 2, 5);
	put_trust(j, 1000, 2, 6);
	remove_trust(j, 1000, 3);
	remove_trust(j, 1000, 3); /* no error */
	remove_trust(j, 7, 2);
	must_commit(j);
	for (int i = 0; i < 2; i++) {
		EXPECT(j, {0, 2, 3}, {1000, 2, 6}, {UINT32_MAX - 1, 1, 1});
		j = reopen(j, _i);
	}
	journal_close(j);
}
END_TEST

START_TEST(rolled_back)
{
	struct journal *j = open_one(_i);

	must_begin(j);
	put_trust(j, 1, 1, 1);
	put_trust(j, 2, 2, 2);
	must_commit(j);
	must_begin(j);
	put_trust(j, 1, 1, 9);
	put_trust(j, 3, 3, 3);
	remove_trust(j, 2, 2);
	journal_rollback(j);
	for (int i = 0; i < 2; i++) {
		EXPECT(j, {1, 1, 1}, {2, 2, 2});
		j = reopen(j, _i);
	}
	journal_close(j);
}
END_TEST

static int try(struct journal *j, const struct trust_record *r)
{
	int err;

	must_begin(j);
	err = journal_put(j, JOURNAL_TRUST, r);
	journal_rollback(j);
	return err;
}

START_TEST(refused)
{
	struct journal *j = open_one(_i);
	struct trust_record good = test_trust(1, 1, 1), r;
	static const char text[LIMIT_TEXT + 1] = {[0 ... LIMIT_TEXT] = '/'};
	struct str *empty = str_new("", 0), *relative = str_new("home", 4),
		   *nul = str_new("/a\0b", 4), *long_text = str_new(text, sizeof(text));

#define REFUSED(...)                                                                           \
	do {                                                                                   \
		r = good;                                                                      \
		__VA_ARGS__;                                                                   \
		ck_assert(!trust_record_valid(&r));                                            \
		ck_assert_int_eq(try(j, &r), -EINVAL);                                         \
	} while (0)
	REFUSED(r.project = NULL);
	REFUSED(r.project = empty);
	REFUSED(r.project = relative);
	REFUSED(r.project = nul);
	REFUSED(r.project = long_text);
	REFUSED(r.by = NULL);
	REFUSED(r.by = empty);
	REFUSED(r.by = long_text);
	REFUSED(r.made = -1);
	REFUSED(memset(r.hash, 0, sizeof(r.hash)));
#undef REFUSED
	ck_assert_int_eq(try(j, &good), 0);
	EXPECT(j);
	trust_release(&good);
	str_unref(empty), str_unref(relative), str_unref(nul), str_unref(long_text);
	journal_close(j);
}
END_TEST

/* What somebody else wrote there is not taken for trust. */
START_TEST(tampered)
{
	static const char *const changes[] = {
		"UPDATE trust SET hash = NULL",
		"UPDATE trust SET hash = x'00'",
		"UPDATE trust SET hash = zeroblob(32)",
		"UPDATE trust SET hash = 'abcdefghijklmnopqrstuvwxyz012345'",
		"UPDATE trust SET project = 'relative'",
		"UPDATE trust SET project = ''",
		"UPDATE trust SET project = x'2f61'",
		"UPDATE trust SET made_by = NULL",
		"UPDATE trust SET made = -1",
		"UPDATE trust SET made = 'now'",
		"UPDATE trust SET uid = -1",
		"UPDATE trust SET uid = 4294967296",
	};
	struct journal *j = open_db();

	put_alone(j, JOURNAL_ALIVE, &(int64_t){1});
	must_begin(j);
	put_trust(j, 1, 1, 1);
	must_commit(j);
	journal_close(j);
	tamper(changes[_i]);
	j = open_db();
	{
		static const struct journal_loader loader = {.trust = NULL};
		struct journal_state state;

		ck_assert_int_eq(journal_load(j, &loader, NULL, &state), -EUCLEAN);
	}
	journal_close(j);
}
END_TEST

/* Who trusts, and what, is on record. */
START_TEST(events)
{
	struct journal *j = open_one(_i);
	struct trust_record r = test_trust(1000, 1, 7);
	struct history_query q = query_all();
	struct history_row row[2];
	char *got, *want = NULL;
	size_t len;
	FILE *f;

	trust_row(&row[0], HISTORY_PROJECT_TRUSTED, &r, bytes_of("uid 1000 (x)"), 100);
	trust_row(&row[1], HISTORY_PROJECT_UNTRUSTED, &r, bytes_of("uid 0"), 200);
	ck_assert(bytes_equal(row[0].workspace, str_bytes(r.project)));
	ck_assert(memcmp(row[0].digest, r.hash, sizeof(r.hash)) == 0 && row[0].uid == 1000);
	must_begin(j);
	must_put(j, JOURNAL_HISTORY, &row[0]);
	must_put(j, JOURNAL_HISTORY, &row[1]);
	must_commit(j);
	j = reopen(j, _i);
	ck_assert_uint_eq(verify_count(j), 2);
	q.event = HISTORY_PROJECT_UNTRUSTED;
	got = dump_history(j, &q);
	f = open_memstream(&want, &len);
	fprintf(f, "by=\"");
	for (const char *p = "uid 0"; *p; p++)
		fprintf(f, "%02x", (unsigned)*p);
	fprintf(f, "\"");
	fclose(f);
	ck_assert_ptr_nonnull(strstr(got, want));
	ck_assert_uint_eq(count_lines(got), 1);
	free(got);
	free(want);
	trust_release(&r);
	journal_close(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trust");
	TCase *tc = tcase_create("trust");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_add_loop_test(tc, come_back, 0, JOURNALS);
	tcase_add_loop_test(tc, rolled_back, 0, JOURNALS);
	tcase_add_loop_test(tc, refused, 0, JOURNALS);
	tcase_add_loop_test(tc, tampered, 0, 12);
	tcase_add_loop_test(tc, events, 0, JOURNALS);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
