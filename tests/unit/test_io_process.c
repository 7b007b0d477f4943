/* SPDX-License-Identifier: MIT */
#include <event2/event.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "broker/io/ancestry.h"
#include "broker/io/process.h"
#include "broker/io/procfs.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

static struct event_base *base;
static struct process_table *table;
static struct process_id died[8];
static unsigned n_died;
static int fds_before;

static void on_died(void *arg, struct process *p)
{
	ck_assert_uint_lt(n_died, 8);
	died[n_died++] = p->id;
}

static void setup_flags(int flags)
{
	fds_before = fd_count();
	base = event_base_new();
	ck_assert_int_eq(process_table_new(&table, base, flags, on_died, NULL), 0);
	n_died = 0;
}

static void setup(void)
{
	setup_flags(0);
}

static void teardown(void)
{
	ck_assert_uint_eq(process_table_count(table), 0);
	process_table_free(table);
	event_base_free(base);
	ck_assert_int_eq(fd_count(), fds_before);
}

static const int all_flags[] = {0, PROCESS_NO_PEERPIDFD};

/* A child that waits until its pipe closes, or is killed. */
static pid_t child_start(void)
{
	int up[2];
	pid_t pid;

	ck_assert_int_eq(pipe(up), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		tell(up[1]);
		for (;;)
			pause();
	}
	hear(up[0]);
	close(up[0]);
	close(up[1]);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static struct process *process_of(pid_t pid)
{
	int fd = pidfd_open(pid, 0);
	struct process *p;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(process_from_pidfd(table, fd, &p), 0);
	close(fd);
	ck_assert_uint_eq(p->id.pid, (uint32_t)pid);
	return p;
}

#define STAT_REST "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"

START_TEST(stat_parse)
{
	static const char *const bad[] = {
		"",
		"12",
		"12 (x",
		"12 (x)",
		"x (x) S 1 " STAT_REST " 99 0\n",
		"0 (x) S 1 " STAT_REST " 99 0\n",
		"-3 (x) S 1 " STAT_REST " 99 0\n",
		"99999999999 (x) S 1 " STAT_REST " 99 0\n",
		"12 (x) S -1 " STAT_REST " 99 0\n",
		"12 (x) S x " STAT_REST " 99 0\n",
		"12 (x) S 1 " STAT_REST " -99 0\n",
		"12 (x) S 1 " STAT_REST " 99999999999999999999 0\n",
		"12 (x) S 1 " STAT_REST " 99",
		"12 (x) S 1 2 3 99 0\n",
		"12 (x)  S 1 " STAT_REST " 99 0\n",
		"12 (x) 5 1 " STAT_REST " 99 0\n",
		"12 x S 1 " STAT_REST " 99 0\n",
	};
	static const char *const good[] = {
		"12 (x) S 7 " STAT_REST " 99 0 0\n",
		"12 () S 7 " STAT_REST " 99 0 0\n",
		"12 (a b) R 1 (c) S 7 " STAT_REST " 99 0 0\n",
		"12 (a\n13 (b) S 1 2 3) S 7 " STAT_REST " 99 0 0\n",
		"12 (:-)) S 7 -1 -2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 99 0 0\n",
	};
	struct process_stat st;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(
			process_stat_parse(bytes_of(bad[i]), &st) == -EBADMSG, "%s", bad[i]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(process_stat_parse(bytes_of(good[i]), &st) == 0, "%s", good[i]);
		ck_assert_uint_eq(st.pid, 12);
		ck_assert_uint_eq(st.ppid, 7);
		ck_assert_uint_eq(st.start, 99);
		ck_assert_int_eq(st.state, 'S');
	}
}
END_TEST

START_TEST(status_uid)
{
	ck_assert_int_eq(
		procfs_status_uid(bytes_of("Name:\tx\nUid:\t5\t5\t5\t5\nGid:\t1\n"), 5), 1);
	ck_assert_int_eq(procfs_status_uid(bytes_of("Uid:\t5\t0\t5\t5\n"), 5), 0);
	ck_assert_int_eq(procfs_status_uid(bytes_of("Uid:\t4294967295\t4294967295\t4294967295\t"
						    "4294967295\n"),
				 UINT32_MAX),
		1);
	ck_assert_int_eq(procfs_status_uid(bytes_of("Uid:\t5\t5\t5\n"), 5), -EBADMSG);
	ck_assert_int_eq(procfs_status_uid(bytes_of("Uid:\t5\t5\t5\t5 \n"), 5), -EBADMSG);
	ck_assert_int_eq(procfs_status_uid(bytes_of("Uid:\t-1\t-1\t-1\t-1\n"), 5), -EBADMSG);
	ck_assert_int_eq(
		procfs_status_uid(bytes_of("Uid:\t4294967301\t5\t5\t5\n"), 5), -EBADMSG);
	ck_assert_int_eq(procfs_status_uid(bytes_of("Name:\tUid:\t5\n"), 5), -EBADMSG);
}
END_TEST

/* A name made to look like the end of the line does not move the fields. */
START_TEST(hostile_name)
{
	static const char *const names[] = {") S 1 (", "x\n1 (y) S 0", ")))", " ", ""};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct process *self;

		prctl(PR_SET_NAME, names[i]);
		ck_assert_int_eq(process_self(table, &self), 0);
		ck_assert_uint_eq(self->id.pid, (uint32_t)getpid());
		process_unref(self);
	}
}
END_TEST

