/* SPDX-License-Identifier: MIT */
#include <event2/event.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

#include "broker/io/process.h"
#include "broker/io/resolver.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

#define DEADLINE_US (TIME_RESOLVE_MS * 1000)

/* Where the worker is held: it tells that it is there, and waits to be let go. */
struct gate {
	int at[2], go[2];
	bool open;
};

static struct event_base *base;
static struct resolver *resolver;
static struct gate gate;
static char *dir;
static char top[PATH_MAX];
static int fds_before;

static struct resolver_result *answers[8];
static unsigned n_answers;

static void on_done(void *arg, struct resolver_result *result)
{
	ck_assert_uint_lt(n_answers, 8);
	answers[n_answers++] = result;
	if (arg)
		event_base_loopbreak(base);
}

static void gate_wait(void *arg)
{
	struct gate *g = arg;

	if (g->open)
		return;
	tell(g->at[1]);
	hear(g->go[0]);
}

static void setup_hook(bool gated, bool slow)
{
	struct resolver_hook hook = {.arg = &gate, .no_fast_path = slow};

	fds_before = fd_count();
	if (gated)
		hook.before = gate_wait;
	ck_assert_int_eq(pipe(gate.at), 0);
	ck_assert_int_eq(pipe(gate.go), 0);
	base = event_base_new();
	ck_assert_int_eq(resolver_new(&resolver, base, &hook), 0);
	dir = folder_make();
	ck_assert_ptr_nonnull(realpath(dir, top));
	n_answers = 0;
}

static void answers_free(void)
{
	for (unsigned i = 0; i < n_answers; i++)
		resolver_result_free(answers[i]);
	n_answers = 0;
}

static void teardown_rest(void)
{
	answers_free();
	event_base_free(base);
	/* a worker that was let go ends by itself, and takes what it shared with it */
	while (fd_count() > fds_before + 4)
		sched_yield();
	for (int i = 0; i < 2; i++) {
		close(gate.at[i]);
		close(gate.go[i]);
	}
	folder_remove(dir);
	ck_assert_int_eq(fd_count(), fds_before);
}

static void teardown(void)
{
	ck_assert_uint_eq(resolver_waiting(resolver), 0);
	answers_free(); /* they may be the resolver's own */
	resolver_free(resolver);
	teardown_rest();
}

/* Asks for one path; the answer is in answers[] when it came at once (1). */
static int ask(const char *path, int64_t now, struct resolver_job **job)
{
	struct bytes given = bytes_of(path);
	struct resolver_spec spec = {
		.cwd = top,
		.workspace = top,
		.paths = &given,
		.n = 1,
	};
	struct resolver_result *result;
	struct resolver_job *unwanted;
	int rc = resolver_paths(
		resolver, &spec, now, on_done, &gate, &result, job ? job : &unwanted);

	if (rc == 1)
		on_done(NULL, result);
	return rc;
}

/* Until the next answer of the worker has come. */
static void answer_await(void)
{
	unsigned n = n_answers;

	while (n_answers == n)
		ck_assert_int_eq(event_base_dispatch(base), 0);
}

START_TEST(inline_answer)
{
	struct resolver_path *p;

	setup_hook(false, false);
	file_write(below(dir, "f"), "");
	/* the file is in the caches since it was just made; where the kernel can't tell, it
	 * comes later */
	if (ask("f", 0, NULL) == 0)
		answer_await();
	p = &answers[0]->paths[0];
	ck_assert_str_eq(p->lexical, below(top, "f"));
	ck_assert_str_eq(p->resolved, below(top, "f"));
	ck_assert(p->inside);
	teardown();
}
END_TEST

