/* SPDX-License-Identifier: MIT */
/*
 * From what crosses a ceiling to the last of the session's processes standing still, with 1, 10
 * and 100 that spin: from just before the report of tokens is sent, and from the moment at which
 * the time is up; against freezing their cgroup by hand, in the same run. And how far a spinning
 * program comes meanwhile.
 *
 *     bench_hold [TRIPS]
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libapproval/approval.h"
#include "tests/bench/bench.h"

#define MOST 100

#define TOKENS	1000 /* of a report, and by which a ceiling is raised */
#define TIME_MS 2    /* of a turn that is to be over in time */

enum cause {
	BY_HAND,   /* writing to cgroup.freeze: the baseline */
	BY_REPORT, /* of tokens over the ceiling */
	BY_TIME,   /* that is up */
};

/* In a file that is shared with what is launched. */
struct shared {
	uint64_t steps[MOST * 8]; /* of process i: steps[i * 8] */
	int64_t crossed;	  /* just before the ceiling was */
	uint64_t crossed_at;	  /* steps[0] then */
	bool ready;		  /* to report */
};

static volatile struct shared *shared;
static char shared_file[128], bell[128], group[600], session[64];
static pid_t launcher;
static struct approval *frontend;

static volatile struct shared *shared_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *p;

	bench_need(fd >= 0 && ftruncate(fd, sizeof(struct shared)) == 0, path);
	p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	bench_need(p != MAP_FAILED, path);
	close(fd);
	return p;
}

