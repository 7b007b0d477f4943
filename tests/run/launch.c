/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/run/launch.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS 20000

void launch_setup(struct broker *b)
{
	broker_init(b);
	setenv("APPROVAL_SOCKET", b->agent, 1);
	setenv("APPROVAL_FRONTEND_SOCKET", b->frontend, 1);
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	broker_start(b, NULL);
}

void launch_teardown(struct broker *b)
{
	broker_stop(b);
	broker_fini(b);
}

static bool mount_point(char out[256])
{
	FILE *f = fopen("/proc/mounts", "re");
	char point[256], type[64];
	bool found = false;

	while (f && !found && fscanf(f, "%*s %255s %63s %*[^\n]", point, type) == 2)
		found = !strcmp(type, "cgroup2");
	if (f)
		fclose(f);
	if (found)
		strcpy(out, point);
	return found;
}

static bool path_of(pid_t pid, char out[256])
{
	char name[64];
	bool found = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	f = fopen(name, "re");
	while (f && !found && fgets(out, 256, f))
		if (!strncmp(out, "0::", 3)) {
			memmove(out, out + 3, strlen(out + 3) + 1);
			out[strcspn(out, "\n")] = '\0';
			found = true;
		}
	if (f)
		fclose(f);
	return found;
}

bool launch_possible(void)
{
	char point[256], path[256], name[600];

	if (!mount_point(point) || !path_of(getpid(), path)) {
		puts("skipped: no cgroup hierarchy of version 2 is mounted");
		return false;
	}
	snprintf(name, sizeof(name), "%s%s/approval-test-%d", point, path, (int)getpid());
	if (mkdir(name, 0755)) {
		printf("skipped: %s: %s\n", name, strerror(errno));
		return false;
	}
	rmdir(name);
	return true;
}

void launch_start(struct launch *l, const char *option, const char *script)
{
	const char *words[8], *program = getenv("APPROVAL_RUN");
	char point[256], path[256];
	char *text;
	int n = 0;

	memset(l, 0, sizeof(*l));
	if (option)
		words[n++] = option;
	words[n++] = "--";
	words[n++] = "/bin/sh";
	words[n++] = "-c";
	words[n++] = script;
	words[n] = NULL;
	run_program(&l->run, program ? program : "./approval-run", words);
	l->pid = atoi(run_line(&l->run));
	ck_assert_int_gt(l->pid, 1);
	ck_assert(mount_point(point) && path_of(l->pid, path));
	ck_assert_int_lt(snprintf(l->group, sizeof(l->group), "%s%s", point, path),
		(int)sizeof(l->group));
	{
		struct run r;
		char want[32];

		snprintf(want, sizeof(want), "\"pid\":%d,", (int)l->pid);
		ck_assert_int_eq(RUN_WHOLE(&r, "sessions", "--json"), 0);
		for (text = strtok(r.text, "\n"); text; text = strtok(NULL, "\n"))
			if (strstr(text, want) && strstr(text, "\"session\":\"ses_"))
				snprintf(l->session, sizeof(l->session), "%.40s",
					strstr(text, "\"session\":\"ses_") + 11);
		run_free(&r);
	}
	ck_assert_msg(*l->session, "no session of pid %d", (int)l->pid);
}

static int events_read(const struct launch *l, char text[256])
{
	char name[600];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%s/cgroup.events", l->group);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s: %s", name, strerror(errno));
	n = read(fd, text, 255);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	return fd;
}

bool launch_frozen(const struct launch *l)
{
	char text[256];

	close(events_read(l, text));
	return strstr(text, "frozen 1") != NULL;
}

void launch_await(const struct launch *l, bool frozen)
{
	char text[256];

	for (;;) {
		struct pollfd p = {.fd = events_read(l, text), .events = POLLPRI};

		if ((strstr(text, "frozen 1") != NULL) == frozen) {
			close(p.fd);
			return;
		}
		ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
		close(p.fd);
	}
}

unsigned launch_running(const struct launch *l)
{
	char name[600];
	unsigned n = 0;
	int pid;
	FILE *f;

	snprintf(name, sizeof(name), "%s/cgroup.procs", l->group);
	f = fopen(name, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		n += !strchr("TZX", launch_state(pid));
	if (f) /* else it is gone with the last of them: the next approval-run removes it */
		fclose(f);
	return n;
}

void launch_stopped(const struct launch *l)
{
	for (unsigned n = 0, still = 0; still < 3; n++) {
		still = launch_running(l) ? 0 : still + 1;
		ck_assert_uint_lt(n, 100000);
	}
}

int launch_wait(struct launch *l)
{
	int status = run_wait(&l->run);

	run_free(&l->run);
	return status;
}

char launch_state(pid_t pid)
{
	char name[64], state = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state;
}

bool launch_held(const struct launch *l)
{
	struct run r;
	bool held = false;
	char *line;

	ck_assert_int_eq(RUN_WHOLE(&r, "sessions", "--json"), 0);
	for (line = strtok(r.text, "\n"); line; line = strtok(NULL, "\n"))
		held |= strstr(line, l->session) && strstr(line, "\"held\":true");
	run_free(&r);
	return held;
}
