/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/unit/store_fixture.h"

#include <ftw.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

/* of the test program, which runs each test in a process of its own */
static char dir[PATH_MAX], path[PATH_MAX], path_with[PATH_MAX + 32];

void fixture_setup(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/test-store-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%.*s/state.db", PATH_MAX - 16, dir);
}

static int unlink_one(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(name) : unlink(name);
}

void fixture_teardown(void)
{
	umount2(dir, MNT_DETACH); /* where a test mounted something there */
	nftw(dir, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fixture_path(void)
{
	return path;
}

const char *fixture_dir(void)
{
	return dir;
}

const char *fixture_path_with(const char *end)
{
	snprintf(path_with, sizeof(path_with), "%s%s", path, end);
	return path_with;
}

struct journal *open_db(void)
{
	struct journal *j = NULL;

	ck_assert_int_eq(journal_open_sqlite(&j, fixture_path()), 0);
	return j;
}

struct journal *open_one(int which)
{
	struct journal *j = NULL;

	if (which == SQLITE)
		return open_db();
	ck_assert_int_eq(journal_open_memory(&j), 0);
	return j;
}

void tamper(const char *sql)
{
	sqlite3 *db;
	char *message = NULL;

	ck_assert_int_eq(sqlite3_open(fixture_path(), &db), SQLITE_OK);
	sqlite3_exec(db, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s: %s", sql, message);
	sqlite3_close(db);
}

/* ---- writing ---- */

void must_begin(struct journal *j)
{
	ck_assert_int_eq(journal_begin(j), 0);
}

void must_commit(struct journal *j)
{
	ck_assert_int_eq(journal_commit(j), 0);
}

void must_put(struct journal *j, enum journal_op op, const void *arg)
{
	ck_assert_int_eq(journal_put(j, op, arg), 0);
}

void put_alone(struct journal *j, enum journal_op op, const void *arg)
{
	must_begin(j);
	must_put(j, op, arg);
	must_commit(j);
}

void put_session(struct journal *j, unsigned id, unsigned seed, bool full)
{
	struct session_record r = test_session(id, seed, full);

	must_put(j, JOURNAL_SESSION, &r);
	session_release(&r);
}

void put_turn(struct journal *j, unsigned id, unsigned session, unsigned seed, bool full)
{
	struct turn_record r = test_turn(id, session, seed, full);

	must_put(j, JOURNAL_TURN, &r);
	turn_release(&r);
}

void put_request(struct journal *j, unsigned id, unsigned session, unsigned turn, unsigned seed,
	bool full)
{
	struct request_record r = test_request(id, session, turn, seed, full);

	must_put(j, JOURNAL_REQUEST, &r);
	request_release(&r);
}

void put_rule(struct journal *j, uint64_t id, unsigned seed, bool full)
{
	struct rule_record r = test_rule(id, seed, full);

	must_put(j, JOURNAL_RULE, &r);
	rule_release(&r);
}

void put_trust(struct journal *j, uint32_t uid, unsigned project, unsigned seed)
{
	struct trust_record r = test_trust(uid, project, seed);

	must_put(j, JOURNAL_TRUST, &r);
	trust_release(&r);
}

void remove_trust(struct journal *j, uint32_t uid, unsigned project)
{
	struct trust_record r = test_trust(uid, project, 0);

	must_put(j, JOURNAL_TRUST_REMOVE, &r);
	trust_release(&r);
}

void remove_rule(struct journal *j, uint64_t id)
{
	must_put(j, JOURNAL_RULE_REMOVE, &id);
}

void put_decision(
	struct journal *j, unsigned seed, unsigned session, unsigned turn, unsigned request)
{
	struct history_row r = test_decision(seed, session, turn, request);

	must_put(j, JOURNAL_HISTORY, &r);
}

/* ---- reading ---- */

static int load_session(void *arg, const struct session_record *r)
{
	dump_session(arg, r);
	return 0;
}

static int load_turn(void *arg, const struct turn_record *r)
{
	dump_turn(arg, r);
	return 0;
}

static int load_request(void *arg, const struct request_record *r)
{
	dump_request(arg, r);
	return 0;
}

static int load_rule(void *arg, const struct rule_record *r)
{
	dump_rule(arg, r);
	return 0;
}

static int load_trust(void *arg, const struct trust_record *r)
{
	dump_trust(arg, r);
	return 0;
}

static int load_decision(void *arg, const struct history_row *r)
{
	dump_row(arg, r);
	return 0;
}

char *dump_load(struct journal *j)
{
	static const struct journal_loader loader = {
		load_session, load_turn, load_request, load_decision, load_rule, load_trust};
	struct journal_state state;
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	int err = journal_load(j, &loader, f, &state);

	ck_assert_msg(err == 0, "load: %d", err);
	dump_state(f, &state);
	fclose(f);
	return out;
}

char *dump_history(struct journal *j, const struct history_query *q)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	int err = journal_history(j, q, load_decision, f, NULL);

	ck_assert_msg(err == 0, "history: %d", err);
	fclose(f);
	return out;
}

struct history_query query_all(void)
{
	return (struct history_query){
		.limit = UINT32_MAX,
		.event = -1,
		.verdict = -1,
		.source = -1,
		.all_uids = true,
	};
}

static uint64_t verify(struct journal *j, uint32_t chunk, uint64_t *checked)
{
	struct history_verification v = {0};

	*checked = 0;
	do {
		int err = journal_verify(j, v.next, chunk, &v);

		ck_assert_msg(err == 0, "verify: %d", err);
		ck_assert_uint_le(v.checked, chunk);
		*checked += v.checked;
	} while (v.next);
	return v.bad_seq;
}

uint64_t verify_all(struct journal *j, uint32_t chunk)
{
	uint64_t checked;

	return verify(j, chunk, &checked);
}

uint64_t verify_count(struct journal *j)
{
	uint64_t checked;

	ck_assert_uint_eq(verify(j, 7, &checked), 0);
	return checked;
}

int suite_run(Suite *s)
{
	SRunner *sr = srunner_create(s);
	int failed;

	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

void expect_same(char *a, char *b)
{
	ck_assert_str_eq(a, b);
	free(a);
	free(b);
}

unsigned count_lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

char *dump_all(struct journal *j)
{
	struct history_query q = query_all();
	char *load = dump_load(j), *rows = dump_history(j, &q), *all;

	all = malloc(strlen(load) + strlen(rows) + 1);
	strcpy(all, load);
	strcat(all, rows);
	free(load);
	free(rows);
	return all;
}
