/* SPDX-License-Identifier: MIT */
/* approvald: options, the order of start and end, signals. */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/event.h>

#include "broker/config.h"
#include "broker/io/gateway.h"
#include "broker/log.h"
#include "broker/service.h"
#include "broker/start.h"

enum {
	EXIT_USAGE = 2,
	EXIT_CONFIG = 3,
	EXIT_STORE = 4,
	EXIT_SOCKET = 5,
	EXIT_TEST = 99,
};

struct arguments {
	const char *runtime, *state, *config, *store, *level;
	bool headless;
};

struct daemon {
	struct arguments args;
	struct service_paths paths;
	struct service_notify notify;
	struct config config;
	struct log log;
	struct event_base *base;
	struct event *signals[3], *watchdog;
	struct journal *journal;
	char *store;
	struct gateway *gateway;
	struct listener *listeners[LISTENER_N];
	uint64_t exit_at, exit_committed; /* see exit_at */
	bool stop;
};

static const char usage[] =
	"Usage: approvald [OPTION]...\n"
	"The broker between AI agents and the people who approve their tool calls.\n"
	"\n"
	"  --runtime-dir DIR   folder of the sockets\n"
	"                      (default: $XDG_RUNTIME_DIR/approvald)\n"
	"  --state-dir DIR     folder of the store (default: $XDG_STATE_HOME/approvald)\n"
	"  --config FILE       read this file instead of the usual ones\n"
	"  --store KIND        sqlite (default), memory (forget all at the end) or none\n"
	"  --headless          no person will answer: what nothing allows is denied\n"
	"  --foreground        stay in the foreground (the default; for service files)\n"
	"  --log-level LEVEL   error, warning, notice, info or debug\n"
	"  --help, --version\n"
	"\n"
	"SIGHUP reloads the configuration, SIGTERM and SIGINT end the broker.\n"
	"See approvald(8).\n";

static const char *option_name(const struct option *options, int key)
{
	while (options->name && options->val != key)
		options++;
	return options->name ? options->name : "";
}

static int arguments_parse(struct arguments *a, int argc, char **argv)
{
	static const struct option options[] = {
		{"runtime-dir", required_argument, NULL, 'r'},
		{"state-dir", required_argument, NULL, 's'},
		{"config", required_argument, NULL, 'c'},
		{"store", required_argument, NULL, 'S'},
		{"headless", no_argument, NULL, 'H'},
		{"foreground", no_argument, NULL, 'f'},
		{"log-level", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	enum log_level level;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":hV", options, NULL)) != -1) {
		if (c != '?' && c != ':' && optarg && !*optarg) {
			fprintf(stderr, "approvald: '--%s' needs a value that is not empty\n",
				option_name(options, c));
			goto fail;
		}
		switch (c) {
		case 'r': a->runtime = optarg; break;
		case 's': a->state = optarg; break;
		case 'c': a->config = optarg; break;
		case 'S': a->store = optarg; break;
		case 'H': a->headless = true; break;
		case 'f': break;
		case 'l': a->level = optarg; break;
		case 'h': fputs(usage, stdout); return 1;
		case 'V': puts("approvald " PACKAGE_VERSION); return 1;
		case ':':
			fprintf(stderr, "approvald: '%s' needs a value\n", argv[optind - 1]);
			goto fail;
		default:
			/* a letter, or a whole word: the one that was read last */
			fprintf(stderr, "approvald: unknown or ambiguous option '%s'\n",
				argv[optind - 1]);
			goto fail;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "approvald: unexpected argument '%s'\n", argv[optind]);
		goto fail;
	}
	if (a->store && strcmp(a->store, "sqlite") != 0 && strcmp(a->store, "memory") != 0 &&
		strcmp(a->store, "none") != 0) {
		fprintf(stderr, "approvald: --store is sqlite, memory or none\n");
		goto fail;
	}
	if (a->level && log_level_parse(a->level, &level) < 0) {
		fprintf(stderr, "approvald: no such log level: '%s'\n", a->level);
		goto fail;
	}
	return 0;
fail:
	fputs("Try 'approvald --help'.\n", stderr);
	return -EINVAL;
}

/* ---- configuration ---- */

static int config_read(struct daemon *d, struct config *config)
{
	struct config_error error;
	int err = config_load(config, (const char *const *)d->paths.config, d->paths.n_config,
		d->paths.config_given, &error);

	if (err < 0)
		log_error(&d->log, "configuration: %s; correct it, or name another with --config",
			error.text);
	else if (d->args.headless)
		config->headless = true;
	return err;
}

static void config_take(struct daemon *d, const struct config *config)
{
	config_release(&d->config);
	d->config = *config;
	d->log.level = d->config.log_level;
	if (d->args.level)
		log_level_parse(d->args.level, &d->log.level);
}

