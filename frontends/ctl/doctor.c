/* SPDX-License-Identifier: MIT */
/* doctor: is all well, and if not, what to do */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/doctor.h"
#include "frontends/ctl/frozen.h"
#include "frontends/ctl/request.h"
#include "frontends/ctl/stopped.h"
#include "frontends/ctl/trust.h"

#define SYSTEM_MARK "/etc/approvald/system"

enum { OPTION_THAW = OPTION_OTHER };

const struct option_def ctl_doctor_options[] = {
	{OPTION_THAW, "thaw", NULL, "let go what is frozen or stopped though no broker holds it"},
	OPTION_DEF_JSON,
	{0},
};

/* ---- findings ---- */

void doctor_find(
	struct doctor *d, enum finding_level level, const char *what, const char *advice)
{
	static const struct {
		const char *name, *mark;
		enum output_style style;
	} levels[] = {
		[FINDING_OK] = {"ok", "ok     ", STYLE_GREEN},
		[FINDING_NOTE] = {"note", "note   ", STYLE_PLAIN},
		[FINDING_WARNING] = {"warning", "warning", STYLE_YELLOW},
		[FINDING_PROBLEM] = {"problem", "problem", STYLE_RED},
	};
	const struct output *o = &d->c->out;
	struct text t = {0};

	if (level >= FINDING_WARNING)
		d->findings++;
	if (d->c->json) {
		struct json_object *j = json_object_new_object();
		int r = j ? 0 : -ENOMEM;

		json_add_text(j, "level", levels[level].name, &r);
		json_add_text(j, "what", what, &r);
		if (advice)
			json_add_text(j, "do", advice, &r);
		if (!r)
			r = json_write(o, j);
		json_object_put(j);
		d->failed |= r != 0;
		return;
	}
	output_styled(o, levels[level].style, levels[level].mark);
	text_add(&t, "  ");
	text_terminal(&t, what, strlen(what), 0);
	text_add(&t, "\n");
	if (advice) {
		text_add(&t, "         -> ");
		text_terminal(&t, advice, strlen(advice), 0);
		text_add(&t, "\n");
	}
	d->failed |= output_text(o, &t) != 0;
}

void doctor_findf(
	struct doctor *d, enum finding_level level, const char *advice, const char *format, ...)
{
	struct text t = {0};
	va_list ap;

	va_start(ap, format);
	text_vprintf(&t, format, ap);
	va_end(ap);
	doctor_find(d, level, text_string(&t), advice);
	d->failed |= t.failed;
	text_free(&t);
}

/* ---- the environment ---- */

static void look_at_environment(struct doctor *d)
{
	static const char *const redirect[] = {"APPROVAL_SOCKET", "APPROVAL_FRONTEND_SOCKET"};
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	bool system = !access(SYSTEM_MARK, F_OK);

	doctor_findf(d, FINDING_NOTE, NULL, "approvalctl %s, libapproval %s", PACKAGE_VERSION,
		approval_version());
	for (size_t i = 0; i < sizeof(redirect) / sizeof(redirect[0]); i++) {
		const char *value = getenv(redirect[i]);

		if (value && *value)
			doctor_findf(d, FINDING_WARNING,
				"unset it, unless you have set it yourself on purpose",
				"%s leads to %s", redirect[i], value);
	}
	if (system)
		doctor_findf(d, FINDING_NOTE, NULL,
			"%s is there: only the broker of the system "
			"is spoken to",
			SYSTEM_MARK);
	else if (runtime && *runtime && *runtime != '/')
		doctor_findf(d, FINDING_WARNING, "set it to an absolute path, mode 0700",
			"XDG_RUNTIME_DIR is %s, no absolute path, and so ignored: the sockets "
			"are under /tmp/approvald-%u",
			runtime, (unsigned int)geteuid());
	else if (!runtime || !*runtime)
		doctor_findf(d, FINDING_NOTE,
			"log in through systemd-logind, or set it to a folder of your own, "
			"mode 0700",
			"XDG_RUNTIME_DIR is not set: the sockets are under /tmp/approvald-%u",
			(unsigned int)geteuid());
}

/* ---- folders and sockets ---- */

static bool owner_is_fine(uid_t uid)
{
	return uid == geteuid() || uid == 0;
}

