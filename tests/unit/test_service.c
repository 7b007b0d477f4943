/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "broker/log.h"
#include "broker/service.h"
#include "tests/unit/io_util.h"

static char *dir;

static void setup(void)
{
	dir = folder_make();
}

static void teardown(void)
{
	folder_remove(dir);
}

/* ---- folders ---- */

START_TEST(paths)
{
	struct service_paths p;
	char want[512], cwd[256];

	setenv("HOME", "/home/u", 1);
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	setenv("XDG_STATE_HOME", "/st", 1);
	setenv("XDG_CONFIG_HOME", "/cf", 1);
	ck_assert_int_eq(service_paths_find(&p, NULL, NULL, NULL), 0);
	ck_assert_str_eq(p.runtime, "/run/user/7/approvald");
	ck_assert_str_eq(p.agent, "/run/user/7/approvald/agent");
	ck_assert_str_eq(p.frontend, "/run/user/7/approvald/frontend");
	ck_assert_str_eq(p.state, "/st/approvald");
	ck_assert_uint_eq(p.n_config, 2);
	ck_assert_str_eq(p.config[0], PKG_SYSCONFDIR "/approvald.conf");
	ck_assert_str_eq(p.config[1], "/cf/approvald/approvald.conf");
	ck_assert(!p.config_given);
	service_paths_release(&p);

	/* what is not absolute is as if it were not there */
	setenv("XDG_RUNTIME_DIR", "run", 1);
	setenv("XDG_STATE_HOME", "", 1);
	unsetenv("XDG_CONFIG_HOME");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(service_paths_find(&p, NULL, NULL, NULL), 0);
		snprintf(want, sizeof(want), "/tmp/approvald-%u", (unsigned)getuid());
		ck_assert_str_eq(p.runtime, want);
		ck_assert_str_eq(p.state, "/home/u/.local/state/approvald");
		ck_assert_str_eq(p.config[1], "/home/u/.config/approvald/approvald.conf");
		service_paths_release(&p);
		setenv("XDG_RUNTIME_DIR", "./run", 1);
		setenv("XDG_STATE_HOME", "state", 1);
		setenv("XDG_CONFIG_HOME", "..", 1);
	}

	ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
	ck_assert_int_eq(service_paths_find(&p, "/r", "st", "/etc/mine"), 0);
	ck_assert_str_eq(p.runtime, "/r");
	snprintf(want, sizeof(want), "%s/st", cwd);
	ck_assert_str_eq(p.state, want);
	ck_assert_uint_eq(p.n_config, 1);
	ck_assert_str_eq(p.config[0], "/etc/mine");
	ck_assert(p.config_given);
	service_paths_release(&p);
	ck_assert_int_eq(service_paths_find(&p, "", NULL, NULL), -EINVAL);
	ck_assert_int_eq(service_paths_find(&p, NULL, NULL, ""), -EINVAL);
}
END_TEST