START_TEST(worker_answer)
{
	const char *texts[] = {"f", "out", "../x", "~/y", "~", "l/../z", "", "~nobody/z"};
	struct bytes given[8];
	struct resolver_spec spec = {
		.cwd = top,
		.home = "/home/nobody-here",
		.workspace = top,
		.paths = given,
		.n = 8,
	};
	struct resolver_result *result;
	struct resolver_job *job;
	struct resolver_path *p;

	setup_hook(false, true);
	spec.cwd = spec.workspace = top;
	file_write(below(dir, "f"), "");
	ck_assert_int_eq(symlink("/etc", below(dir, "out")), 0);
	ck_assert_int_eq(symlink("/etc", below(dir, "l")), 0);
	for (int i = 0; i < 8; i++)
		given[i] = bytes_of(texts[i]);
	ck_assert_int_eq(resolver_paths(resolver, &spec, 5, on_done, &gate, &result, &job), 0);
	ck_assert_uint_eq(resolver_waiting(resolver), 1);
	ck_assert_int_eq(resolver_next(resolver), 5 + DEADLINE_US);
	answer_await();
	ck_assert_int_eq(resolver_next(resolver), INT64_MAX);
	p = answers[0]->paths;
	ck_assert_uint_eq(answers[0]->n, 8);
	ck_assert(!answers[0]->timed_out);
	ck_assert_str_eq(p[0].resolved, below(top, "f"));
	ck_assert(p[0].inside);
	/* inside by its text only */
	ck_assert_str_eq(p[1].lexical, below(top, "out"));
	ck_assert_str_eq(p[1].resolved, "/etc");
	ck_assert(!p[1].inside);
	ck_assert(!p[2].inside);
	ck_assert_str_eq(p[3].lexical, "/home/nobody-here/y");
	ck_assert_str_eq(p[3].resolved, "/home/nobody-here/y");
	ck_assert(!p[3].inside);
	ck_assert_str_eq(p[4].resolved, "/home/nobody-here");
	/* "l/.." is "/" to the kernel */
	ck_assert_str_eq(p[5].lexical, below(top, "z"));
	ck_assert_str_eq(p[5].resolved, "/z");
	ck_assert(!p[5].inside);
	for (int i = 6; i < 8; i++) {
		ck_assert_ptr_null(p[i].lexical);
		ck_assert_ptr_null(p[i].resolved);
		ck_assert(!p[i].inside);
	}
	teardown();
}
END_TEST

START_TEST(no_workspace)
{
	struct bytes given[2] = {bytes_of("/etc"), bytes_of("x")};
	struct resolver_spec spec = {.paths = given, .n = 2};
	struct resolver_result *result;
	struct resolver_job *job;

	setup_hook(false, true);
	ck_assert_int_eq(resolver_paths(resolver, &spec, 0, on_done, &gate, &result, &job), 0);
	answer_await();
	ck_assert_str_eq(answers[0]->paths[0].resolved, "/etc");
	ck_assert(!answers[0]->paths[0].inside);
	ck_assert_ptr_null(answers[0]->paths[1].lexical);
	spec.n = LIMIT_LOOKUPS + 1;
	ck_assert_int_eq(
		resolver_paths(resolver, &spec, 0, on_done, &gate, &result, &job), -E2BIG);
	spec.n = 0;
	ck_assert_int_eq(resolver_paths(resolver, &spec, 0, on_done, &gate, &result, &job), 0);
	answer_await();
	ck_assert_uint_eq(answers[1]->n, 0);
	teardown();
}
END_TEST

/* The worker hangs: the deadline gives an answer, a late one is thrown away. */
START_TEST(hung)
{
	setup_hook(true, true);
	ck_assert_int_eq(ask("a", 0, NULL), 0);
	hear(gate.at[0]);
	ck_assert_int_eq(ask("b", 1000, NULL), 0);
	resolver_expire(resolver, DEADLINE_US - 1);
	ck_assert_uint_eq(n_answers, 0);
	resolver_expire(resolver, DEADLINE_US);
	ck_assert_uint_eq(n_answers, 1);
	ck_assert(answers[0]->timed_out);
	ck_assert_str_eq(answers[0]->paths[0].lexical, below(top, "a"));
	ck_assert_ptr_null(answers[0]->paths[0].resolved);
	ck_assert(!answers[0]->paths[0].inside);
	/* nobody waits for a worker that is known to hang */
	ck_assert_int_eq(ask("c", 2000, NULL), 1);
	ck_assert(answers[1]->timed_out);
	ck_assert_int_eq(resolver_next(resolver), 1000 + DEADLINE_US);
	/* it comes back: what still waits is answered, and so is what is asked from now on */
	gate.open = true;
	tell(gate.go[1]);
	answer_await();
	ck_assert_uint_eq(n_answers, 3);
	ck_assert(!answers[2]->timed_out);
	ck_assert_str_eq(answers[2]->paths[0].resolved, below(top, "b"));
	ck_assert_int_eq(ask("d", 3000, NULL), 0);
	answer_await();
	ck_assert_str_eq(answers[3]->paths[0].resolved, below(top, "d"));
	teardown();
}
END_TEST