/* A folder on the way to a socket. `closed`: nobody else may even look into it. */
static void look_at_folder(struct doctor *d, const char *path, bool closed)
{
	struct stat st;
	unsigned int mode;

	if (lstat(path, &st)) {
		if (errno != ENOENT) /* else its socket is not there either, which is told */
			doctor_findf(d, FINDING_PROBLEM, "make it accessible", "folder %s: %s",
				path, strerror(errno));
		return;
	}
	mode = (unsigned int)st.st_mode & 07777;
	if (!S_ISDIR(st.st_mode))
		doctor_findf(d, FINDING_PROBLEM, "remove it and start the broker anew",
			"%s is no folder", path);
	else if (!owner_is_fine(st.st_uid) && !d->system)
		doctor_findf(d, FINDING_PROBLEM,
			"do not use it: somebody else may stand in for the broker",
			"folder %s belongs to uid %u", path, (unsigned int)st.st_uid);
	else if ((closed ? mode & 077 : mode & 022) && !d->system)
		doctor_findf(d, FINDING_PROBLEM, closed ? "chmod 0700 it" : "chmod go-w it",
			"folder %s has mode %04o: others can get at the sockets", path, mode);
	else
		doctor_findf(d, FINDING_OK, NULL, "folder %s, uid %u, mode %04o", path,
			(unsigned int)st.st_uid, mode);
}

static void look_at_socket(struct doctor *d, const char *what, const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		doctor_findf(d, FINDING_PROBLEM, DOCTOR_START, "%s socket %s: %s", what, path,
			strerror(errno));
	else if (!S_ISSOCK(st.st_mode))
		doctor_findf(d, FINDING_PROBLEM, "remove it and start the broker anew",
			"%s is no socket", path);
	else if (!owner_is_fine(st.st_uid) && !d->system)
		doctor_findf(d, FINDING_PROBLEM,
			"do not use it: somebody else stands in for the broker",
			"%s socket %s belongs to uid %u", what, path, (unsigned int)st.st_uid);
	else
		doctor_findf(d, FINDING_OK, NULL, "%s socket %s", what, path);
}

static char *folder_of(const char *path, int levels)
{
	char *copy = strdup(path);

	for (char *p = copy; p && levels--;) {
		p = strrchr(copy, '/');
		if (!p || p == copy) {
			free(copy);
			return NULL;
		}
		*p = '\0';
	}
	return copy;
}

static void look_at_place(struct doctor *d, const char *what, const char *path)
{
	char *folder = folder_of(path, 1), *base = folder_of(path, 2);
	size_t len = strlen(path);
	/* only what the broker laid out itself is known to be closed */
	bool usual = len > 5 && !strcmp(path + len - 5, "/sock");

	if (usual && base && !d->base_seen)
		look_at_folder(d, base, true);
	d->base_seen |= usual;
	if (folder)
		look_at_folder(d, folder, false);
	look_at_socket(d, what, path);
	free(folder);
	free(base);
}

/* ---- the broker ---- */

static const struct approval_value *member(const struct approval_value *v, const char *key)
{
	return approval_value_get(v, key);
}

/* The broker is there, but does not take this program. */
static void refused(struct doctor *d, const char *code, const char *message)
{
	if (!strcmp(code, "forbidden"))
		doctor_findf(d, FINDING_PROBLEM,
			"run doctor, and whatever answers, from a terminal that is not an "
			"agent's; the broker itself is well",
			"the broker refuses what runs inside an agent, as this does: %s",
			message);
	else if (!strcmp(code, "protocol"))
		doctor_findf(d, FINDING_PROBLEM, "restart the broker after an upgrade",
			"the broker speaks another version of the protocol: %s", message);
	else
		doctor_findf(d, FINDING_PROBLEM, "look at the broker's log",
			"the broker refuses this program: %s (%s)", message, code);
}

/* That nobody is to be asked is easily forgotten, and looks as if all were denied. */
static void look_at_people(struct doctor *d, const struct approval_value *stats)
{
	const char *by = approval_value_text(stats, "headless");

	if (!strcmp(by, "configuration"))
		doctor_find(d, FINDING_NOTE,
			"headless: while no frontend for people is connected, what nothing allows "
			"is denied at once",
			"to be asked, start one; or take --headless or headless = yes away and "
			"restart the broker");
	else if (!strcmp(by, "policy"))
		doctor_find(d, FINDING_NOTE,
			"headless: a policy said that nobody is there (approval-policy "
			"--headless); while no frontend for people is connected, what nothing "
			"allows is denied at once, until the broker ends",
			"to be asked, start one; or restart the broker");
	else if (!strcmp(approval_value_text(stats, "when_alone"), "deny"))
		doctor_find(d, FINDING_NOTE,
			"when-alone = deny: while no frontend for people is connected, what "
			"nothing allows is denied at once",
			NULL);
}

