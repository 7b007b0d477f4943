/* SPDX-License-Identifier: MIT */
#include <event2/event.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "broker/io/folder.h"
#include "broker/io/listener.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

static struct event_base *base;
static struct process_table *table;
static struct log quiet = {.fd = -1, .level = LOG_LEVEL_ERROR};
static struct listener_config config;
static char *dir;
static int fds_before;

static struct {
	int fd;
	struct process_id id;
	struct process_cred cred;
	bool recorded;
} came[256];
static unsigned n_came;

static void on_accepted(void *arg, enum listener_kind kind, int fd,
	const struct process_cred *cred, struct process *process)
{
	ck_assert_ptr_eq(arg, &n_came);
	ck_assert_int_eq(kind, config.kind);
	ck_assert_uint_lt(n_came, 256);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	came[n_came].fd = fd;
	came[n_came].id = process->id;
	came[n_came].cred = *cred;
	came[n_came++].recorded = process->chain != NULL;
	process_unref(process);
}

static void setup(void)
{
	fds_before = fd_count();
	base = event_base_new();
	ck_assert_int_eq(process_table_new(&table, base, 0, NULL, NULL), 0);
	dir = strdup(folder_make());
	config = (struct listener_config){
		.kind = LISTENER_AGENT,
		.folder = strdup(below(dir, "agent")),
		.folder_mode = 0700,
		.socket_mode = 0600,
		.socket_gid = (gid_t)-1,
		.own_uid_only = true,
	};
	n_came = 0;
}

static void teardown(void)
{
	for (unsigned i = 0; i < n_came; i++)
		close(came[i].fd);
	process_table_free(table);
	event_base_free(base);
	folder_remove(dir);
	free((char *)(uintptr_t)config.folder);
	free(dir);
	ck_assert_int_eq(fd_count(), fds_before);
}

static int try_open(struct listener **l)
{
	*l = NULL;
	return listener_open(l, &config, base, table, &quiet, on_accepted, &n_came);
}

static struct listener *must_open(void)
{
	struct listener *l;

	ck_assert_int_eq(try_open(&l), 0);
	return l;
}

static const char *sock(void)
{
	return below(config.folder, "sock");
}

static void turn(void)
{
	event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

static void await(unsigned n)
{
	while (n_came < n)
		event_base_loop(base, EVLOOP_ONCE);
}

/* Whether the other side has closed. */
static bool closed(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) <= 0;
}

