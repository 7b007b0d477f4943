/* SPDX-License-Identifier: MIT */
/* A project's file: what is read, and what is not; and that nobody waits for it. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>

#include "broker/io/project_file.h"
#include "broker/io/resolver.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

static char *dir;
static char top[PATH_MAX], path[PATH_MAX + 32];
static int root;

static void setup(void)
{
	dir = folder_make();
	ck_assert_ptr_nonnull(realpath(dir, top));
	snprintf(path, sizeof(path), "%s/.approvald", top);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	strcat(path, "/rules");
	root = open("/", O_PATH | O_DIRECTORY);
	ck_assert_int_ge(root, 0);
}

static void teardown(void)
{
	close(root);
	folder_remove(dir);
}

static void write_file(const void *data, size_t len)
{
	FILE *const f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	fclose(f);
}

static struct project_file *get(const uint8_t *known)
{
	struct project_file *const f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(project_file_read(root, top, known, f), 0);
	return f;
}

static void expect(enum project_file_state state)
{
	struct project_file *const f = get(NULL);

	ck_assert_int_eq(f->state, state);
	ck_assert((state == PROJECT_FILE_BAD) == (f->problem != NULL));
	ck_assert((state == PROJECT_FILE_NEW) == (f->text != NULL));
	project_file_free(f);
}

/* The SHA-256 of nothing, and of "abc", as FIPS 180 has them. */
START_TEST(hashed)
{
	static const uint8_t nothing[] = {0xe3, 0xb0, 0xc4, 0x42},
			     abc[] = {0xba, 0x78, 0x16, 0xbf};
	struct project_file *f, *again;

	write_file("", 0);
	f = get(NULL);
	ck_assert_int_eq(f->state, PROJECT_FILE_NEW);
	ck_assert_uint_eq(f->len, 0);
	ck_assert_mem_eq(f->hash, nothing, sizeof(nothing));
	again = get(f->hash);
	ck_assert_int_eq(again->state, PROJECT_FILE_SAME);
	ck_assert_mem_eq(again->hash, f->hash, PROJECT_HASH);
	project_file_free(again);
	write_file("abc", 3);
	again = get(f->hash);
	ck_assert_int_eq(again->state, PROJECT_FILE_NEW);
	ck_assert_mem_eq(again->hash, abc, sizeof(abc));
	ck_assert_str_eq(again->text, "abc");
	ck_assert_int_gt(again->changed, 0);
	project_file_free(again);
	project_file_free(f);
}
END_TEST

START_TEST(bounds)
{
	char *const text = malloc(LIMIT_PROJECT_FILE + 1);

	ck_assert_ptr_nonnull(text);
	memset(text, '#', LIMIT_PROJECT_FILE + 1);
	write_file(text, LIMIT_PROJECT_FILE);
	expect(PROJECT_FILE_NEW);
	write_file(text, LIMIT_PROJECT_FILE + 1);
	expect(PROJECT_FILE_BAD);
	memset(text, '\n', LIMIT_PROJECT_LINES);
	write_file(text, LIMIT_PROJECT_LINES - 1);
	expect(PROJECT_FILE_NEW);
	write_file(text, LIMIT_PROJECT_LINES);
	expect(PROJECT_FILE_BAD);
	free(text);
}
END_TEST

START_TEST(other_things)
{
	char other[PATH_MAX + 64];

	expect(PROJECT_FILE_MISSING);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect(PROJECT_FILE_BAD);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	expect(PROJECT_FILE_BAD);
	ck_assert_int_eq(rmdir(path), 0);
	snprintf(other, sizeof(other), "%s/other", top);
	ck_assert_int_eq(symlink(other, path), 0);
	expect(PROJECT_FILE_BAD); /* a dangling one, too */
	ck_assert_int_eq(unlink(path), 0);
	*strrchr(path, '/') = '\0';
	ck_assert_int_eq(rmdir(path), 0);
	expect(PROJECT_FILE_MISSING);
	write_file("", 0);
	expect(PROJECT_FILE_BAD); /* the folder is none */
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(other, 0700), 0);
	ck_assert_int_eq(symlink("other", path), 0);
	expect(PROJECT_FILE_BAD);
	/* the project itself is led elsewhere */
	snprintf(other, sizeof(other), "%s/link", top);
	ck_assert_int_eq(symlink(top, other), 0);
	strcat(top, "/link");
	expect(PROJECT_FILE_BAD);
}
END_TEST

/* ---- by the resolver ---- */

static int gate[2];
static struct resolver_result *answer;

static void wait_gate(void *arg)
{
	char c;

	(void)arg;
	ck_assert_int_eq(read(gate[0], &c, 1), 1);
}

static void on_done(void *arg, struct resolver_result *result)
{
	ck_assert_ptr_null(answer);
	answer = result;
	if (arg)
		event_base_loopbreak(arg);
}

START_TEST(looked_at)
{
	struct event_base *const base = event_base_new();
	const struct resolver_spec spec = {.workspace = top};
	struct resolver_job *job;
	struct resolver *r;

	write_file("abc", 3);
	ck_assert_int_eq(resolver_new(&r, base, NULL), 0);
	ck_assert_int_eq(resolver_file(r, &spec, NULL, 0, on_done, base, &answer, &job), 0);
	while (!answer)
		ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert(!answer->timed_out);
	ck_assert_int_eq(answer->file->state, PROJECT_FILE_NEW);
	ck_assert_str_eq(answer->file->text, "abc");
	resolver_result_free(answer);
	resolver_free(r);
	event_base_free(base);
}
END_TEST

/* A worker that hangs: the time is over, and after that nobody waits at all. */
START_TEST(too_slow)
{
	const struct resolver_hook hook = {.before = wait_gate};
	struct event_base *const base = event_base_new();
	const struct resolver_spec spec = {.workspace = top};
	struct resolver_job *job;
	struct resolver *r;

	write_file("abc", 3);
	ck_assert_int_eq(pipe(gate), 0);
	ck_assert_int_eq(resolver_new(&r, base, &hook), 0);
	ck_assert_int_eq(resolver_file(r, &spec, NULL, 0, on_done, NULL, &answer, &job), 0);
	ck_assert_int_eq(resolver_next(r), (int64_t)TIME_RESOLVE_MS * 1000);
	resolver_expire(r, (int64_t)TIME_RESOLVE_MS * 1000);
	ck_assert_ptr_nonnull(answer);
	ck_assert(answer->timed_out);
	ck_assert_int_eq(answer->file->state, PROJECT_FILE_UNREAD);
	resolver_result_free(answer);
	answer = NULL;
	if (resolver_file(r, &spec, NULL, 0, on_done, NULL, &answer, &job) == 0) {
		/* it was still in the queue when its time was over: the worker does not hang */
		resolver_expire(r, (int64_t)TIME_RESOLVE_MS * 1000);
	}
	ck_assert_ptr_nonnull(answer);
	ck_assert_int_eq(answer->file->state, PROJECT_FILE_UNREAD);
	resolver_result_free(answer);
	ck_assert_int_eq(write(gate[1], "xx", 2), 2);
	resolver_free(r);
	event_base_free(base);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("project_file");
	TCase *tc = tcase_create("project_file");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, hashed);
	tcase_add_test(tc, bounds);
	tcase_add_test(tc, other_things);
	tcase_add_test(tc, looked_at);
	tcase_add_test(tc, too_slow);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
