/* SPDX-License-Identifier: MIT */
/* Where the broker is sought, and who is taken for it. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/place.h"
#include "libapproval/trust.h"

#define STRANGER 65533 /* some uid that is neither ours nor the overflow uid */

START_TEST(test_choice)
{
	static const struct {
		struct place_facts facts;
		enum approval_side side;
		const char *path;
		bool compiled, shared;
	} cases[] = {
		{{"/o", "/e", "/run/user/7", true, 7}, APPROVAL_AGENT, "/o", false, false},
		{{"", "/e", "/run/user/7", true, 7}, APPROVAL_AGENT, "/e", false, false},
		{{NULL, NULL, "/run/user/7", true, 7}, APPROVAL_AGENT,
			"/run/approvald/agent/sock", true, false},
		{{NULL, "", "/run/user/7", true, 7}, APPROVAL_FRONTEND,
			"/run/approvald/frontend/sock", true, false},
		{{NULL, NULL, "/run/user/7", false, 7}, APPROVAL_AGENT,
			"/run/user/7/approvald/agent/sock", false, false},
		{{NULL, NULL, "/run/user/7", false, 7}, APPROVAL_FRONTEND,
			"/run/user/7/approvald/frontend/sock", false, false},
		{{NULL, NULL, "", false, 4000000000u}, APPROVAL_AGENT,
			"/tmp/approvald-4000000000/agent/sock", true, true},
		/* what is not absolute is as if it were not there, as XDG says */
		{{NULL, NULL, "run/user/7", false, 7}, APPROVAL_AGENT,
			"/tmp/approvald-7/agent/sock", true, true},
		{{NULL, NULL, ".", false, 7}, APPROVAL_FRONTEND,
			"/tmp/approvald-7/frontend/sock", true, true},
		{{NULL, NULL, NULL, false, 7}, APPROVAL_FRONTEND,
			"/tmp/approvald-7/frontend/sock", true, true},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct place p;

		ck_assert_int_eq(place_choose(&p, cases[i].side, &cases[i].facts), 0);
		ck_assert_str_eq(p.path, cases[i].path);
		ck_assert_int_eq(p.compiled, cases[i].compiled);
		ck_assert_int_eq(p.shared, cases[i].shared);
		ck_assert_int_eq(p.system, cases[i].facts.system);
		free(p.path);
	}
}
END_TEST

START_TEST(test_shared_folder_must_be_ours)
{
	/* a uid that nobody has: nothing of anyone's is touched */
	uid_t uid = 3999999000u + (uid_t)getpid() % 900;
	struct place p = {.shared = true};
	char folder[64];

	snprintf(folder, sizeof(folder), "/tmp/approvald-%u", (unsigned int)uid);
	ck_assert_int_eq(place_verify(&p, uid), -ENOENT);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	/* made by us, not by that uid */
	ck_assert_int_eq(place_verify(&p, uid), -EPERM);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(folder, uid, 0), 0);
		ck_assert_int_eq(place_verify(&p, uid), 0);
		ck_assert_int_eq(chmod(folder, 0770), 0);
		ck_assert_int_eq(place_verify(&p, uid), -EPERM);
	}
	ck_assert_int_eq(rmdir(folder), 0);
	ck_assert_int_eq(symlink("/tmp", folder), 0);
	ck_assert_int_eq(place_verify(&p, uid), -EPERM);
	ck_assert_int_eq(unlink(folder), 0);
	p.shared = false;
	ck_assert_int_eq(place_verify(&p, uid), 0);
}
END_TEST