START_TEST(accepts)
{
	struct listener *l;
	struct stat st;
	int c;

	config.kind = _i ? LISTENER_FRONTEND : LISTENER_AGENT;
	l = must_open();
	ck_assert_int_eq(stat(config.folder, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(sock(), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	c = connect_to(sock());
	await(1);
	ck_assert_uint_eq(came[0].id.pid, (uint32_t)getpid());
	ck_assert_uint_eq(came[0].cred.uid, getuid());
	ck_assert(came[0].recorded == (config.kind == LISTENER_FRONTEND));
	listener_close(l);
	ck_assert_int_eq(access(sock(), F_OK), -1);
	close(c);
}
END_TEST

START_TEST(stale)
{
	struct listener *l;
	int dead, c;

	ck_assert_int_eq(mkdir(config.folder, 0700), 0);
	dead = listen_at(sock());
	close(dead);
	ck_assert_int_eq(connect_to(sock()), -1);
	ck_assert_int_eq(errno, ECONNREFUSED);
	l = must_open();
	c = connect_to(sock());
	ck_assert_int_ge(c, 0);
	await(1);
	close(c);
	listener_close(l);
}
END_TEST

START_TEST(live)
{
	struct listener *l = must_open(), *second;
	int foreign, c;

	/* by the lock, and without one by the connection */
	ck_assert_int_eq(try_open(&second), -EADDRINUSE);
	c = connect_to(sock());
	ck_assert_int_ge(c, 0);
	await(1);
	close(c);
	listener_close(l);
	foreign = listen_at(sock());
	ck_assert_int_eq(try_open(&second), -EADDRINUSE);
	/* also while its queue is full */
	c = connect_to(sock());
	ck_assert_int_ge(c, 0);
	ck_assert_int_eq(try_open(&second), -EADDRINUSE);
	close(c);
	close(foreign);
	l = must_open();
	listener_close(l);
}
END_TEST

/* At the end only what is ours is removed. */
START_TEST(replaced)
{
	struct listener *l = must_open();
	int other;

	ck_assert_int_eq(unlink(sock()), 0);
	other = listen_at(sock());
	listener_close(l);
	ck_assert_int_eq(access(sock(), F_OK), 0);
	close(other);
}
END_TEST

START_TEST(folders)
{
	struct listener *l;
	int fd;

	/* a symlink, to a good folder even */
	ck_assert_int_eq(mkdir(below(dir, "real"), 0700), 0);
	ck_assert_int_eq(symlink("real", config.folder), 0);
	ck_assert_int_eq(try_open(&l), -ELOOP);
	ck_assert_int_eq(unlink(config.folder), 0);
	ck_assert_int_eq(symlink("nowhere", config.folder), 0);
	ck_assert_int_eq(try_open(&l), -ELOOP);
	ck_assert_int_eq(unlink(config.folder), 0);
	/* a file */
	file_write(config.folder, "");
	ck_assert_int_eq(try_open(&l), -ENOTDIR);
	ck_assert_int_eq(unlink(config.folder), 0);
	/* writable by others */
	ck_assert_int_eq(mkdir(config.folder, 0700), 0);
	ck_assert_int_eq(chmod(config.folder, 0770), 0);
	ck_assert_int_eq(try_open(&l), -EPERM);
	ck_assert_int_eq(chmod(config.folder, 0707), 0);
	ck_assert_int_eq(try_open(&l), -EPERM);
	/* readable by others: made private */
	ck_assert_int_eq(chmod(config.folder, 0755), 0);
	l = must_open();
	listener_close(l);
	ck_assert_int_eq(folder_open(config.folder, 0700, &fd), 0);
	close(fd);
	if (getuid() == 0) {
		ck_assert_int_eq(chown(config.folder, 65534, 65534), 0);
		ck_assert_int_eq(try_open(&l), -EPERM);
		ck_assert_int_eq(chown(config.folder, 0, 0), 0);
	}
	/* something else has the socket's name */
	file_write(sock(), "");
	ck_assert_int_eq(try_open(&l), -ENOTSOCK);
	ck_assert_int_eq(unlink(sock()), 0);
	ck_assert_int_eq(symlink("elsewhere", sock()), 0);
	ck_assert_int_eq(try_open(&l), -ENOTSOCK);
	ck_assert_int_eq(folder_open("relative", 0700, NULL), -EINVAL);
	ck_assert_int_eq(folder_open(below(dir, "a/b/c"), 0700, NULL), 0);
	ck_assert_int_eq(access(below(dir, "a/b/c"), X_OK), 0);
}
END_TEST

START_TEST(long_name)
{
	char name[200];
	const char *folder = config.folder;
	struct listener *l;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	config.folder = below(dir, name);
	ck_assert_int_eq(try_open(&l), -ENAMETOOLONG);
	config.folder = folder;
}
END_TEST

/* Accepted in bursts, so that what else the loop has to do gets its turn. */
START_TEST(burst)
{
	struct listener *l = must_open();
	int c[200];

	for (int i = 0; i < 200; i++) {
		c[i] = connect_to(sock());
		ck_assert_int_ge(c[i], 0);
	}
	turn();
	ck_assert_uint_eq(n_came, LIMIT_ACCEPT_BURST);
	await(200);
	for (int i = 0; i < 200; i++)
		close(c[i]);
	listener_close(l);
}
END_TEST

START_TEST(dead_peer)
{
	struct listener *l = must_open();
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(connect_to(sock()) < 0);
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	turn();
	ck_assert_uint_eq(n_came, 0);
	listener_close(l);
}
END_TEST

/* The child takes the client's part, so that only the broker's descriptors are short. */
static pid_t clients_start(int n, int *ready, int *report)
{
	int up[2], down[2];
	pid_t pid;

	ck_assert_int_eq(pipe(up), 0);
	ck_assert_int_eq(pipe(down), 0);
	pid = fork();
	if (pid == 0) {
		int fds[32], refused = 0;

		close(down[1]);
		for (int i = 0; i < n; i++)
			fds[i] = connect_to(sock());
		tell(up[1]);
		hear(down[0]);
		for (int i = 0; i < n; i++) {
			struct pollfd p = {.fd = fds[i], .events = POLLIN};

			refused += poll(&p, 1, 0) == 1;
		}
		_exit(refused);
	}
	close(up[1]);
	close(down[0]);
	hear(up[0]);
	*ready = up[0];
	*report = down[1];
	return pid;
}

/*
 * Without descriptors clients are turned away instead of left waiting, the loop
 * goes to rest, and the broker's reserve is not touched.
 */
START_TEST(out_of_descriptors)
{
	struct listener *l;
	struct rlimit old, limit;
	int ready, report, dups[512], n = 0, status, spare;
	pid_t pid;

	getrlimit(RLIMIT_NOFILE, &old);
	limit = old;
	limit.rlim_cur = 256;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	l = must_open();
	pid = clients_start(10, &ready, &report);
	/* fill up to the reserve, or (second round) to the last one */
	spare = _i ? 256 : 256 - (int)LIMIT_RESERVE_FDS;
	while (n < 512 && (dups[n] = dup(0)) >= 0)
		n++;
	while (n > 0 && dups[n - 1] >= spare)
		close(dups[--n]);
	turn();
	for (int i = 0; i < 10; i++)
		turn();
	ck_assert_uint_eq(n_came, 0);
	ck_assert_int_eq(event_base_get_num_events(base, EVENT_BASE_COUNT_ACTIVE), 0);
	tell(report);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 10);
	while (n > 0)
		close(dups[--n]);
	close(ready);
	close(report);
	/* it goes on when there are some again */
	pid = clients_start(1, &ready, &report);
	await(1);
	tell(report);
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	close(ready);
	close(report);
	listener_close(l);
	setrlimit(RLIMIT_NOFILE, &old);
}
END_TEST

START_TEST(adopted)
{
	struct listener *l;
	int s, c, pair[2];

	ck_assert_int_eq(mkdir(config.folder, 0700), 0);
	s = listen_at(sock());
	fcntl(s, F_SETFD, 0);
	ck_assert_int_eq(
		listener_adopt(&l, s, &config, base, table, &quiet, on_accepted, &n_came), 0);
	c = connect_to(sock());
	await(1);
	close(c);
	listener_close(l);
	/* it belongs to whoever made it */
	ck_assert_int_eq(access(sock(), F_OK), 0);
	ck_assert_int_eq(fcntl(s, F_GETFD), -1);

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_int_eq(
		listener_adopt(&l, pair[0], &config, base, table, &quiet, on_accepted, &n_came),
		-EINVAL);
	ck_assert_int_eq(
		listener_adopt(&l, 9999, &config, base, table, &quiet, on_accepted, &n_came),
		-EINVAL);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

START_TEST(paused)
{
	struct listener *l = must_open();
	int c;

	listener_pause(l);
	c = connect_to(sock());
	turn();
	ck_assert_uint_eq(n_came, 0);
	listener_resume(l);
	await(1);
	close(c);
	listener_close(l);
}
END_TEST

/* Another uid gets in only where the configuration says so. */
START_TEST(other_uid)
{
	struct listener *l;
	int status;
	pid_t pid;

	if (getuid() != 0)
		return;
	config.own_uid_only = _i == 0;
	config.folder_mode = 0755;
	config.socket_mode = 0666;
	ck_assert_int_eq(chmod(dir, 0755), 0);
	l = must_open();
	pid = fork();
	if (pid == 0) {
		int c;

		if (setgid(65533) || setuid(65534))
			_exit(2);
		c = connect_to(sock());
		_exit(c < 0 ? 3 : closed(c));
	}
	if (_i) {
		await(1);
		ck_assert_uint_eq(came[0].cred.uid, 65534);
		ck_assert_uint_eq(came[0].cred.gid, 65533);
		ck_assert_int_eq(send(came[0].fd, "x", 1, 0), 1);
	} else {
		event_base_loop(base, EVLOOP_ONCE);
		ck_assert_uint_eq(n_came, 0);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(WEXITSTATUS(status), _i ? 0 : 1);
	listener_close(l);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("io_listener");
	TCase *t = tcase_create("listener");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_loop_test(t, accepts, 0, 2);
	tcase_add_test(t, stale);
	tcase_add_test(t, live);
	tcase_add_test(t, replaced);
	tcase_add_test(t, folders);
	tcase_add_test(t, long_name);
	tcase_add_test(t, burst);
	tcase_add_test(t, dead_peer);
	tcase_add_loop_test(t, out_of_descriptors, 0, 2);
	tcase_add_test(t, adopted);
	tcase_add_test(t, paused);
	tcase_add_loop_test(t, other_uid, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