/* Configuration and rules are taken together, or neither. */
static int daemon_reload(struct daemon *d)
{
	struct config fresh;
	int err;

	config_init(&fresh);
	err = config_read(d, &fresh);
	if (err == 0)
		err = gateway_configure(d->gateway, &fresh);
	if (err == 0)
		config_take(d, &fresh);
	else
		config_release(&fresh);
	return err;
}

static int reload(void *arg, struct log_copy *why)
{
	struct daemon *d = arg;
	int err;

	service_notify_reloading(&d->notify);
	d->log.copy = why;
	err = daemon_reload(d);
	d->log.copy = NULL;
	if (err < 0)
		log_error(&d->log, "the old configuration and the old rules stay in force");
	else
		log_notice(&d->log, "configuration and rules reloaded");
	service_notify_ready(&d->notify, NULL);
	return err;
}

static void on_reload(evutil_socket_t sig, short what, void *arg)
{
	(void)sig;
	(void)what;
	reload(arg, NULL);
}

static void on_stop(evutil_socket_t sig, short what, void *arg)
{
	struct daemon *d = arg;

	(void)sig;
	(void)what;
	d->stop = true;
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	(void)fd;
	(void)what;
	service_notify_watchdog(&d->notify);
}

/* Twice as often as the service manager wants it. */
static int watchdog_set(struct daemon *d)
{
	int64_t us = (int64_t)d->notify.watchdog_us / 2;
	struct timeval tv = {us / 1000000, us % 1000000};

	if (!us)
		return 0;
	d->watchdog = event_new(d->base, -1, EV_PERSIST, on_watchdog, d);
	return d->watchdog && event_add(d->watchdog, &tv) == 0 ? 0 : -ENOMEM;
}