START_TEST(peer_is_shared)
{
	struct process *p[100];
	struct process_cred cred;
	int fds, pairs[100][2];

	setup_flags(all_flags[_i]);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
	fds = fd_count();
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(process_from_peer(table, pairs[i][0], &cred, &p[i]), 0);
		ck_assert_ptr_eq(p[i], p[0]);
		ck_assert_uint_eq(cred.uid, getuid());
		ck_assert_uint_eq(cred.gid, getgid());
	}
	ck_assert_uint_eq(p[0]->id.pid, (uint32_t)getpid());
	ck_assert_int_eq(fd_count(), fds + 1);
	ck_assert_uint_eq(process_table_count(table), 1);
	for (int i = 0; i < 100; i++) {
		process_unref(p[i]);
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
	teardown();
}
END_TEST

/* The one that connected is the peer, not the one that holds the socket later; dead is dead. */
START_TEST(peer_has_died)
{
	char *dir = folder_make();
	struct process_cred cred;
	struct process *p = NULL;
	int sock, fd, status;
	siginfo_t info;
	pid_t pid;

	setup_flags(all_flags[_i]);
	sock = listen_at(below(dir, "s"));
	pid = fork();
	if (pid == 0)
		_exit(connect_to(below(dir, "s")) < 0);
	fd = accept(sock, NULL, NULL);
	ck_assert_int_ge(fd, 0);
	/* a zombie first, then nothing */
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(process_from_peer(table, fd, &cred, &p), -ESRCH);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(process_from_peer(table, fd, &cred, &p), -ESRCH);
	ck_assert_ptr_null(p);
	close(fd);
	close(sock);
	folder_remove(dir);
	teardown();
}
END_TEST

START_TEST(out_of_descriptors)
{
	struct rlimit old, limit;
	struct process_cred cred;
	struct process *p;
	int pair[2], dups[64], n = 0, fds;

	setup_flags(all_flags[_i]);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	getrlimit(RLIMIT_NOFILE, &old);
	fds = fd_count();
	limit = old;
	limit.rlim_cur = (rlim_t)pair[1] + 20;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (n < 64 && (dups[n] = dup(pair[0])) >= 0)
		n++;
	ck_assert_int_eq(process_from_peer(table, pair[0], &cred, &p), -EMFILE);
	for (int left = 1; left < 4; left++) {
		int rc;

		close(dups[--n]);
		rc = process_from_peer(table, pair[0], &cred, &p);
		ck_assert(rc == 0 || rc == -EMFILE);
		if (rc == 0)
			process_unref(p);
	}
	while (n > 0)
		close(dups[--n]);
	setrlimit(RLIMIT_NOFILE, &old);
	ck_assert_int_eq(fd_count(), fds);
	close(pair[0]);
	close(pair[1]);
	teardown();
}
END_TEST