static void look_at_stats(struct doctor *d)
{
	struct approval_value *stats = NULL;
	int r = ctl_try(d->c, "stats", NULL, 0, &stats);
	char up[DURATION_SIZE];

	if (r) {
		const struct approval_error *e = approval_last_error(d->c->client);

		if (r == -EREMOTEIO)
			refused(d, e->code, e->message);
		else
			doctor_findf(d, FINDING_PROBLEM, "look at the broker's log",
				"the broker does not tell its state: %s", strerror(-r));
		return;
	}

	const char *store = approval_value_text(stats, "store");
	const char *path = approval_value_text(stats, "store_path");

	doctor_findf(d, FINDING_OK, NULL,
		"broker up for %s: %" PRId64 " connections, %" PRId64 " sessions, %" PRId64
		" requests pending",
		duration_format(up, approval_value_int(member(stats, "uptime_ms"))),
		approval_value_int(member(stats, "connections")),
		approval_value_int(member(stats, "sessions")),
		approval_value_int(member(stats, "pending")));
	if (!strcmp(store, "ok"))
		doctor_findf(d, FINDING_OK, NULL, "store %s", path);
	else
		doctor_findf(d, FINDING_PROBLEM,
			"make room or make it writable; the broker tries again every second, "
			"and "
			"denies until then",
			"store %s: %s", path, store);
	look_at_people(d, stats);
	approval_value_free(stats);
}

static void on_event(struct approval *client, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct doctor *d = arg;

	if (event != APPROVAL_GAVE_UP || !error)
		return;
	snprintf(d->refused_code, sizeof(d->refused_code), "%s", error->code);
	snprintf(d->refused_message, sizeof(d->refused_message), "%s", error->message);
}

static int project_found(void *doctor, const struct approval_value *item)
{
	struct text line = {0};

	trust_say_problem(&line, item);
	doctor_findf(doctor, FINDING_WARNING,
		"mend it; until then what it allows is asked, or all that its project does",
		"a project's rules can't be used: %s", text_string(&line));
	text_free(&line);
	return STATUS_OK;
}

static void look_at_broker(struct doctor *d)
{
	struct ctl *c = d->c;
	const struct approval_value *hello;
	int r = 0;

	approval_on_event(c->client, on_event, d);
	while (!(hello = approval_hello(c->client)) && !r)
		r = approval_wait(c->client, CTL_ONCE_MS);
	if (!hello && *d->refused_code) {
		refused(d, d->refused_code, d->refused_message);
		return;
	}
	if (!hello) {
		doctor_findf(d, FINDING_PROBLEM, r == -EACCES ? "do not use it" : DOCTOR_START,
			"no broker: %s", approval_status(c->client));
		return;
	}

	const char *version = approval_value_text(hello, "broker");
	const char *own = PACKAGE_NAME " " PACKAGE_VERSION;

	doctor_findf(d, strcmp(version, own) ? FINDING_WARNING : FINDING_OK,
		strcmp(version, own) ? "restart the broker after an upgrade" : NULL,
		"the broker answers: %s", version);
	look_at_stats(d);
	trust_problems(c, project_found, d);
}

int ctl_doctor(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	struct doctor d = {.c = c, .system = !access(SYSTEM_MARK, F_OK)};
	struct approval_options options;
	struct approval *agent = NULL;
	bool thaw = false;
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END)
		if (key == OPTION_THAW)
			thaw = true;
		else
			ctl_option(c, o, key);
	if (key == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands)
		return options_wrong(o, "'%s': doctor takes no operands", o->operands[0]);

	look_at_environment(&d);
	approval_options_init(&options, APPROVAL_FRONTEND);
	options.retry_ms = CTL_ONCE_MS;
	status = ctl_open(c, &options);

	/* only to learn where it would connect to: it says no hello */
	approval_options_init(&options, APPROVAL_AGENT);
	options.agent = REQUEST_AGENT;
	if (!status)
		status = ctl_own(c, approval_new(&agent, &options));
	if (!status) {
		look_at_place(&d, "agent", approval_socket(agent));
		look_at_place(&d, "frontend", approval_socket(c->client));
		/* that there is no socket has been said */
		if (!access(approval_socket(c->client), F_OK))
			look_at_broker(&d);
		frozen_look(&d, thaw);
		stopped_look(&d, thaw);
	}
	approval_free(agent);
	if (!status && d.failed)
		status = ctl_own(c, -ENOMEM);
	if (!status && d.findings)
		status = STATUS_FAILED;
	return status;
}
