/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/common/start.h"
#include "frontends/run/run.h"

#define HELLO_MS      5000
#define FOREGROUND_MS 200 /* between two looks at whose the terminal is */

void run_say(const struct run *r, const char *format, ...)
{
	struct text said = {0}, shown = {0};
	va_list ap;

	va_start(ap, format);
	text_vprintf(&said, format, ap);
	va_end(ap);
	text_add(&shown, "approval-run: ");
	text_terminal(&shown, text_string(&said), said.len, 0);
	text_add(&shown, "\n");
	output_text(&r->err, &shown);
	text_free(&said);
}

/* ---- the broker ---- */

static void client_options(const struct run *r, struct approval_options *o)
{
	approval_options_init(o, APPROVAL_AGENT);
	o->socket = r->socket;
	o->client = "approval-run " PACKAGE_VERSION;
	o->agent = r->name;
	o->session = r->session;
	o->mode = r->mode;
	o->retry_ms = -1;
	if (r->budget)
		o->budget = approval_pack_data(r->budget, &o->budget_len);
}

/* Says hello for the child. 0; -EREMOTEIO: refused; or a negative errno. It has been said. */
static int hello(struct run *r, const struct group *g, const char *enforce)
{
	struct approval_options o;
	int err;

	client_options(r, &o);
	o.subject_pidfd = r->child.pidfd;
	o.enforce = enforce;
	if (g) {
		o.freeze_fd = g->freeze;
		o.kill_fd = g->kill;
	}
	approval_free(r->client);
	r->client = NULL;
	err = approval_new(&r->client, &o);
	if (err < 0) {
		run_say(r, "%s", strerror(-err));
		return err;
	}
	while (!err && !approval_hello(r->client))
		err = approval_wait(r->client, HELLO_MS);
	if (!err)
		return 0;
	run_say(r, "%s", approval_status(r->client));
	if (err != -EREMOTEIO)
		run_say(r, "there is no broker; start one with " START_HOW);
	return err;
}

/* The child's session, held as well as can be. An exit status; -1: it may run. */
static int session_open(struct run *r)
{
	struct text why = {0};
	const char *enforce = r->enforce;
	bool grouped = group_make(&r->group, r->child.pid, &why);
	int err;

	if (!grouped && !strcmp(enforce, "freeze")) {
		run_say(r, "no cgroup of its own (%s)%s", text_string(&why),
			r->forced ? ""
				  : ": while it is suspended nothing is released to it, "
				    "but it runs on (see --stop)");
		enforce = "protocol";
	}
	text_free(&why);
	if (!grouped && r->forced && !strcmp(r->enforce, "freeze"))
		return STATUS_CANNOT_RUN;
	err = hello(r, grouped ? &r->group : NULL, enforce);
	if (err == -EREMOTEIO && grouped && !r->forced) {
		run_say(r, "the broker does not take its cgroup: while it is suspended nothing "
			   "is released to it, but it runs on (see --stop)");
		err = hello(r, NULL, "protocol");
		enforce = "protocol";
	}
	r->enforce = enforce;
	/* a program that says nothing has a turn, too, and its ceilings */
	if (!err) {
		err = approval_turn_begin(r->client, NULL, NULL, HELLO_MS);
		if (err)
			run_say(r, "the broker begins no turn: %s",
				approval_last_error(r->client)->message);
	}
	return !err ? -1 : err == -EREMOTEIO ? STATUS_FAILED : STATUS_NO_BROKER;
}

/* Where the broker is: the children are told. NULL: it has been said why not. */
static char *socket_find(struct run *r)
{
	struct approval_options o;
	struct approval *a = NULL;
	char *path = NULL;
	int err;

	client_options(r, &o);
	err = approval_new(&a, &o);
	if (!err && !(path = strdup(approval_socket(a))))
		err = -ENOMEM;
	if (err)
		run_say(r, "%s",
			err == -EINVAL ? "a name or value that the protocol does not admit"
				       : strerror(-err));
	approval_free(a);
	return path;
}

/* ---- while it runs ---- */

