/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ini.h>

#include "broker/config.h"
#include "broker/config_budget.h"
#include "broker/config_value.h"
#include "libapproval/limits.h"

struct key {
	const char *section, *name;
	int (*set)(struct config *c, const char *value);
	const char *expected;
};

static int set_when_alone(struct config *c, const char *value)
{
	c->when_alone_set = true;
	c->when_alone = CONFIG_WAIT;
	if (strcmp(value, "wait") == 0)
		return 0;
	c->when_alone = CONFIG_DENY;
	return strcmp(value, "deny") == 0 ? 0 : -EINVAL;
}

static int set_headless(struct config *c, const char *value)
{
	return config_bool_parse(value, &c->headless);
}

static int set_deadline(struct config *c, const char *value)
{
	c->deadline_set = true;
	return config_duration_or_never(value, &c->deadline_us);
}

static int set_default_mode(struct config *c, const char *value)
{
	return config_mode_parse(value, &c->default_mode);
}

static int set_policy_timeout(struct config *c, const char *value)
{
	return config_duration_parse(value, &c->policy_timeout_us);
}

static int set_required_policies(struct config *c, const char *value)
{
	config_names_free(c->required_policies, c->n_required_policies);
	c->required_policies = NULL;
	c->n_required_policies = 0;
	return config_names_parse(value, LIMIT_POLICIES, &c->required_policies,
		&c->n_required_policies);
}

static int set_repeat_limit(struct config *c, const char *value)
{
	return config_number_parse(value, 1, 1000, &c->repeat_limit);
}

static int set_grace(struct config *c, const char *value)
{
	return config_duration_parse(value, &c->grace_us);
}

static int set_connections(struct config *c, const char *value)
{
	return config_number_parse(value, 1, 1000000, &c->limits.connections);
}

static int set_pending(struct config *c, const char *value)
{
	return config_number_parse(value, 1, 10000000, &c->limits.pending);
}

static int set_pending_bytes(struct config *c, const char *value)
{
	return config_size_parse(value, &c->limits.pending_bytes);
}

static int set_rate(struct config *c, const char *value)
{
	return config_number_parse(value, 0, 10000000, &c->limits.rate);
}

static int set_sessions(struct config *c, const char *value)
{
	return config_number_parse(value, 1, 1000000, &c->limits.sessions);
}

static int set_path(char **path, const char *value)
{
	if (value[0] != '/')
		return -EINVAL;
	free(*path);
	*path = strdup(value);
	return *path ? 0 : -ENOMEM;
}

static int set_store_path(struct config *c, const char *value)
{
	return set_path(&c->store_path, value);
}

/* Else the administrator's rules would be there for the user to leave out. */
static int set_rules_admin_dir(struct config *c, const char *value)
{
	return c->users_own ? -EINVAL : set_path(&c->rules_admin_dir, value);
}

static int set_rules_user_file(struct config *c, const char *value)
{
	return set_path(&c->rules_user_file, value);
}

static int set_floor_user_file(struct config *c, const char *value)
{
	return set_path(&c->floor_user_file, value);
}

static int set_floor_off(struct config *c, const char *value)
{
	struct config_names *const names = &c->floor_off[c->by_admin];

	config_names_free(names->items, names->n);
	*names = (struct config_names){NULL, 0};
	return config_names_parse(value, LIMIT_FLOOR_OFF, &names->items, &names->n);
}

static int set_retention_age(struct config *c, const char *value)
{
	return config_duration_or_never(value, &c->store_age_us);
}

static int set_retention_size(struct config *c, const char *value)
{
	if (strcmp(value, "unlimited") == 0) {
		c->store_size = 0;
		return 0;
	}
	return config_size_parse(value, &c->store_size);
}

static int set_enforce_stop(struct config *c, const char *value)
{
	return config_bool_parse(value, &c->enforce_stop);
}

static int set_log_level(struct config *c, const char *value)
{
	return log_level_parse(value, &c->log_level);
}

static const char a_duration[] = "a duration: 500ms, 30s, 10m, 2h, 7d";
static const char a_duration_or_never[] = "never, or a duration: 30s, 10m, 2h, 7d";

