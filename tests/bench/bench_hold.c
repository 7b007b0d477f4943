/* SPDX-License-Identifier: MIT */
/*
 * From the call that suspends a session to the last of its processes standing still, with 1, 10
 * and 100 processes that spin; against freezing their cgroup by hand, in the same run. And how
 * far a spinning program comes meanwhile.
 *
 *     bench_hold [TRIPS]
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/approval.h"
#include "tests/bench/bench.h"

#define MOST 100

static volatile uint64_t *counters; /* of the processes that spin, in a shared file */
static char counter_file[128], group[600], session[64];
static pid_t launcher;
static struct approval *frontend;

static volatile uint64_t *counters_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *p;

	bench_need(fd >= 0 && ftruncate(fd, MOST * 64) == 0, path);
	p = mmap(NULL, MOST * 64, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	bench_need(p != MAP_FAILED, path);
	close(fd);
	return p;
}

/* The launched program. */
static void __attribute__((noreturn)) spin(const char *path, unsigned n)
{
	volatile uint64_t *c = counters_map(path);

	for (unsigned i = 1; i < n; i++)
		if (fork() == 0)
			for (c += (size_t)i * 8;;)
				++*c;
	for (;;)
		++*c;
}

static bool group_find(pid_t pid)
{
	char path[64], line[300], point[256], type[64];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "0::", 3);
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	f = fopen("/proc/mounts", "re");
	while (f && fscanf(f, "%*s %255s %63s %*[^\n]", point, type) == 2)
		if (found && !strcmp(type, "cgroup2"))
			break;
	if (f)
		fclose(f);
	snprintf(group, sizeof(group), "%s%s", point, line + 3);
	return found && strstr(line, "approval-run-");
}

static int group_open(const char *name, int flags)
{
	char path[640];

	snprintf(path, sizeof(path), "%s/%s", group, name);
	return open(path, flags | O_CLOEXEC);
}

/* The session's process, once it is known. */
static pid_t session_find(void)
{
	struct approval_value *sessions = NULL;
	const struct approval_value *item = NULL;
	static const unsigned char none[] = {0x80};
	pid_t pid = 0;

	while (!pid) {
		bench_need(approval_call_wait(
				   frontend, "sessions", none, 1, 10000, &sessions) == 0,
			"sessions");
		item = approval_value_at(approval_value_get(sessions, "items"), 0);
		pid = (pid_t)approval_value_int(approval_value_get(item, "pid"));
		snprintf(session, sizeof(session), "%s", approval_value_text(item, "session"));
		approval_value_free(sessions);
	}
	return pid;
}

static void call(const char *method)
{
	struct approval_pack *p;
	const void *data;
	size_t len;

	bench_need(approval_pack_new(&p) == 0, "memory");
	approval_pack_map(p, 1);
	approval_pack_str(p, "session");
	approval_pack_str(p, session);
	data = approval_pack_data(p, &len);
	bench_need(approval_call_wait(frontend, method, data, len, 10000, NULL) == 0, method);
	approval_pack_free(p);
}

static void frozen_await(bool frozen)
{
	struct pollfd p = {.fd = group_open("cgroup.events", O_RDONLY), .events = POLLPRI};
	char text[256];
	ssize_t n;

	for (;;) {
		n = pread(p.fd, text, sizeof(text) - 1, 0);
		bench_need(n > 0, group);
		text[n] = '\0';
		if ((strstr(text, "frozen 1") != NULL) == frozen)
			break;
		bench_need(poll(&p, 1, 10000) == 1, "freezing");
	}
	close(p.fd);
}

static bool runs(int pid)
{
	char path[64], state = 'X';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(f);
	return !strchr("TZX", state);
}