static void suspended_tell(struct run *r)
{
	struct watch *w = &r->watch;
	struct terminal *t = &r->terminal;

	w->changed = false;
	if (!strcmp(r->enforce, "protocol"))
		return;
	if (!*w->turn) {
		if (t->taken)
			terminal_give(t);
		return;
	}
	terminal_take(t);
	run_say(r, "%s is suspended%s%s", r->name, w->reason.len ? ": " : "",
		text_string(&w->reason));
	if (t->taken)
		run_say(r, "c: continue, e: end the turn, k: kill it");
}

static void answer_read(struct run *r)
{
	const char *line = terminal_line(&r->terminal);

	if (!line || !*r->watch.turn)
		return;
	switch (*line) {
	case 'c': watch_answer(&r->watch, "resume"); break;
	case 'e': watch_answer(&r->watch, "end_turn"); break;
	case 'k': watch_answer(&r->watch, "kill"); break;
	default: run_say(r, "c: continue, e: end the turn, k: kill it"); break;
	}
}

/*
 * Somebody has stopped it, at the terminal: so do we, as one job of the shell. But a shell may
 * have put us into the foreground without a word; then the child has only to be given it.
 */
static void job_stop(struct run *r, int signal)
{
	struct terminal *t = &r->terminal;

	if (t->fd < 0)
		return;
	if ((signal == SIGTTIN || signal == SIGTTOU) && terminal_foreground(t)) {
		terminal_give(t);
		kill(-r->child.pid, SIGCONT);
		return;
	}
	terminal_take(t);
	terminal_background(t);
	kill(getpid(), SIGSTOP);
}

/* In the foreground or not, as the shell has it. */
static void job_continue(struct run *r)
{
	struct terminal *t = &r->terminal;
	const bool suspended = *r->watch.turn && strcmp(r->enforce, "protocol") != 0;

	if (terminal_foreground(t) && !suspended)
		terminal_give(t);
	else if (t->ours && suspended)
		suspended_tell(r);
	/* what the broker has stopped is not the terminal's to continue */
	if (!suspended || strcmp(r->enforce, "stop") != 0)
		kill(-r->child.pid, SIGCONT);
}

/* The child's exit status; -1: it lives. */
static int children_reap(struct run *r)
{
	int status, result = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != r->child.pid)
			continue;
		if (WIFEXITED(status))
			result = WEXITSTATUS(status);
		else if (WIFSIGNALED(status))
			result = STATUS_SIGNAL + WTERMSIG(status);
		else if (WIFSTOPPED(status) &&
			 (WSTOPSIG(status) != SIGSTOP || strcmp(r->enforce, "stop")))
			job_stop(r, WSTOPSIG(status));
	}
	return result;
}

static int signals_take(struct run *r)
{
	struct signalfd_siginfo info;
	int result = -1;

	while (result < 0 && read(r->signals, &info, sizeof(info)) == sizeof(info)) {
		int n = (int)info.ssi_signo;

		if (n == SIGCHLD)
			result = children_reap(r);
		else if (n == SIGTSTP && r->terminal.taken)
			job_stop(r, n);
		else if (n == SIGTSTP)
			kill(-r->child.pid, n);
		else if (n == SIGCONT)
			job_continue(r);
		else
			kill(r->child.pid, n);
	}
	return result;
}

/* Has it something to ask, and no right to the terminal yet? No event tells when it gets it. */
static bool wants_terminal(const struct run *r)
{
	return *r->watch.turn && strcmp(r->enforce, "protocol") != 0 && r->terminal.fd >= 0 &&
	       !r->terminal.ours;
}

static void poll_add(struct pollfd *p, const struct approval *a, int *timeout)
{
	int64_t due = approval_timeout(a);

	p->fd = approval_fd(a);
	p->events = approval_events(a);
	if (due >= 0 && (*timeout < 0 || due < *timeout))
		*timeout = due < INT_MAX ? (int)due : INT_MAX;
}