static const struct key keys[] = {
	{"broker", "when-alone", set_when_alone, "wait or deny"},
	{"broker", "headless", set_headless, "yes or no"},
	{"broker", "deadline", set_deadline, a_duration_or_never},
	{"broker", "default-mode", set_default_mode, "plan, normal or auto-edit"},
	{"broker", "policy-timeout", set_policy_timeout, a_duration},
	{"broker", "required-policies", set_required_policies, "names, with commas between"},
	{"broker", "repeat-limit", set_repeat_limit, "a number from 1 to 1000"},
	{"broker", "grace", set_grace, a_duration},
	{"limits", "connections", set_connections, "a number from 1 to 1000000"},
	{"limits", "pending", set_pending, "a number from 1 to 10000000"},
	{"limits", "pending-bytes", set_pending_bytes, "a size: 4096, 64K, 512M, 2G"},
	{"limits", "rate", set_rate, "a number from 0 (no limit) to 10000000"},
	{"limits", "sessions", set_sessions, "a number from 1 to 1000000"},
	{"store", "path", set_store_path, "an absolute path"},
	{"store", "retention-age", set_retention_age, a_duration_or_never},
	{"store", "retention-size", set_retention_size, "unlimited, or a size: 64M, 2G"},
	{"rules", "admin-dir", set_rules_admin_dir,
		"an absolute path, and not in the user's own file"},
	{"rules", "user-file", set_rules_user_file, "an absolute path"},
	{"floor", "user-file", set_floor_user_file, "an absolute path"},
	{"floor", "off", set_floor_off, "names of entries, with commas between"},
	{"enforce", "stop", set_enforce_stop, "yes or no"},
	{"log", "level", set_log_level, "error, warning, notice, info or debug"},
};
#define KEY_N (sizeof(keys) / sizeof(keys[0]))

/* A file while it is read. */
struct reading {
	struct config *config;
	struct config_error *error;
	const char *file;
	const char *at, *end;
	unsigned line;
	int rc;	       /* the first error; what comes after it is not looked at */
	uint32_t seen; /* keys that this file set */
	bool budget;   /* the section is one of [budget …] */
};

_Static_assert(KEY_N <= 32, "struct reading has a bit for each key");

static void fail(struct reading *r, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void fail(struct reading *r, int rc, const char *format, ...)
{
	char *text = r->error->text;
	size_t size = sizeof(r->error->text);
	va_list ap;
	int n;

	if (r->rc)
		return;
	r->rc = rc;
	n = r->line ? snprintf(text, size, "%s:%u: ", r->file, r->line)
		    : snprintf(text, size, "%s: ", r->file);
	if (n < 0 || (size_t)n >= size)
		return;
	va_start(ap, format);
	vsnprintf(text + n, size - (size_t)n, format, ap);
	va_end(ap);
}

static const char *quote(char buf[80], const char *text)
{
	return log_quote(buf, 80, bytes_of(text));
}

static bool section_known(const char *name)
{
	for (size_t i = 0; i < KEY_N; i++)
		if (strcmp(keys[i].section, name) == 0)
			return true;
	return false;
}

/* inih tells of a section only with a key in it; an unknown one is wrong even when empty. */
static void section_check(struct reading *r, const char *line)
{
	char name[32], buf[80];
	const char *end = strchr(line, ']');
	size_t n = end ? (size_t)(end - line) - 1 : 0;

	if (!end) {
		fail(r, -EINVAL, "the section's name has no end");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)n, line + 1);
	r->budget = config_budget_is(line + 1, n);
	if (r->budget) {
		int rc = config_budget_section(r->config, line + 1, n);

		if (rc == -EINVAL)
			fail(r, rc,
				"[budget] may have agent=NAME, uid=N and, at its end, "
				"project=/FOLDER");
		else if (rc)
			fail(r, rc == -ENOMEM ? rc : -EINVAL,
				rc == -ENOMEM ? "out of memory" : "too many sections");
	} else if (n >= sizeof(name) || !section_known(name))
		fail(r, -EINVAL, "unknown section %s", quote(buf, name));
	/* inih ignores what comes behind it */
	end += 1 + strspn(end + 1, " \t\r\n");
	if (*end && *end != ';' && *end != '#')
		fail(r, -EINVAL, "something stands behind the section's name");
}

/*
 * fgets for inih: whole lines only, since inih would take the rest of a long one
 * for another line; and without the indentation, by which it would take a line
 * for more of the one before.
 */
static char *line_read(char *out, int size, void *arg)
{
	struct reading *r = arg;
	const char *eol;
	size_t len;

	if (r->rc || r->at == r->end)
		return NULL;
	r->line++;
	eol = memchr(r->at, '\n', (size_t)(r->end - r->at));
	len = (size_t)((eol ? eol : r->end) - r->at);
	if (len + 2 > (size_t)size) {
		fail(r, -EINVAL, "the line is longer than %d bytes", size - 2);
		return NULL;
	}
	while (len > 0 && (*r->at == ' ' || *r->at == '\t')) {
		r->at++;
		len--;
	}
	memcpy(out, r->at, len);
	out[len] = '\n';
	out[len + 1] = '\0';
	r->at = eol ? eol + 1 : r->end;
	if (out[0] == '[')
		section_check(r, out);
	return r->rc ? NULL : out;
}