START_TEST(folder)
{
	struct stat st;

	umask(0);
	ck_assert_int_eq(service_folder(below(dir, "a/b")), 0);
	ck_assert_int_eq(stat(below(dir, "a/b"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(service_folder(below(dir, "a/b")), 0);
	ck_assert_int_eq(symlink("a", below(dir, "l")), 0);
	ck_assert_int_eq(service_folder(below(dir, "l")), -ELOOP);
	/* above it a link is as good as a folder: /var/run is one */
	ck_assert_int_eq(service_folder(below(dir, "l/c")), 0);
}
END_TEST

/* ---- activation ---- */

static void variables(const char *pid, const char *fds, const char *names)
{
	char own[16];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	if (pid)
		setenv("LISTEN_PID", strcmp(pid, "own") == 0 ? own : pid, 1);
	if (fds)
		setenv("LISTEN_FDS", fds, 1);
	if (names)
		setenv("LISTEN_FDNAMES", names, 1);
}

static void variables_are_gone(void)
{
	ck_assert_ptr_null(getenv("LISTEN_PID"));
	ck_assert_ptr_null(getenv("LISTEN_FDS"));
	ck_assert_ptr_null(getenv("LISTEN_FDNAMES"));
}

/* The socket becomes descriptor number n, without close-on-exec. */
static void pass(int fd, int n)
{
	if (fd != n) {
		ck_assert_int_eq(dup2(fd, n), n);
		close(fd);
	}
	fcntl(n, F_SETFD, 0);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Makes room for the descriptors from 3 on: the test's process is its own. */
static void room(void)
{
	for (int fd = 3; fd < 16; fd++)
		close(fd);
}

static struct service_paths paths_in_dir(void)
{
	struct service_paths p = {0};

	p.agent = strdup(below(dir, "agent"));
	p.frontend = strdup(below(dir, "frontend"));
	ck_assert_int_eq(mkdir(p.agent, 0700), 0);
	ck_assert_int_eq(mkdir(p.frontend, 0700), 0);
	return p;
}

START_TEST(sockets_by_name)
{
	struct service_paths p = paths_in_dir();
	struct service_sockets s;

	room();
	pass(listen_at(below(dir, "x")), 3);
	pass(listen_at(below(dir, "y")), 4);
	pass(listen_at(below(dir, "z")), 5);
	variables("own", "3", "frontend:other:agent");
	ck_assert_int_eq(service_sockets_take(&s, &p), 2);
	ck_assert_int_eq(s.fd[LISTENER_FRONTEND], 3);
	ck_assert_int_eq(s.fd[LISTENER_AGENT], 5);
	ck_assert(!is_open(4));
	ck_assert_int_eq(fcntl(3, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(5, F_GETFD), FD_CLOEXEC);
	variables_are_gone();
	ck_assert_int_eq(service_sockets_take(&s, &p), 0);
	close(3);
	close(5);
	service_paths_release(&p);
}
END_TEST

START_TEST(sockets_by_path)
{
	struct service_paths p = paths_in_dir();
	struct service_sockets s;

	room();
	pass(listen_at(below(dir, "frontend/sock")), 3);
	pass(listen_at(below(dir, "agent/sock")), 4);
	variables("own", "2", _i ? "approvald.socket:approvald.socket" : NULL);
	ck_assert_int_eq(service_sockets_take(&s, &p), 2);
	ck_assert_int_eq(s.fd[LISTENER_FRONTEND], 3);
	ck_assert_int_eq(s.fd[LISTENER_AGENT], 4);
	close(3);
	close(4);
	service_paths_release(&p);
}
END_TEST

START_TEST(sockets_refused)
{
	static const struct {
		const char *pid, *fds, *names;
		int rc;
	} bad[] = {
		{"1", "1", "agent", 0},
		{NULL, "1", "agent", 0},
		{"own", NULL, "agent", 0},
		{"own", "0", NULL, 0},
		{"own", "-1", NULL, -EINVAL},
		{"own", "x", NULL, -EINVAL},
		{"own", "", NULL, -EINVAL},
		{"own", "99999", NULL, -EINVAL},
		{"own", "9999999999999999999999", NULL, -EINVAL},
		{"1x", "1", NULL, -EINVAL},
		{"own", "2", "agent:agent", -EINVAL},
		{"own", "12", "agent:frontend", -EINVAL},
	};
	struct service_paths p = paths_in_dir();
	struct service_sockets s;

	room();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pass(open("/dev/null", O_RDONLY), 3);
		pass(open("/dev/null", O_RDONLY), 4);
		variables(bad[i].pid, bad[i].fds, bad[i].names);
		ck_assert_msg(service_sockets_take(&s, &p) == bad[i].rc, "%zu", i);
		ck_assert_int_eq(s.fd[0], -1);
		ck_assert_int_eq(s.fd[1], -1);
		variables_are_gone();
	}
	close(3);
	close(4);
	service_paths_release(&p);
}
END_TEST

/* ---- readiness ---- */

static int notify_listen(char *name, size_t size, bool abstract)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), n;

	n = snprintf(sa.sun_path, sizeof(sa.sun_path), "%s%s", abstract ? "@" : "",
		below(dir, "notify"));
	snprintf(name, size, "%s", sa.sun_path);
	if (abstract)
		sa.sun_path[0] = '\0';
	ck_assert_int_eq(
		bind(fd, (struct sockaddr *)&sa,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)),
		0);
	return fd;
}

static const char *heard(int fd)
{
	static char buf[1024];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	ck_assert_int_ge(n, 0);
	buf[n] = '\0';
	return buf;
}

START_TEST(notify)
{
	struct service_notify n;
	char name[128], pid[16], longest[2000];
	int fd = notify_listen(name, sizeof(name), _i);

	setenv("NOTIFY_SOCKET", name, 1);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	setenv("WATCHDOG_USEC", "2000000", 1);
	ck_assert_int_eq(service_notify_init(&n), 0);
	ck_assert_uint_eq(n.watchdog_us, 2000000);
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
	ck_assert_ptr_null(getenv("WATCHDOG_PID"));
	ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
	ck_assert_int_eq(service_notify_ready(&n, "2 sockets\nSTOPPING=1"), 0);
	ck_assert_str_eq(heard(fd), "READY=1\nSTATUS=2 sockets STOPPING=1");
	ck_assert_int_eq(service_notify_reloading(&n), 0);
	ck_assert_int_eq(strncmp(heard(fd), "RELOADING=1\nMONOTONIC_USEC=", 27), 0);
	ck_assert_int_eq(service_notify_status(&n, "busy"), 0);
	ck_assert_str_eq(heard(fd), "STATUS=busy");
	ck_assert_int_eq(service_notify_watchdog(&n), 0);
	ck_assert_str_eq(heard(fd), "WATCHDOG=1");
	ck_assert_int_eq(service_notify_stopping(&n), 0);
	ck_assert_str_eq(heard(fd), "STOPPING=1");
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_int_eq(service_notify_status(&n, longest), 0);
	ck_assert_uint_lt(strlen(heard(fd)), 400);
	close(fd);
	ck_assert_int_lt(service_notify_watchdog(&n), 0);
	service_notify_release(&n);
	ck_assert_int_eq(service_notify_watchdog(&n), 0);
}
END_TEST

START_TEST(notify_none)
{
	struct service_notify n;

	unsetenv("NOTIFY_SOCKET");
	setenv("WATCHDOG_USEC", "5", 1);
	ck_assert_int_eq(service_notify_init(&n), 0);
	ck_assert_int_eq(n.fd, -1);
	ck_assert_uint_eq(n.watchdog_us, 0);
	ck_assert_int_eq(service_notify_ready(&n, "x"), 0);
	service_notify_release(&n);
	setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
	ck_assert_int_eq(service_notify_init(&n), -EPROTONOSUPPORT);
	ck_assert_int_eq(n.fd, -1);
	setenv("NOTIFY_SOCKET", "@", 1);
	ck_assert_int_eq(service_notify_init(&n), -EPROTONOSUPPORT);
	/* a watchdog meant for another process */
	setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
	setenv("WATCHDOG_PID", "1", 1);
	setenv("WATCHDOG_USEC", "5", 1);
	ck_assert_int_eq(service_notify_init(&n), 0);
	ck_assert_uint_eq(n.watchdog_us, 0);
	ck_assert_int_eq(service_notify_ready(&n, "x"), -ENOENT);
	service_notify_release(&n);
}
END_TEST

START_TEST(nofile)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max / 2;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(service_raise_nofile(), (int64_t)limit.rlim_max);
	getrlimit(RLIMIT_NOFILE, &limit);
	ck_assert_uint_eq(limit.rlim_cur, limit.rlim_max);
}
END_TEST