static int loop(struct run *r)
{
	struct watch *w = &r->watch;
	int result = -1;

	while (result < 0) {
		struct pollfd p[4] = {{.fd = r->signals, .events = POLLIN}, {.fd = -1},
			{.fd = -1}, {.fd = -1}};
		int timeout = wants_terminal(r) ? FOREGROUND_MS : -1;

		poll_add(&p[1], r->client, &timeout);
		if (w->client)
			poll_add(&p[2], w->client, &timeout);
		if (r->terminal.taken && r->terminal.ours)
			p[3] = (struct pollfd){.fd = r->terminal.fd, .events = POLLIN};
		if (poll(p, 4, timeout) < 0 && errno != EINTR)
			break;
		result = signals_take(r);
		approval_dispatch(r->client);
		if (approval_hello(r->client))
			watch_session(
				w, approval_value_text(approval_hello(r->client), "session"));
		if (w->client && approval_dispatch(w->client) < 0 && result < 0) {
			watch_close(w);
			*w = (struct watch){.run = r};
		}
		if (w->changed || (wants_terminal(r) && terminal_foreground(&r->terminal)))
			suspended_tell(r);
		if (p[3].revents)
			answer_read(r);
	}
	return result < 0 ? STATUS_INTERNAL : result;
}

static int signals_open(struct run *r)
{
	static const int taken[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
	const struct sigaction def = {.sa_handler = SIG_DFL}, ign = {.sa_handler = SIG_IGN};
	struct sigaction action;
	sigset_t mask, blocked;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		/* what whoever started us ignores stays ignored, by the program, too */
		if (taken[i] == SIGCHLD || sigaction(taken[i], NULL, &action) ||
			action.sa_handler != SIG_IGN)
			sigaddset(&mask, taken[i]);
	sigaction(SIGCHLD, &def, NULL);
	sigaction(SIGPIPE, &ign, NULL);
	blocked = mask;
	sigaddset(&blocked, SIGTTOU);
	if (sigprocmask(SIG_BLOCK, &blocked, &r->before) < 0)
		return -errno;
	r->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signals < 0 ? -errno : 0;
}

static int program_start(struct run *r)
{
	char *socket = socket_find(r);
	int status = STATUS_INTERNAL, err = socket ? 0 : -EINVAL;

	if (!socket)
		return STATUS_USAGE;
	err = child_make(&r->child, r->argv, socket, r->session, &r->before);
	free(socket);
	if (err < 0) {
		run_say(r, "%s", strerror(-err));
		return status;
	}
	status = session_open(r);
	if (status >= 0)
		return status;
	terminal_open(&r->terminal, r->child.pid);
	terminal_foreground(&r->terminal);
	if (r->terminal.fd >= 0 && watch_open(&r->watch, r) < 0)
		run_say(r, "out of memory: it can't be continued from here");
	terminal_give(&r->terminal);
	err = child_go(&r->child);
	if (!err)
		return loop(r);
	run_say(r, "%s: %s", r->argv[0], strerror(-err));
	return err == -ENOENT ? STATUS_NO_PROGRAM : STATUS_CANNOT_RUN;
}

static int run(struct run *r)
{
	uint64_t random[2];
	int status, err = budget_make(r);

	if (!err && getrandom(random, sizeof(random), 0) != sizeof(random))
		err = -EIO;
	if (!err)
		err = signals_open(r);
	if (!err && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		err = -errno;
	if (err) {
		run_say(r, "%s", strerror(-err));
		return STATUS_INTERNAL;
	}
	snprintf(r->session, sizeof(r->session), "run_%016llx%016llx",
		(unsigned long long)random[0], (unsigned long long)random[1]);
	status = program_start(r);
	child_drop(&r->child);
	/* what it left running was its own, and ends with it */
	group_end(&r->group);
	children_end();
	terminal_take(&r->terminal);
	return status;
}

int main(int argc, char **argv)
{
	struct run r = {.enforce = "freeze",
		.amounts = {-1, -1, -1, -1, -1},
		.child = {.pid = -1, .pidfd = -1, .go = -1, .failed = -1},
		.group = {.freeze = -1, .kill = -1},
		.terminal = {.fd = -1},
		.signals = -1};
	int status;

	output_locale();
	output_init(&r.err, stderr);
	status = settings_read(&r, argc, argv);
	if (status < 0)
		status = run(&r);
	watch_close(&r.watch);
	approval_free(r.client);
	approval_pack_free(r.budget);
	return status;
}