START_TEST(from_pidfd)
{
	pid_t pid = child_start();
	struct process *p = process_of(pid), *again;
	int fd, pipes[2], dir;

	again = process_of(pid);
	ck_assert_ptr_eq(p, again);
	process_unref(again);
	ck_assert_int_eq(process_from_id(table, &p->id, &again), 0);
	ck_assert_ptr_eq(p, again);
	process_unref(again);
	ck_assert_int_eq(process_from_id(table,
				 &(struct process_id){p->id.pid, p->id.start + 1}, &again),
		-ESRCH);
	ck_assert_int_eq(process_from_id(table, &(struct process_id){0, 0}, &again), -ESRCH);
	ck_assert_int_eq(
		process_from_id(table, &(struct process_id){UINT32_MAX, 0}, &again), -ESRCH);

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(process_from_pidfd(table, pipes[0], &again), -EBADF);
	ck_assert_int_eq(process_from_pidfd(table, 9999, &again), -EBADF);
	/* a folder of /proc takes signals like a pidfd, and is none */
	dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(process_from_pidfd(table, dir, &again), -EBADF);
	close(dir);
	close(pipes[0]);
	close(pipes[1]);

	fd = pidfd_open(pid, 0);
	process_unref(p);
	child_end(pid);
	ck_assert_int_eq(process_from_pidfd(table, fd, &again), -ESRCH);
	close(fd);
}
END_TEST

static int thread_main(void *arg)
{
	int *pipes = arg;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char c;

	if (write(pipes[1], &tid, sizeof(tid)) != sizeof(tid))
		return 1;
	return read(pipes[2], &c, 1) != 0;
}

/* A pidfd of a thread stands for no process. */
START_TEST(from_thread)
{
	char stack[16384] __attribute__((aligned(16)));
	int up[2], down[2], ends[3], fd;
	struct process *p;
	pid_t tid;

	ck_assert_int_eq(pipe(up), 0);
	ck_assert_int_eq(pipe(down), 0);
	ends[0] = up[0];
	ends[1] = up[1];
	ends[2] = down[0];
	ck_assert_int_gt(
		clone(thread_main, stack + sizeof(stack),
			CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, ends),
		0);
	ck_assert_int_eq(read(up[0], &tid, sizeof(tid)), sizeof(tid));
	fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);
	if (fd >= 0) /* Linux 6.9 */
		ck_assert_int_eq(process_from_pidfd(table, fd, &p), -EBADF);
	if (fd >= 0)
		close(fd);
	close(down[1]);
	/* the thread has gone when its number is free */
	while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
		sched_yield();
	close(up[0]);
	close(up[1]);
	close(down[0]);
}
END_TEST

START_TEST(watch)
{
	pid_t a = child_start(), b = child_start();
	struct process *pa = process_of(a), *pb = process_of(b);
	struct process_id id = pa->id;

	ck_assert_int_eq(process_watch(pa), 0);
	ck_assert_int_eq(process_watch(pa), 0);
	ck_assert_int_eq(process_watch(pb), 0);
	process_unwatch(pb);
	ck_assert_int_eq(event_base_loop(base, EVLOOP_NONBLOCK), 0);
	ck_assert_uint_eq(n_died, 0);
	kill(b, SIGKILL);
	kill(a, SIGKILL);
	/* only the pidfd of a is watched: the loop ends when nothing is */
	ck_assert_int_eq(event_base_dispatch(base), 1);
	ck_assert_uint_eq(n_died, 1);
	ck_assert_int_eq(process_id_compare(&died[0], &id), 0);
	ck_assert(!process_alive(pa));
	ck_assert_int_eq(process_watch(pa), -ESRCH);
	process_unwatch(pa);
	process_unwatch(pa);
	process_unref(pa);
	waitpid(b, NULL, 0);
	ck_assert_int_eq(process_watch(pb), -ESRCH);
	process_unref(pb);
	waitpid(a, NULL, 0);
}
END_TEST