START_TEST(queued_times_out)
{
	setup_hook(true, true);
	ck_assert_int_eq(ask("a", 0, NULL), 0);
	hear(gate.at[0]);
	ck_assert_int_eq(ask("b", 0, NULL), 0);
	resolver_expire(resolver, DEADLINE_US);
	ck_assert_uint_eq(n_answers, 2);
	ck_assert(answers[1]->timed_out);
	gate.open = true;
	tell(gate.go[1]);
	teardown();
}
END_TEST

/* Cancelled in each of its states: queued, running, finished and not yet told. */
START_TEST(cancelled)
{
	struct resolver_job *a, *b, *c;

	setup_hook(true, true);
	ck_assert_int_eq(ask("a", 0, &a), 0);
	hear(gate.at[0]);
	ck_assert_int_eq(ask("b", 0, &b), 0);
	ck_assert_int_eq(ask("c", 0, &c), 0);
	resolver_cancel(resolver, b);
	resolver_cancel(resolver, a);
	resolver_cancel(resolver, NULL);
	tell(gate.go[1]);
	/* a was thrown away, c is at the gate */
	hear(gate.at[0]);
	ck_assert_int_eq(ask("d", 0, NULL), 0);
	tell(gate.go[1]);
	/* d is at the gate: c is finished, and has not been told since the loop did not run */
	hear(gate.at[0]);
	resolver_cancel(resolver, c);
	gate.open = true;
	tell(gate.go[1]);
	answer_await();
	ck_assert_uint_eq(n_answers, 1);
	ck_assert_str_eq(answers[0]->paths[0].resolved, below(top, "d"));
	teardown();
}
END_TEST

/* The end does not wait for a worker that hangs, nor for what is queued. */
START_TEST(shutdown_hung)
{
	setup_hook(true, true);
	ck_assert_int_eq(ask("a", 0, NULL), 0);
	hear(gate.at[0]);
	ck_assert_int_eq(ask("b", 0, NULL), 0);
	if (_i)
		resolver_expire(resolver, DEADLINE_US);
	resolver_free(resolver);
	ck_assert_uint_eq(n_answers, _i ? 2 : 0);
	gate.open = true;
	tell(gate.go[1]);
	teardown_rest();
}
END_TEST

START_TEST(shutdown_waiting)
{
	setup_hook(false, true);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(ask("a", 0, NULL), 0);
	resolver_free(resolver);
	ck_assert_uint_eq(n_answers, 0);
	teardown_rest();
}
END_TEST

START_TEST(many)
{
	struct resolver_result *result;
	struct resolver_job *job;
	struct bytes given = bytes_of("x");
	struct resolver_spec spec = {.cwd = top, .paths = &given, .n = 1};

	setup_hook(true, true);
	ck_assert_int_eq(ask("a", 0, NULL), 0);
	hear(gate.at[0]);
	for (unsigned i = 0; i < LIMIT_RESOLVE_QUEUE; i++)
		ck_assert_int_eq(
			resolver_paths(resolver, &spec, 0, on_done, NULL, &result, &job), 0);
	ck_assert_uint_eq(resolver_waiting(resolver), LIMIT_RESOLVE_QUEUE + 1);
	/* one more is not queued but unresolved */
	ck_assert_int_eq(resolver_paths(resolver, &spec, 0, on_done, NULL, &result, &job), 1);
	ck_assert(result->timed_out);
	resolver_result_free(result);
	gate.open = true;
	tell(gate.go[1]);
	resolver_free(resolver);
	teardown_rest();
}
END_TEST

static void workspace_ask(const char *cwd, const char *claimed, const char *home)
{
	struct resolver_spec spec = {.cwd = cwd, .home = home};
	struct resolver_result *result;
	struct resolver_job *job;

	ck_assert_int_eq(
		resolver_workspace(resolver, &spec, claimed, 0, on_done, &gate, &result, &job),
		0);
	answer_await();
}