/* ---- the log ---- */

static const char *quoted(const char *text, size_t len, size_t size)
{
	static char buf[256];

	return log_quote(buf, size, (struct bytes){text, len});
}
#define Q(text) quoted(text, sizeof(text) - 1, 256)

START_TEST(quote)
{
	ck_assert_str_eq(Q("plain"), "\"plain\"");
	ck_assert_str_eq(Q(""), "\"\"");
	ck_assert_str_eq(Q("a\"b\\c"), "\"a\\\"b\\\\c\"");
	ck_assert_str_eq(Q("a\nb\x1b[0m\x7f\0z"), "\"a\\x0ab\\x1b[0m\\x7f\\x00z\"");
	ck_assert_str_eq(Q("grün 日本 😀"), "\"grün 日本 😀\"");
	ck_assert_str_eq(Q("\xe2\x80\xae"
			   "evil\xc2\x85"),
		"\"\\u{202e}evil\\u{85}\"");
	ck_assert_str_eq(Q("\xe2\x81\xa6\xef\xbb\xbf\xf3\xa0\x81\x81"),
		"\"\\u{2066}\\u{feff}\\u{e0041}\"");
	/* broken: lone, cut, overlong, a surrogate, too large */
	ck_assert_str_eq(Q("\x80"), "\"\\x80\"");
	ck_assert_str_eq(Q("\xe2\x80"), "\"\\xe2\\x80\"");
	ck_assert_str_eq(Q("\xc0\xaf"), "\"\\xc0\\xaf\"");
	ck_assert_str_eq(Q("\xe0\x80\xaf"), "\"\\xe0\\x80\\xaf\"");
	ck_assert_str_eq(Q("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\"");
	ck_assert_str_eq(Q("\xf4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\"");
	/* cut to the buffer, between characters */
	for (size_t size = 8; size < 40; size++) {
		const char *q =
			quoted("äöü\n0123456789012345678901234567890123456789", 48, size);

		ck_assert_uint_lt(strlen(q), size);
		ck_assert_ptr_nonnull(strstr(q, "…\""));
	}
	ck_assert_str_eq(quoted("äöü", 6, 9), "\"ä…\"");
}
END_TEST

START_TEST(log_lines)
{
	struct log log = {.level = LOG_LEVEL_INFO};
	char buf[8192], longest[6000];
	int pipes[2];
	ssize_t n;

	ck_assert_int_eq(pipe(pipes), 0);
	log.fd = pipes[1];
	log_info(&log, "from %s", "a\n<0>forged");
	log_debug(&log, "not written");
	log_write(NULL, LOG_LEVEL_ERROR, "nowhere");
	log.prefixes = true;
	log_error(&log, "bad");
	log.name = "approvald";
	log_error(&log, "store %s", "x\n");
	log.name = NULL;
	n = read(pipes[0], buf, sizeof(buf) - 1);
	ck_assert_int_gt(n, 0);
	buf[n] = '\0';
	ck_assert_str_eq(buf, "from a\\x0a<0>forged\n<3>bad\n<3>approvald: store x\\x0a\n");
	/* the longest and worst line is one line still */
	memset(longest, '\n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	log_error(&log, "%s", longest);
	n = read(pipes[0], buf, sizeof(buf) - 1);
	ck_assert_int_gt(n, 1000);
	ck_assert_ptr_eq(memchr(buf, '\n', (size_t)n), buf + n - 1);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

START_TEST(journal)
{
	struct log log;
	struct stat st;
	char text[64];

	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", text, 1);
	log_init(&log, LOG_LEVEL_INFO);
	ck_assert(log.prefixes);
	strcat(text, "1");
	setenv("JOURNAL_STREAM", text, 1);
	log_init(&log, LOG_LEVEL_INFO);
	ck_assert(!log.prefixes);
	setenv("JOURNAL_STREAM", "x:y", 1);
	log_init(&log, LOG_LEVEL_INFO);
	ck_assert(!log.prefixes);
	unsetenv("JOURNAL_STREAM");
	log_init(&log, LOG_LEVEL_INFO);
	ck_assert(!log.prefixes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("service");
	TCase *t = tcase_create("service");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, paths);
	tcase_add_test(t, folder);
	tcase_add_test(t, sockets_by_name);
	tcase_add_loop_test(t, sockets_by_path, 0, 2);
	tcase_add_test(t, sockets_refused);
	tcase_add_loop_test(t, notify, 0, 2);
	tcase_add_test(t, notify_none);
	tcase_add_test(t, nofile);
	tcase_add_test(t, quote);
	tcase_add_test(t, log_lines);
	tcase_add_test(t, journal);
	suite_add_tcase(s, t);
	return run_suite(s);
}