START_TEST(test_descent)
{
	int pipes[2];
	pid_t child, grandchild;

	ck_assert_int_eq(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		grandchild = fork();
		if (grandchild == 0) {
			pause();
			_exit(0);
		}
		if (write(pipes[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(pipes[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	ck_assert_int_eq(trust_descends(getpid(), getpid()), 1);
	ck_assert_int_eq(trust_descends(child, getpid()), 1);
	ck_assert_int_eq(trust_descends(grandchild, getpid()), 1);
	ck_assert_int_eq(trust_descends(grandchild, child), 1);
	ck_assert_int_eq(trust_descends(getpid(), child), 0);
	ck_assert_int_eq(trust_descends(getppid(), getpid()), 0);
	kill(grandchild, SIGKILL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* one that cannot be seen is no proof of anything */
	ck_assert_int_lt(trust_descends(child, getpid()), 0);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

START_TEST(test_pid_of)
{
	pid_t child = fork();
	int fd;

	if (child == 0) {
		pause();
		_exit(0);
	}
	fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (fd < 0) /* valgrind does not know it */
		ck_assert_int_eq(errno, ENOSYS);
	else
		ck_assert_int_eq(trust_pid_of(fd), child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (fd >= 0)
		ck_assert_int_eq(trust_pid_of(fd), -ESRCH);
	close(fd);
	fd = dup(0);
	ck_assert_int_lt(trust_pid_of(fd), 0);
	close(fd);
	ck_assert_int_lt(trust_pid_of(fd), 0);
}
END_TEST

/* ---- who serves a socket ---- */

static char folder[32], path[64];

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/lib-trust-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sock", folder);
}

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

static struct sockaddr_un address(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	return at;
}

static int serve(void)
{
	struct sockaddr_un at = address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 4) < 0)
		return -1;
	return fd;
}

static int connect_there(void)
{
	struct sockaddr_un at = address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return -1;
	return fd;
}

START_TEST(test_own_process)
{
	struct place p = {.path = path};
	int listener = serve(), fd = connect_there();

	ck_assert_int_ge(fd, 0);
	/* a frontend may serve itself what it likes; an agent may not */
	ck_assert_int_eq(trust_judge(fd, &p, 0), TRUST_OK);
	ck_assert_int_eq(trust_judge(fd, &p, getpid()), TRUST_OFFSPRING);
	ck_assert_int_eq(trust_judge(fd, &p, getppid()), TRUST_OFFSPRING);
	/* where there is a system broker, our own is none */
	p.system = true;
	ck_assert_int_eq(trust_judge(fd, &p, 0), geteuid() ? TRUST_NOT_SYSTEM : TRUST_OK);
	close(fd);
	close(listener);
}
END_TEST

/* A child that listens as that uid; returns when it does. */
static pid_t serving_child(uid_t uid, int *keep)
{
	int pipes[2];
	char ok;
	pid_t child;

	ck_assert_int_eq(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		close(pipes[0]);
		if (uid != geteuid() && (chmod(folder, 0777) < 0 || setuid(uid) < 0))
			_exit(1);
		if (serve() < 0 || write(pipes[1], "k", 1) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	close(pipes[1]);
	ck_assert_int_eq(read(pipes[0], &ok, 1), 1);
	*keep = pipes[0];
	return child;
}

static void end_child(pid_t child, int keep)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(keep);
}

START_TEST(test_offspring)
{
	struct place p = {.path = path};
	int keep, fd;
	pid_t child = serving_child(geteuid(), &keep);

	fd = connect_there();
	ck_assert_int_eq(trust_judge(fd, &p, getpid()), TRUST_OFFSPRING);
	ck_assert_int_eq(trust_judge(fd, &p, child), TRUST_OFFSPRING);
	/* dead, so nobody can tell whose child it was */
	end_child(child, keep);
	ck_assert_int_lt(trust_judge(fd, &p, getpid()), 0);
	close(fd);
}
END_TEST

START_TEST(test_broker_that_is_no_offspring)
{
	struct place p = {.path = path};
	int listener = serve(), status;
	pid_t agent = fork();

	if (agent == 0) {
		int fd = connect_there();

		_exit(trust_judge(fd, &p, getpid()) == TRUST_OK ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(agent, &status, 0), agent);
	ck_assert_int_eq(status, 0);
	close(listener);
}
END_TEST

START_TEST(test_stranger)
{
	struct place p = {.path = path};
	int keep, fd;
	pid_t child;

	if (geteuid() != 0)
		return; /* only root makes processes of others */
	child = serving_child(STRANGER, &keep);
	fd = connect_there();
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(trust_judge(fd, &p, 0), TRUST_STRANGER);
	ck_assert_int_eq(trust_judge(fd, &p, getpid()), TRUST_STRANGER);
	p.system = true;
	ck_assert_int_eq(trust_judge(fd, &p, 0), TRUST_NOT_SYSTEM);
	close(fd);
	end_child(child, keep);
	chmod(folder, 0700);
}
END_TEST

START_TEST(test_root_serves_everybody)
{
	struct place p = {.path = path};
	int listener, status;
	pid_t client;

	if (geteuid() != 0)
		return;
	listener = serve();
	ck_assert_int_eq(chmod(folder, 0755), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	client = fork();
	if (client == 0) {
		int fd;

		if (setuid(STRANGER) < 0)
			_exit(2);
		fd = connect_there();
		if (fd < 0 || trust_judge(fd, &p, getpid()) != TRUST_OK)
			_exit(3);
		p.system = true;
		_exit(trust_judge(fd, &p, getpid()) == TRUST_OK ? 0 : 4);
	}
	ck_assert_int_eq(waitpid(client, &status, 0), client);
	ck_assert_int_eq(status, 0);
	close(listener);
}
END_TEST

/* Seen from a pid namespace of its own, the broker has no pid. */
START_TEST(test_unseen)
{
	int listener = serve(), status;
	pid_t outer = fork();

	if (outer == 0) {
		struct place p = {.path = path};
		pid_t inner;

		if (unshare(CLONE_NEWPID) < 0)
			_exit(77);
		inner = fork();
		if (inner == 0) {
			int fd = connect_there();

			/* we could have made that folder */
			if (trust_judge(fd, &p, getpid()) != TRUST_UNSEEN)
				_exit(1);
			/* nobody but the administrator makes that one */
			p.compiled = p.system = true;
			if (trust_judge(fd, &p, getpid()) != TRUST_OK)
				_exit(2);
			p.compiled = p.system = false;
			/* nor could another user */
			if (geteuid() == 0 &&
				(setuid(STRANGER) < 0 ||
					trust_judge(fd, &p, getpid()) != TRUST_OK))
				_exit(3);
			_exit(0);
		}
		if (inner < 0 || waitpid(inner, &status, 0) != inner || !WIFEXITED(status))
			_exit(4);
		_exit(WEXITSTATUS(status));
	}
	if (geteuid() == 0)
		chmod(folder, 0755);
	ck_assert_int_eq(waitpid(outer, &status, 0), outer);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) /* namespaces are not for us here */
		ck_assert_int_eq(WEXITSTATUS(status), 0);
	close(listener);
}
END_TEST

START_TEST(test_reasons)
{
	int t;

	for (t = TRUST_OK; t <= TRUST_OFFSPRING; t++)
		ck_assert_str_ne(trust_reason(t), "cannot be judged");
	ck_assert_str_eq(trust_reason(99), "cannot be judged");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_place");
	TCase *t = tcase_create("place"), *u = tcase_create("trust");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, test_choice);
	tcase_add_test(t, test_shared_folder_must_be_ours);
	tcase_add_test(t, test_descent);
	tcase_add_test(t, test_pid_of);
	tcase_add_test(t, test_reasons);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(u, make_folder, remove_folder);
	tcase_add_test(u, test_own_process);
	tcase_add_test(u, test_offspring);
	tcase_add_test(u, test_broker_that_is_no_offspring);
	tcase_add_test(u, test_stranger);
	tcase_add_test(u, test_root_serves_everybody);
	tcase_add_test(u, test_unseen);
	suite_add_tcase(s, u);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