/* Where that is allowed: who reports, and who looks, is not to be late itself. */
static void be_first(void)
{
	const struct sched_param first = {.sched_priority = 1};

	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

static void __attribute__((noreturn)) spin(volatile uint64_t *steps)
{
	for (;;)
		++*steps;
}

/* A turn with little time: its ceiling is reached when that is up after the broker has it. */
static void turn_begin_short(struct approval *a)
{
	struct approval_pack *p;
	const void *data;
	size_t len;

	bench_need(approval_pack_new(&p) == 0, "memory");
	approval_pack_map(p, 1);
	approval_pack_str(p, "budget");
	approval_pack_map(p, 1);
	approval_pack_str(p, "time_ms");
	approval_pack_uint(p, TIME_MS);
	data = approval_pack_data(p, &len);
	shared->crossed = bench_ns() + TIME_MS * 1000000;
	bench_need(approval_call_wait(a, "turn_begin", data, len, 10000, NULL) == 0,
		"turn_begin");
	approval_pack_free(p);
}

/* The launched program: n that spin, and itself, which does what the bell rings for. */
static void __attribute__((noreturn)) agent(const char *path, const char *ring, unsigned n)
{
	struct approval_options o;
	struct approval_usage u = {.size = sizeof(u)};
	struct approval *a;
	char c;
	int fd;

	shared = shared_map(path);
	for (unsigned i = 0; i < n; i++)
		if (fork() == 0)
			spin(&shared->steps[(size_t)i * 8]);
	approval_options_init(&o, APPROVAL_AGENT);
	o.agent = o.session = "bench";
	o.trust_socket = true;
	fd = open(ring, O_RDWR | O_CLOEXEC);
	bench_need(fd >= 0 && approval_new(&a, &o) == 0, "an agent");
	bench_need(approval_turn_begin(a, NULL, NULL, 10000) == 0, "turn_begin");
	be_first();
	shared->ready = true;
	while (read(fd, &c, 1) == 1) {
		if (c == BY_TIME) {
			turn_begin_short(a);
			continue;
		}
		u.seq++;
		u.input += TOKENS;
		shared->crossed_at = shared->steps[0];
		shared->crossed = bench_ns();
		bench_need(approval_usage(a, &u, 10000) == 0, "usage");
	}
	_exit(0);
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
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	fd = open(path, flags | O_CLOEXEC);
	bench_need(fd >= 0, path);
	return fd;
}

static void group_write(const char *value)
{
	int fd = group_open("cgroup.freeze", O_WRONLY);

	bench_need(write(fd, value, 1) == 1, "cgroup.freeze");
	close(fd);
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

/* With an amount, unless its name is NULL. */
static void call(const char *method, const char *what, unsigned amount)
{
	struct approval_pack *p;
	const void *data;
	size_t len;

	bench_need(approval_pack_new(&p) == 0, "memory");
	approval_pack_map(p, what ? 2 : 1);
	approval_pack_str(p, "session");
	approval_pack_str(p, session);
	if (what) {
		approval_pack_str(p, what);
		approval_pack_uint(p, amount);
	}
	data = approval_pack_data(p, &len);
	bench_need(approval_call_wait(frontend, method, data, len, 10000, NULL) == 0, method);
	approval_pack_free(p);
}

static void sleep_until(int64_t at)
{
	const struct timespec t = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* The kernel tells of a change at most each ten milliseconds, so that it is looked for. */
static void frozen_await(bool frozen)
{
	int fd = group_open("cgroup.events", O_RDONLY);
	int64_t until = bench_ns() + 10 * INT64_C(1000000000);
	char text[256];
	ssize_t n;

	for (;;) {
		n = pread(fd, text, sizeof(text) - 1, 0);
		bench_need(n > 0, group);
		text[n] = '\0';
		if ((strstr(text, "frozen 1") != NULL) == frozen)
			break;
		bench_need(bench_ns() < until, "freezing");
		sleep_until(bench_ns() + 20000);
	}
	close(fd);
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
		FILE *f = fdopen(fd, "r");

		bench_need(f != NULL, group);
		for (done = true; done && fscanf(f, "%d", &pid) == 1;)
			done = runs(pid) != stopped;
		fclose(f);
		if (!done)
			sleep_until(bench_ns() + 20000);
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct delays {
	double p50_us, p99_us;
	double steps; /* of the first process meanwhile, in the middle of all trips */
};

static void delays_of(unsigned trips, int64_t *took, int64_t *steps, struct delays *out)
{
	qsort(took, trips, sizeof(*took), compare);
	qsort(steps, trips, sizeof(*steps), compare);
	out->p50_us = (double)took[trips / 2] / 1e3;
	out->p99_us = (double)took[trips * 99 / 100] / 1e3;
	out->steps = (double)steps[trips / 2];
}

static void await(bool stop, bool still)
{
	if (stop)
		stopped_await(still);
	else
		frozen_await(still);
}

static void resume(enum cause cause)
{
	if (cause == BY_HAND)
		group_write("0");
	else if (cause == BY_REPORT)
		call("resume", "tokens", TOKENS);
	else
		call("resume", "time_ms", 1000000);
}

static void measure(unsigned trips, enum cause cause, bool stop, struct delays *out)
{
	int64_t *took = calloc(trips, sizeof(*took)), *steps = calloc(trips, sizeof(*steps));
	int ring = open(bell, O_RDWR | O_CLOEXEC);
	const char c = (char)cause;

	bench_need(took && steps && ring >= 0, bell);
	for (unsigned i = 0; i < trips; i++) {
		int64_t t = bench_ns();

		shared->crossed_at = shared->steps[0];
		if (cause == BY_HAND)
			group_write("1");
		else
			bench_need(write(ring, &c, 1) == 1, bell);
		if (cause == BY_TIME) {
			sleep_until(t + TIME_MS * 1000000);
			shared->crossed_at = shared->steps[0];
		}
		await(stop, true);
		took[i] = bench_ns() - (cause == BY_HAND ? t : shared->crossed);
		steps[i] = (int64_t)(shared->steps[0] - shared->crossed_at);
		resume(cause);
		await(stop, false);
	}
	delays_of(trips, took, steps, out);
	close(ring);
	free(took);
	free(steps);
}

static void launch(const char *self, const struct bench_server *s, unsigned n, const char *how)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", n);
	shared->ready = false;
	launcher = fork();
	if (launcher == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("APPROVAL_SOCKET", s->agent, 1);
		execl("./approval-run", "approval-run", "--budget-tokens=1000", how, "--", self,
			"agent", shared_file, bell, number, (char *)NULL);
		_exit(127);
	}
	bench_need(group_find(session_find()), "no cgroup can be made here");
	/* until all of them are at it */
	while (!shared->ready)
		poll(NULL, 0, 1);
	for (unsigned i = 0; i < n; i++)
		for (uint64_t was = shared->steps[(size_t)i * 8];
			shared->steps[(size_t)i * 8] == was;)
			poll(NULL, 0, 1);
}

static void land(void)
{
	call("kill", NULL, 0);
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

static void tell(unsigned n, const char *what, const struct delays *d, const struct delays *base)
{
	printf("%3u processes, %-24s p50 %8.0f us  p99 %8.0f us", n, what, d->p50_us, d->p99_us);
	if (base)
		printf("  ratio %.2f, %.2f", d->p50_us / base->p50_us, d->p99_us / base->p99_us);
	printf("  %.0f steps of a loop\n", d->steps);
}

static void compare_all(const char *self, const struct bench_server *s, unsigned n, unsigned trips)
{
	struct delays hand, d;

	launch(self, s, n, "--freeze");
	measure(trips, BY_HAND, false, &hand);
	tell(n, "cgroup.freeze by hand", &hand, NULL);
	measure(trips, BY_REPORT, false, &d);
	tell(n, "a report, freeze", &d, &hand);
	measure(trips, BY_TIME, false, &d);
	tell(n, "the time is up, freeze", &d, &hand);
	land();
	launch(self, s, n, "--stop");
	measure(trips, BY_REPORT, true, &d);
	tell(n, "a report, stop", &d, &hand);
	measure(trips, BY_TIME, true, &d);
	tell(n, "the time is up, stop", &d, &hand);
	land();
}

int main(int argc, char **argv)
{
	unsigned trips = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
	struct approval_options o;
	struct bench_server s;

	if (argc == 5 && !strcmp(argv[1], "agent"))
		agent(argv[2], argv[3], (unsigned)atoi(argv[4]));
	bench_need(trips > 0, "how many trips");
	setvbuf(stdout, NULL, _IOLBF, 0);
	bench_broker(&s, "sqlite");
	snprintf(shared_file, sizeof(shared_file), "%s/shared", s.dir);
	snprintf(bell, sizeof(bell), "%s/bell", s.dir);
	bench_need(mkfifo(bell, 0600) == 0, bell);
	shared = shared_map(shared_file);
	approval_options_init(&o, APPROVAL_FRONTEND);
	o.socket = s.frontend;
	o.trust_socket = true;
	bench_need(approval_new(&frontend, &o) == 0, "memory");
	be_first();
	for (unsigned n = 1; n <= MOST; n *= 10)
		compare_all(argv[0], &s, n, trips);
	approval_free(frontend);
	bench_end(&s);
	return 0;
}