/* All stand, or none does. */
static void stopped_await(bool stopped)
{
	for (bool done = false; !done;) {
		int pid, fd = group_open("cgroup.procs", O_RDONLY);
		FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

		bench_need(f != NULL, group);
		for (done = true; done && fscanf(f, "%d", &pid) == 1;)
			done = runs(pid) != stopped;
		fclose(f);
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct delays {
	double p50_us, p99_us;
	double steps; /* of the first process meanwhile */
};

static void measure(unsigned trips, int freeze, bool stop, struct delays *out)
{
	int64_t *took = calloc(trips, sizeof(*took)), *steps = calloc(trips, sizeof(*steps));

	bench_need(took && steps, "memory");
	for (unsigned i = 0; i < trips; i++) {
		uint64_t before = counters[0];
		int64_t t = bench_ns();

		if (freeze >= 0)
			bench_need(pwrite(freeze, "1", 1, 0) == 1, "cgroup.freeze");
		else
			call("suspend");
		if (stop)
			stopped_await(true);
		else
			frozen_await(true);
		took[i] = bench_ns() - t;
		steps[i] = (int64_t)(counters[0] - before);
		if (freeze >= 0)
			bench_need(pwrite(freeze, "0", 1, 0) == 1, "cgroup.freeze");
		else
			call("resume");
		if (stop)
			stopped_await(false);
		else
			frozen_await(false);
	}
	qsort(took, trips, sizeof(*took), compare);
	qsort(steps, trips, sizeof(*steps), compare);
	out->p50_us = (double)took[trips / 2] / 1e3;
	out->p99_us = (double)took[trips * 99 / 100] / 1e3;
	out->steps = (double)steps[trips / 2];
	free(took);
	free(steps);
}

static void launch(const char *self, const struct bench_server *s, unsigned n, const char *how)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", n);
	launcher = fork();
	if (launcher == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("APPROVAL_SOCKET", s->agent, 1);
		execl("./approval-run", "approval-run", how, "--", self, "spin", counter_file,
			number, (char *)NULL);
		_exit(127);
	}
	session_find();
	/* until all of them spin */
	for (unsigned i = 0; i < n; i++)
		for (uint64_t was = counters[(size_t)i * 8]; counters[(size_t)i * 8] == was;)
			poll(NULL, 0, 1);
	bench_need(group_find(session_find()), "no cgroup can be made here");
}

static void land(void)
{
	call("kill");
	waitpid(launcher, NULL, 0);
	for (bool there = true; there;) {
		static const unsigned char none[] = {0x80};
		struct approval_value *v = NULL;

		bench_need(approval_call_wait(frontend, "sessions", none, 1, 10000, &v) == 0,
			"sessions");
		there = approval_value_count(approval_value_get(v, "items")) > 0;
		approval_value_free(v);
	}
}

int main(int argc, char **argv)
{
	unsigned trips = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
	struct approval_options o;
	struct bench_server s;

	if (argc == 4 && !strcmp(argv[1], "spin"))
		spin(argv[2], (unsigned)atoi(argv[3]));
	setvbuf(stdout, NULL, _IOLBF, 0);
	bench_broker(&s, "sqlite");
	snprintf(counter_file, sizeof(counter_file), "%s/counters", s.dir);
	counters = counters_map(counter_file);
	approval_options_init(&o, APPROVAL_FRONTEND);
	o.socket = s.frontend;
	o.trust_socket = true;
	bench_need(approval_new(&frontend, &o) == 0, "memory");
	for (unsigned n = 1; n <= MOST; n *= 10) {
		struct delays hand, freeze, stop;
		int fd;

		launch(argv[0], &s, n, "--freeze");
		fd = group_open("cgroup.freeze", O_WRONLY);
		bench_need(fd >= 0, group);
		measure(trips, fd, false, &hand);
		measure(trips, -1, false, &freeze);
		close(fd);
		land();
		launch(argv[0], &s, n, "--stop");
		measure(trips, -1, true, &stop);
		land();
		printf("%3u processes, cgroup.freeze by hand: p50 %8.0f us  p99 %8.0f us\n", n,
			hand.p50_us, hand.p99_us);
		printf("%3u processes, suspend, frozen:       p50 %8.0f us  p99 %8.0f us  "
		       "ratio "
		       "%.2f, %.2f; %.0f steps of a loop\n",
			n, freeze.p50_us, freeze.p99_us, freeze.p50_us / hand.p50_us,
			freeze.p99_us / hand.p99_us, freeze.steps);
		printf("%3u processes, suspend, stopped:      p50 %8.0f us  p99 %8.0f us  "
		       "ratio "
		       "%.2f, %.2f; %.0f steps of a loop\n",
			n, stop.p50_us, stop.p99_us, stop.p50_us / hand.p50_us,
			stop.p99_us / hand.p99_us, stop.steps);
	}
	approval_free(frontend);
	bench_end(&s);
	return 0;
}