static int signals_set(struct daemon *d)
{
	static const struct {
		int number;
		event_callback_fn fn;
	} list[3] = {{SIGTERM, on_stop}, {SIGINT, on_stop}, {SIGHUP, on_reload}};

	signal(SIGPIPE, SIG_IGN);
	/* a file that may not grow further is as full a disk: EFBIG, and nobody dies of it */
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < 3; i++) {
		d->signals[i] = evsignal_new(d->base, list[i].number, list[i].fn, d);
		if (!d->signals[i] || event_add(d->signals[i], NULL) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- start ---- */

/*
 * For tests: the broker dies, as by SIGKILL, before its N-th operation on the store, or
 * after its N-th commit, when nothing of it has been sent.
 */
static void exit_at(void *arg, uint64_t n)
{
	const uint64_t *at = arg;

	if (n == *at)
		_exit(EXIT_TEST);
}

static void store_trace(struct daemon *d)
{
	const char *at = getenv("APPROVALD_TEST_EXIT_AT");
	const char *committed = getenv("APPROVALD_TEST_EXIT_COMMITTED");

	if (at) {
		d->exit_at = strtoull(at, NULL, 10);
		journal_set_trace(d->journal, exit_at, &d->exit_at);
	}
	if (committed) {
		d->exit_committed = strtoull(committed, NULL, 10);
		journal_set_committed(d->journal, exit_at, &d->exit_committed);
	}
}

static int store_open(struct daemon *d)
{
	int err;

	if (d->args.store && strcmp(d->args.store, "sqlite") != 0) {
		d->store = strdup(d->args.store);
		err = !d->store				     ? -ENOMEM
		      : strcmp(d->store, "none") == 0 ? journal_open_none(&d->journal)
							     : journal_open_memory(&d->journal);
		if (err < 0)
			start_store(&d->log, d->args.store, err);
		return err;
	}
	if (d->config.store_path)
		d->store = strdup(d->config.store_path);
	else if (asprintf(&d->store, "%s/history.db", d->paths.state) < 0)
		d->store = NULL;
	if (!d->store) {
		start_store(&d->log, d->paths.state, -ENOMEM);
		return -ENOMEM;
	}
	err = service_folder(d->paths.state);
	if (err < 0) {
		start_folder(&d->log, d->paths.state, err, "--state-dir");
		return err;
	}
	err = journal_open_sqlite(&d->journal, d->store);
	if (err < 0)
		start_store(&d->log, d->store, err);
	return err;
}

static int sockets_open(struct daemon *d)
{
	struct service_sockets inherited;
	int err = service_sockets_take(&inherited, &d->paths);

	if (err < 0) {
		log_error(&d->log,
			"socket activation: LISTEN_FDS or what it counts is wrong; pass the "
			"sockets with the names agent and frontend, or none");
		return err;
	}
	for (int kind = 0; kind < LISTENER_N; kind++) {
		struct listener_config c = {.kind = (enum listener_kind)kind,
			.folder = kind == LISTENER_AGENT ? d->paths.agent : d->paths.frontend,
			.folder_mode = 0700,
			.socket_mode = 0600,
			.socket_gid = (gid_t)-1,
			.own_uid_only = true};

		if (inherited.fd[kind] >= 0)
			err = listener_adopt(&d->listeners[kind], inherited.fd[kind], &c,
				d->base, gateway_processes(d->gateway), &d->log,
				gateway_accepted, d->gateway);
		else
			err = listener_open(&d->listeners[kind], &c, d->base,
				gateway_processes(d->gateway), &d->log, gateway_accepted,
				d->gateway);
		if (err < 0) {
			start_socket(&d->log, c.folder, err);
			return err;
		}
	}
	return 0;
}

static void daemon_release(struct daemon *d)
{
	for (int i = 0; i < LISTENER_N; i++)
		listener_close(d->listeners[i]);
	gateway_free(d->gateway);
	journal_close(d->journal);
	for (size_t i = 0; i < 3; i++)
		if (d->signals[i])
			event_free(d->signals[i]);
	if (d->watchdog)
		event_free(d->watchdog);
	if (d->base)
		event_base_free(d->base);
	free(d->store);
	config_release(&d->config);
	service_notify_release(&d->notify);
	service_paths_release(&d->paths);
}

/* Its timers keep to the microsecond: else a ceiling of time is noticed some milliseconds late. */
static struct event_base *base_new(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config && event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
		base = event_base_new_with_config(config);
	if (config)
		event_config_free(config);
	return base;
}

/* What hears of signals and of the service manager. */
static int loop_open(struct daemon *d)
{
	int err;

	d->base = base_new();
	err = d->base ? signals_set(d) : -ENOMEM;
	if (err < 0) {
		log_error(&d->log, "event loop: %s; look at the limits of memory and files",
			strerror(-err));
		return err;
	}
	err = service_notify_init(&d->notify);
	if (err < 0)
		log_error(&d->log,
			"NOTIFY_SOCKET: %s; unset it, or leave it to a service manager",
			strerror(-err));
	else if ((err = watchdog_set(d)) < 0)
		log_error(&d->log, "watchdog: %s; look at the limit of memory", strerror(-err));
	return err;
}

static int daemon_start(struct daemon *d)
{
	struct gateway_options o = {.log = &d->log, .config = &d->config, .user_mode = true};
	struct config config;
	int err = service_paths_find(&d->paths, d->args.runtime, d->args.state, d->args.config);

	if (err < 0) {
		log_error(&d->log, "folder to work in: %s; give --runtime-dir and --state-dir",
			err == -ENOENT ? "there is no home folder" : strerror(-err));
		return EXIT_CONFIG;
	}
	config_init(&config);
	if (config_read(d, &config) < 0) {
		config_release(&config);
		return EXIT_CONFIG;
	}
	config_take(d, &config);
	service_raise_nofile();
	if (loop_open(d) < 0)
		return EXIT_FAILURE;
	/* looked at first, so that nothing is written where there can be no socket; the store
	 * has a lock of its own against a second broker */
	err = service_folder(d->paths.runtime);
	if (err < 0) {
		start_folder(&d->log, d->paths.runtime, err, "--runtime-dir");
		return EXIT_SOCKET;
	}
	if (store_open(d) < 0)
		return EXIT_STORE;
	store_trace(d);
	o.base = d->base;
	o.journal = d->journal;
	o.store_name = d->store;
	o.admin_rules = d->paths.rules[0];
	o.user_rules = d->paths.rules[1];
	o.reload = reload;
	o.reload_arg = d;
	err = gateway_new(&d->gateway, &o);
	if (err == 0) {
		err = gateway_rules(d->gateway, &d->config);
		if (err < 0) {
			log_error(&d->log, "rules: they can't be read; put right what is named "
					   "above, or move the file away");
			return EXIT_CONFIG;
		}
	}
	if (err == 0)
		err = gateway_load(d->gateway);
	if (err < 0) {
		start_store(&d->log, d->store, err);
		return EXIT_STORE;
	}
	return sockets_open(d) < 0 ? EXIT_SOCKET : 0;
}

int main(int argc, char **argv)
{
	struct daemon d = {.notify.fd = -1};
	bool started;
	int err, status;

	err = arguments_parse(&d.args, argc, argv);
	if (err)
		return err > 0 ? 0 : EXIT_USAGE;
	umask(077);
	log_init(&d.log, LOG_LEVEL_NOTICE);
	config_init(&d.config);
	d.log.name = "approvald"; /* whoever starts it by hand sees who speaks */
	status = daemon_start(&d);
	d.log.name = NULL;
	started = status == 0;
	if (started) {
		log_notice(
			&d.log, "approvald " PACKAGE_VERSION " listens in %s", d.paths.runtime);
		service_notify_ready(&d.notify, "waiting for agents");
	}
	while (status == 0 && !d.stop)
		if (gateway_run_once(d.gateway) < 0) {
			log_error(&d.log, "the event loop is broken");
			status = EXIT_FAILURE;
		}
	service_notify_stopping(&d.notify);
	if (started)
		gateway_stop(d.gateway);
	else if (d.gateway)
		gateway_abandon(d.gateway);
	daemon_release(&d);
	return status;
}