static int budget_handle(struct reading *r, const char *name, const char *value)
{
	const char *expected = "";
	char buf[80];

	switch (config_budget_key(r->config, name, value, &expected)) {
	case 0: return 1;
	case -ENOENT: fail(r, -EINVAL, "unknown key %s in [budget]", quote(buf, name)); break;
	case -EEXIST: fail(r, -EINVAL, "%s is set twice", name); break;
	default:
		fail(r, -EINVAL, "%s: %s is not what is expected: %s", name, quote(buf, value),
			expected);
	}
	return 0;
}

static int key_handle(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;
	char buf[80];

	if (r->budget)
		return budget_handle(r, name, value);
	for (size_t i = 0; i < KEY_N; i++) {
		int rc;

		if (strcmp(keys[i].section, section) != 0 || strcmp(keys[i].name, name) != 0)
			continue;
		if (r->seen & 1u << i) {
			fail(r, -EINVAL, "%s is set twice", name);
			return 0;
		}
		r->seen |= 1u << i;
		rc = keys[i].set(r->config, value);
		if (rc == -ENOMEM)
			fail(r, rc, "out of memory");
		else if (rc)
			fail(r, -EINVAL, "%s: %s is not what is expected: %s", name,
				quote(buf, value), keys[i].expected);
		return rc == 0;
	}
	if (!section[0])
		fail(r, -EINVAL, "%s stands before the first section", quote(buf, name));
	else
		fail(r, -EINVAL, "unknown key %s in [%s]", quote(buf, name), section);
	return 0;
}

static void text_read(struct reading *r, const char *text, size_t len)
{
	int line;

	r->at = text;
	r->end = text + len;
	if (memchr(text, '\0', len)) {
		fail(r, -EINVAL, "the file is no text");
		return;
	}
	line = ini_parse_stream(line_read, r, key_handle, r);
	if (line && !r->rc) {
		r->line = line > 0 ? (unsigned)line : 0;
		fail(r, line == -2 ? -ENOMEM : -EINVAL, "expected NAME = VALUE");
	}
}

static int file_check(struct reading *r, int fd, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		fail(r, -errno, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		fail(r, -EINVAL, "not a file");
	else if (st.st_uid != 0 && st.st_uid != geteuid())
		fail(r, -EPERM, "it belongs to another user");
	else if (st.st_mode & 022)
		fail(r, -EPERM, "others may write to it (chmod go-w)");
	else if ((uint64_t)st.st_size > LIMIT_CONFIG)
		fail(r, -EINVAL, "larger than %u bytes", LIMIT_CONFIG);
	else
		*size = (size_t)st.st_size;
	return r->rc;
}

static void file_read(struct reading *r, int fd)
{
	size_t size = 0, len = 0;
	ssize_t n = 0;
	char *text;

	if (file_check(r, fd, &size))
		return;
	text = malloc(size + 1);
	if (!text) {
		fail(r, -ENOMEM, "out of memory");
		return;
	}
	while (len < size && (n = read(fd, text + len, size - len)) > 0)
		len += (size_t)n;
	if (n < 0)
		fail(r, -errno, "%s", strerror(errno));
	else
		text_read(r, text, len);
	free(text);
}

static int file_load(
	struct config *c, const char *file, bool required, struct config_error *error)
{
	struct reading r = {.config = c, .error = error, .file = file};
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		if (!required && (errno == ENOENT || errno == ENOTDIR))
			return 0;
		fail(&r, -errno, "%s", strerror(errno));
		return r.rc;
	}
	file_read(&r, fd);
	close(fd);
	return r.rc;
}

int config_load(struct config *c, const char *const *files, size_t n, bool required,
	struct config_error *error)
{
	struct config fresh;
	int rc = 0;

	config_init(&fresh);
	for (size_t i = 0; i < n && !rc; i++) {
		fresh.by_admin = i == 0 && !required;
		fresh.users_own = i > 0;
		config_budget_file(&fresh);
		rc = file_load(&fresh, files[i], required && i + 1 == n, error);
	}
	if (rc) {
		config_release(&fresh);
		return rc;
	}
	config_release(c);
	*c = fresh;
	return 0;
}

void config_init(struct config *c)
{
	*c = (struct config){
		.when_alone = CONFIG_WAIT,
		.default_mode = MODE_NORMAL,
		.policy_timeout_us = TIME_POLICY_MS * 1000ll,
		.repeat_limit = 1,
		.grace_us = TIME_GRACE_MS * 1000ll,
		.weights = BUDGET_WEIGHTS_DEFAULT,
		.enforce_stop = true,
		.log_level = LOG_LEVEL_NOTICE,
	};
	account_limits_default(&c->limits);
}

void config_release(struct config *c)
{
	config_names_free(c->required_policies, c->n_required_policies);
	for (size_t i = 0; i < 2; i++)
		config_names_free(c->floor_off[i].items, c->floor_off[i].n);
	config_budget_release(c);
	free(c->store_path);
	free(c->rules_admin_dir);
	free(c->rules_user_file);
	free(c->floor_user_file);
	*c = (struct config){0};
}