/* child -> grandchild; the numbers of both come back through the pipe. */
static void family_start(pid_t pids[2], int *stop)
{
	int up[2], down[2];

	ck_assert_int_eq(pipe(up), 0);
	ck_assert_int_eq(pipe(down), 0);
	pids[0] = fork();
	if (pids[0] == 0) {
		pid_t pid = fork();
		char c;

		close(down[1]);
		if (pid == 0) {
			for (;;)
				pause();
		}
		if (write(up[1], &pid, sizeof(pid)) != sizeof(pid) || read(down[0], &c, 1) != 0)
			_exit(1);
		_exit(0);
	}
	ck_assert_int_eq(read(up[0], &pids[1], sizeof(pids[1])), sizeof(pids[1]));
	close(up[0]);
	close(up[1]);
	close(down[0]);
	*stop = down[1];
}

START_TEST(descends)
{
	struct process *self, *child, *grandchild;
	struct process_id chain[LIMIT_ANCESTORS];
	pid_t pids[2];
	int stop, n;

	family_start(pids, &stop);
	ck_assert_int_eq(process_self(table, &self), 0);
	child = process_of(pids[0]);
	grandchild = process_of(pids[1]);

	n = process_ancestors(grandchild, chain, LIMIT_ANCESTORS);
	ck_assert_int_ge(n, 2);
	ck_assert_int_eq(process_id_compare(&chain[0], &child->id), 0);
	ck_assert_int_eq(process_id_compare(&chain[1], &self->id), 0);
	ck_assert_int_eq(process_ancestors(grandchild, chain, 1), -ELOOP);

	ck_assert_int_eq(process_is_or_descends_from(grandchild, &grandchild->id), 1);
	ck_assert_int_eq(process_is_or_descends_from(grandchild, &child->id), 1);
	ck_assert_int_eq(process_is_or_descends_from(grandchild, &self->id), 1);
	ck_assert_int_eq(process_is_or_descends_from(child, &grandchild->id), 0);
	ck_assert_int_eq(process_is_or_descends_from(self, &child->id), 0);
	/* the same number with another start time is somebody else */
	ck_assert_int_eq(process_is_or_descends_from(grandchild,
				 &(struct process_id){child->id.pid, child->id.start + 1}),
		0);

	kill(pids[1], SIGKILL);
	close(stop);
	waitpid(pids[0], NULL, 0);
	process_unref(self);
	process_unref(child);
	process_unref(grandchild);
}
END_TEST

/* The parent dies and the orphan is given to another: only what was recorded remembers. */
START_TEST(reparented)
{
	struct process *self, *child, *orphan;
	pid_t pids[2];
	int stop;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	family_start(pids, &stop);
	ck_assert_int_eq(process_self(table, &self), 0);
	child = process_of(pids[0]);
	orphan = process_of(pids[1]);
	if (_i)
		ck_assert_int_eq(process_record(orphan), 0);
	close(stop);
	waitpid(pids[0], NULL, 0);
	ck_assert_int_eq(process_is_or_descends_from(orphan, &child->id), _i);
	ck_assert_int_eq(process_is_or_descends_from(orphan, &self->id), 1);
	ck_assert_int_eq(process_record(orphan), 0);
	ck_assert_int_eq(process_is_or_descends_from(orphan, &child->id), _i);

	kill(pids[1], SIGKILL);
	waitpid(pids[1], NULL, 0);
	/* dead: what is known still counts, the rest can't be told */
	ck_assert_int_eq(process_is_or_descends_from(orphan, &orphan->id), 1);
	ck_assert_int_eq(process_is_or_descends_from(orphan, &self->id), 1);
	ck_assert_int_eq(
		process_is_or_descends_from(orphan, &(struct process_id){1, 1}), -ESRCH);
	process_unref(self);
	process_unref(child);
	process_unref(orphan);
}
END_TEST

