/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/policy/main.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "frontends/common/options.h"

enum {
	OPTION_SOCKET = 256,
	OPTION_NAME,
	OPTION_RETRY,
	OPTION_HEADLESS,
	OPTION_DRY_RUN,
	OPTION_STDIN,
	OPTION_CHECK,
};

static const struct option_def options[] = {
	{OPTION_HEADLESS, "headless", NULL,
		"deny at once what nobody answers; sum up at the end"},
	{OPTION_DRY_RUN, "dry-run", NULL, "tell what would be answered, and answer nothing"},
	{OPTION_STDIN, "stdin", NULL, "with --dry-run: of JSON lines, without a broker"},
	{OPTION_CHECK, "check", NULL, "read the policy, tell what is wrong, and end"},
	{OPTION_NAME, "name", "NAME",
		"the policy's name for the broker (default: approval-policy)"},
	{OPTION_RETRY, "retry", "DURATION",
		"how long to look for a broker (default: for ever)"},
	{OPTION_SOCKET, "socket", "PATH", "the broker's socket (default: the usual places)"},
	{'q', "quiet", NULL, "no line for each answer"},
	{'j', "json", NULL, "one JSON object on each line"},
	{0},
};

static const struct program program = {
	.name = "approval-policy",
	.version = PACKAGE_VERSION,
};

static const struct command command = {
	.operands = "FILE",
	.summary = "Answer the tool calls of agents by a policy, without a person",
	.more = "FILE is described in approval-policy(5). SIGHUP reads it anew.\n"
		"Exits with 0 after SIGTERM or SIGINT, 65 if the policy does not load, 69 "
		"without a broker.",
	.options = options,
};

void app_say(const struct app *a, const char *format, ...)
{
	struct text said = {0}, shown = {0};
	va_list ap;

	va_start(ap, format);
	text_vprintf(&said, format, ap);
	va_end(ap);
	text_add(&shown, "approval-policy: ");
	text_terminal(&shown, text_string(&said), said.len, 0);
	text_add(&shown, "\n");
	output_text(&a->r.err, &shown);
	text_free(&said);
}

void app_fail(struct app *a, int err)
{
	if (a->ended)
		return;
	app_say(a, "%s", strerror(-err));
	a->ended = true;
	a->status = STATUS_INTERNAL;
}

bool app_load(struct app *a)
{
	struct policy *next = NULL;
	struct text why = {0};
	const int err = policy_load(a->set.file, &next, &why);

	if (err)
		app_say(a, "%s", err == 1 ? text_string(&why) : strerror(-err));
	text_free(&why);
	if (err) {
		if (a->r.policy)
			app_say(a, "the policy that was read before stays");
		return false;
	}
	if (a->r.policy)
		app_say(a, "the policy was read anew");
	policy_free(a->r.policy);
	a->r.policy = next;
	return true;
}

void app_time(struct tm *tm)
{
	const time_t now = time(NULL);

	if (!localtime_r(&now, tm))
		gmtime_r(&now, tm);
}

static void signals_take(struct app *a)
{
	struct signalfd_siginfo info;

	while (read(a->signals, &info, sizeof(info)) == sizeof(info))
		switch (info.ssi_signo) {
		case SIGHUP: app_load(a); break;
		case SIGCHLD: programs_reap(&a->r.programs); break;
		default: a->ended = true; break;
		}
}

void app_step(struct app *a)
{
	struct pollfd fds[2 + 2 * PROGRAMS_AT_ONCE] = {
		{.fd = a->signals, .events = POLLIN}, {.fd = -1}};
	int timeout = -1;
	size_t n;
	int err;

	if (a->client) {
		const int64_t due = approval_timeout(a->client);

		fds[1].fd = approval_fd(a->client);
		fds[1].events = approval_events(a->client);
		if (due >= 0)
			timeout = due < INT_MAX ? (int)due : INT_MAX;
	}
	n = programs_poll(&a->r.programs, fds + 2, clock_ms(), &timeout);
	if (poll(fds, 2 + n, timeout) < 0 && errno != EINTR) {
		app_fail(a, -errno);
		return;
	}
	signals_take(a);
	programs_step(&a->r.programs, clock_ms());
	if (!a->client || a->ended)
		return;
	err = approval_dispatch(a->client);
	if (err < 0 && err != -ENOMEM)
		app_fail(a, err);
	if (output_finish(&a->r.out) && !a->ended) {
		a->ended = true;
		a->status = STATUS_FAILED;
	}
}