START_TEST(workspace)
{
	setup_hook(false, true);
	ck_assert_int_eq(mkdir(below(dir, "p"), 0755), 0);
	ck_assert_int_eq(mkdir(below(dir, "p/.git"), 0755), 0);
	ck_assert_int_eq(mkdir(below(dir, "p/a"), 0755), 0);
	ck_assert_int_eq(symlink("p", below(dir, "q")), 0);
	ck_assert_int_eq(symlink("p/a", below(dir, "r")), 0);

	workspace_ask(below(top, "p/a"), NULL, "/home/x");
	ck_assert_str_eq(answers[0]->workspace, below(top, "p"));
	ck_assert_ptr_null(answers[0]->alias);
	workspace_ask(below(top, "p/a"), below(top, "q/a"), "/home/x");
	ck_assert_str_eq(answers[1]->workspace, below(top, "p"));
	ck_assert_str_eq(answers[1]->alias, below(top, "q"));
	/* the same folder, but the workspace has no name that way */
	workspace_ask(below(top, "p/a"), below(top, "r"), "/home/x");
	ck_assert_ptr_null(answers[2]->alias);
	/* another folder */
	workspace_ask(below(top, "p/a"), top, "/home/x");
	ck_assert_ptr_null(answers[3]->alias);
	workspace_ask(below(top, "p"), below(top, "q"), "/home/x");
	ck_assert_str_eq(answers[4]->alias, below(top, "q"));
	workspace_ask(top, NULL, top);
	ck_assert_ptr_null(answers[5]->workspace);
	teardown();
}
END_TEST

/* Paths by the workspace's other name are inside, if they lead there. */
START_TEST(alias)
{
	char folder[PATH_MAX], other[PATH_MAX];
	struct bytes given[2];
	struct resolver_spec spec = {
		.workspace = folder,
		.alias = other,
		.paths = given,
		.n = 2,
	};
	struct resolver_result *result;
	struct resolver_job *job;

	setup_hook(false, true);
	strcpy(folder, below(top, "p"));
	strcpy(other, below(top, "q"));
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	ck_assert_int_eq(symlink("p", other), 0);
	ck_assert_int_eq(symlink("/etc", below(dir, "p/out")), 0);
	given[0] = bytes_of(below(top, "q/x"));
	given[1] = bytes_of(below(top, "q/out/x"));
	ck_assert_int_eq(resolver_paths(resolver, &spec, 0, on_done, &gate, &result, &job), 0);
	answer_await();
	ck_assert(answers[0]->paths[0].inside);
	ck_assert(!answers[0]->paths[1].inside);
	teardown();
}
END_TEST

/* Of a subject that is gone, or that may not be looked at, nothing is resolved. */
START_TEST(dead_subject)
{
	struct process_table *table;
	struct process *self, *child;
	struct bytes given = bytes_of("/etc");
	struct resolver_spec spec = {.paths = &given, .n = 1};
	struct resolver_result *result;
	struct resolver_job *job;
	int fd, rc, up[2];
	pid_t pid;

	setup_hook(false, false);
	ck_assert_int_eq(process_table_new(&table, base, 0, NULL, NULL), 0);
	ck_assert_int_eq(process_self(table, &self), 0);
	spec.subject = self;
	rc = resolver_paths(resolver, &spec, 0, on_done, &gate, &result, &job);
	if (rc == 0) {
		answer_await();
		result = answers[--n_answers];
	}
	ck_assert_str_eq(result->paths[0].resolved, "/etc");
	resolver_result_free(result);

	ck_assert_int_eq(pipe(up), 0);
	pid = fork();
	if (pid == 0)
		_exit((int)read(up[0], &(char){0}, 1));
	fd = (int)syscall(434 /* pidfd_open */, pid, 0);
	ck_assert_int_eq(process_from_pidfd(table, fd, &child), 0);
	close(fd);
	tell(up[1]);
	waitpid(pid, NULL, 0);
	spec.subject = child;
	ck_assert_int_eq(resolver_paths(resolver, &spec, 0, on_done, &gate, &result, &job), 1);
	ck_assert_str_eq(result->paths[0].lexical, "/etc");
	ck_assert_ptr_null(result->paths[0].resolved);
	resolver_result_free(result);
	process_unref(self);
	process_unref(child);
	process_table_free(table);
	close(up[0]);
	close(up[1]);
	teardown();
}
END_TEST

static Suite *suite_make(void)
{
	Suite *s = suite_create("io_resolver");
	TCase *t = tcase_create("resolver");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, inline_answer);
	tcase_add_test(t, worker_answer);
	tcase_add_test(t, no_workspace);
	tcase_add_test(t, hung);
	tcase_add_test(t, queued_times_out);
	tcase_add_test(t, cancelled);
	tcase_add_loop_test(t, shutdown_hung, 0, 2);
	tcase_add_test(t, shutdown_waiting);
	tcase_add_test(t, many);
	tcase_add_test(t, workspace);
	tcase_add_test(t, alias);
	tcase_add_test(t, dead_subject);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return kernel_is_known() ? run_suite(suite_make()) : EXIT_SKIPPED;
}