START_TEST(surroundings)
{
	char *dir = folder_make(), *text, real[512];
	pid_t pid;
	struct process *p;
	int root = 0;

	ck_assert_ptr_nonnull(realpath(dir, real));
	ck_assert_int_eq(chdir(dir), 0);
	pid = child_start();
	p = process_of(pid);
	ck_assert_int_eq(process_cwd(p, &text), 0);
	ck_assert_str_eq(text, real);
	free(text);
	ck_assert_int_eq(process_exe(p, &text), 0);
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(text[0], '/');
	free(text);
	ck_assert_int_eq(process_cgroup(p, &text), 0);
	ck_assert(!text || text[0] == '/');
	free(text);
	ck_assert_int_eq(process_has_uid(p, getuid()), 1);
	ck_assert_int_eq(process_has_uid(p, getuid() + 1), 0);
	ck_assert_int_eq(process_root(p, &root), 0);
	ck_assert_int_eq(root, -1);
	ck_assert_int_eq(process_root(p, &root), 0);

	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_eq(process_cwd(p, &text), 0);
	ck_assert_ptr_null(text);
	ck_assert_int_eq(chdir("/"), 0);

	child_end(pid);
	ck_assert_int_eq(process_cwd(p, &text), -ESRCH);
	ck_assert_int_eq(process_exe(p, &text), -ESRCH);
	ck_assert_int_eq(process_cgroup(p, &text), -ESRCH);
	ck_assert_int_eq(process_has_uid(p, getuid()), -ESRCH);
	process_unref(p);
}
END_TEST

/* Under another root: paths as the process itself sees them, and a root of its own. */
START_TEST(other_root)
{
	char *dir = folder_make(), *text;
	int up[2], root = -1;
	struct process *p;
	struct stat a, b;
	pid_t pid;

	ck_assert_int_eq(mkdir(below(dir, "in"), 0755), 0);
	ck_assert_int_eq(pipe(up), 0);
	pid = fork();
	if (pid == 0) {
		/* as root at once, else in a user namespace of its own */
		if (chroot(dir) < 0 && (unshare(CLONE_NEWUSER) < 0 || chroot(dir) < 0))
			_exit(77);
		if (chdir("/in") < 0)
			_exit(1);
		tell(up[1]);
		for (;;)
			pause();
	}
	close(up[1]);
	if (read(up[0], &(char){0}, 1) == 1) {
		p = process_of(pid);
		ck_assert_int_eq(process_cwd(p, &text), 0);
		ck_assert_str_eq(text, "/in");
		free(text);
		ck_assert_int_eq(process_root(p, &root), 0);
		ck_assert_int_ge(root, 0);
		ck_assert_int_eq(fstat(root, &a), 0);
		ck_assert_int_eq(stat(dir, &b), 0);
		ck_assert_uint_eq(a.st_ino, b.st_ino);
		close(root);
		process_unref(p);
	}
	child_end(pid);
	close(up[0]);
	folder_remove(dir);
}
END_TEST

/* The same root in another mount namespace is not the same root. */
START_TEST(other_namespace)
{
	int up[2], root = -1;
	struct process *p;
	pid_t pid;

	ck_assert_int_eq(pipe(up), 0);
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			_exit(77);
		tell(up[1]);
		for (;;)
			pause();
	}
	close(up[1]);
	if (read(up[0], &(char){0}, 1) == 1) {
		p = process_of(pid);
		ck_assert_int_eq(process_root(p, &root), 0);
		ck_assert_int_ge(root, 0);
		close(root);
		process_unref(p);
	}
	child_end(pid);
	close(up[0]);
}
END_TEST

static Suite *suite_make(void)
{
	Suite *s = suite_create("io_process");
	TCase *parse = tcase_create("parse"), *peer = tcase_create("peer"),
	      *table_case = tcase_create("table");

	tcase_add_test(parse, stat_parse);
	tcase_add_test(parse, status_uid);
	suite_add_tcase(s, parse);

	tcase_add_loop_test(peer, peer_is_shared, 0, 2);
	tcase_add_loop_test(peer, peer_has_died, 0, 2);
	tcase_add_loop_test(peer, out_of_descriptors, 0, 2);
	suite_add_tcase(s, peer);

	tcase_add_checked_fixture(table_case, setup, teardown);
	tcase_set_timeout(table_case, 30);
	tcase_add_test(table_case, hostile_name);
	tcase_add_test(table_case, from_pidfd);
	tcase_add_test(table_case, from_thread);
	tcase_add_test(table_case, watch);
	tcase_add_test(table_case, descends);
	tcase_add_loop_test(table_case, reparented, 0, 2);
	tcase_add_test(table_case, surroundings);
	tcase_add_test(table_case, other_root);
	tcase_add_test(table_case, other_namespace);
	suite_add_tcase(s, table_case);
	return s;
}

int main(void)
{
	return kernel_is_known() ? run_suite(suite_make()) : EXIT_SKIPPED;
}