static int signals_open(struct app *a, sigset_t *before)
{
	static const int ends[] = {SIGINT, SIGQUIT, SIGTERM};
	const struct sigaction def = {.sa_handler = SIG_DFL}, ign = {.sa_handler = SIG_IGN};
	struct sigaction action;
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		/* in the background of a shell: a blocked one would come although ignored */
		if (sigaction(ends[i], NULL, &action) || action.sa_handler != SIG_IGN)
			sigaddset(&mask, ends[i]);
	/* these come, whatever they were to whoever started us */
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	sigaction(SIGHUP, &def, NULL);
	sigaction(SIGCHLD, &def, NULL);
	sigaction(SIGPIPE, &ign, NULL);
	if (sigprocmask(SIG_BLOCK, &mask, before))
		return -errno;
	a->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return a->signals < 0 ? -errno : 0;
}

/* An exit status, or OPTIONS_END. */
static int settings_read(struct app *a, struct options *o)
{
	int key;

	while ((key = options_next(o)) > OPTIONS_END)
		switch (key) {
		case OPTION_SOCKET: a->set.socket = o->value; break;
		case OPTION_NAME: a->set.name = o->value; break;
		case OPTION_HEADLESS: a->set.headless = true; break;
		case OPTION_DRY_RUN: a->set.dry_run = true; break;
		case OPTION_STDIN: a->set.input = true; break;
		case OPTION_CHECK: a->set.check = true; break;
		case 'q': a->r.quiet = true; break;
		case 'j': a->r.json = true; break;
		case OPTION_RETRY:
			if (options_duration(o, o->value, &a->set.retry_ms)) {
				a->ended = true;
				return STATUS_USAGE;
			}
			if (!a->set.retry_ms) {
				a->ended = true;
				return options_wrong(
					o, "a --retry of 0 leaves no time to find a broker");
			}
			break;
		default: break;
		}
	if (key == OPTIONS_EXIT) {
		a->ended = true;
		return o->status;
	}
	a->ended = true;
	if (o->n_operands != 1)
		return options_wrong(o, o->n_operands ? "there is more than one policy"
						      : "the file of the policy is missing");
	if (a->set.input && !a->set.dry_run)
		return options_wrong(o, "--stdin is for --dry-run");
	if (a->set.headless && a->set.dry_run)
		return options_wrong(o, "--headless answers, --dry-run does not");
	a->ended = false;
	a->set.file = o->operands[0];
	return STATUS_OK;
}

static void app_run(struct app *a)
{
	sigset_t before;
	int err = signals_open(a, &before);

	if (!err)
		err = reviewer_init(&a->r, &before);
	if (err) {
		app_fail(a, err);
		return;
	}
	a->r.dry_run = a->set.dry_run;
	if (a->set.input)
		offline_run(a);
	else
		live_run(a);
	if (a->set.headless && summary_print(&a->r.summary, &a->r.out, a->r.json))
		a->status = STATUS_INTERNAL;
}

int main(int argc, char **argv)
{
	struct app a = {.set = {.name = "approval-policy", .retry_ms = -1}, .signals = -1};
	struct options o;
	int err;

	output_locale();
	output_init(&a.r.out, stdout);
	output_init(&a.r.err, stderr);
	options_single(&o, &program, &command, argc, argv);
	a.status = settings_read(&a, &o);
	if (!a.ended && !app_load(&a))
		a.status = STATUS_DATA;
	else if (!a.ended && !a.set.check)
		app_run(&a);
	reviewer_fini(&a.r);
	err = output_finish(&a.r.out);
	if (err) {
		app_say(&a, "can't write to standard output: %s", strerror(-err));
		a.status = a.status ? a.status : STATUS_FAILED;
	}
	return a.status;
}
