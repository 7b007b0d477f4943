/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/policy/call.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASSWD_SIZE 16384u

/* data NULL: it is not there, or no text. */
static struct bytes member(const struct approval_value *map, const char *key)
{
	const struct approval_value *v = approval_value_get(map, key);
	const enum approval_type type = approval_value_type(v);
	struct bytes text = {NULL, 0};

	if (type == APPROVAL_STR || type == APPROVAL_BIN)
		text.data = approval_value_str(v, &text.len);
	return text;
}

static char *home_of(uint32_t uid)
{
	char buffer[PASSWD_SIZE];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) || !found)
		return NULL;
	return found->pw_dir && found->pw_dir[0] == '/' ? strdup(found->pw_dir) : NULL;
}

/* More than there may be: those that are left out count as not resolved. */
static void paths_read(const struct approval_value *list, struct call *out)
{
	for (size_t i = 0; i < approval_value_count(list) && i < LIMIT_LOOKUPS; i++) {
		const struct approval_value *const item = approval_value_at(list, i);

		out->paths[i] =
			(struct explain_path){member(item, "path"), member(item, "resolved"),
				approval_value_bool(approval_value_get(item, "inside"))};
		out->call.n_paths = (unsigned)i + 1;
	}
	out->call.paths = out->paths;
	out->call.resolved = true;
}

/* `time` "HH:MM" and `day` "mon": to try a policy at another time. */
static const char *clock_read(const struct approval_value *item, struct subject *s)
{
	static const char *const days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
	const struct bytes day = member(item, "day"), time = member(item, "time");

	if (approval_value_get(item, "time")) {
		const char *const t = time.data;

		if (time.len != 5 || t[2] != ':' || t[0] < '0' || t[0] > '2' || t[1] < '0' ||
			t[1] > '9' || t[3] < '0' || t[3] > '5' || t[4] < '0' || t[4] > '9')
			return "time is HH:MM";
		s->minute = (unsigned)(t[0] - '0') * 600 + (unsigned)(t[1] - '0') * 60 +
			    (unsigned)(t[3] - '0') * 10 + (unsigned)(t[4] - '0');
		if (s->minute >= 24 * 60)
			return "time is HH:MM";
	}
	if (!approval_value_get(item, "day"))
		return NULL;
	for (unsigned i = 0; i < sizeof(days) / sizeof(days[0]); i++)
		if (bytes_is(day, days[i])) {
			s->day = i;
			return NULL;
		}
	return "day is mon, tue, wed, thu, fri, sat or sun";
}

static struct bytes last_component(struct bytes path)
{
	const char *const slash = path.data ? memrchr(path.data, '/', path.len) : NULL;
	size_t skip;

	if (!slash)
		return path;
	skip = (size_t)(slash + 1 - (const char *)path.data);
	return (struct bytes){slash + 1, path.len - skip};
}

static const char *who_read(const struct approval_value *item, bool live, struct subject *s)
{
	const struct approval_value *const uid = approval_value_get(item, "uid");

	s->agent = member(item, "agent");
	s->title = member(item, "title");
	s->session = member(item, "session");
	s->project = member(item, "project");
	s->workspace = member(item, "workspace");
	s->mode = member(item, "mode");
	if (!s->project.data)
		s->project = last_component(s->workspace);
	if (!live && !s->mode.data)
		s->mode = bytes_of("normal");
	if (approval_value_type(uid) == APPROVAL_INT && approval_value_int(uid) >= 0 &&
		approval_value_int(uid) < UINT32_MAX) {
		s->has_uid = true;
		s->uid = (uint32_t)approval_value_int(uid);
	} else if (approval_value_type(uid) != APPROVAL_NIL) {
		return "uid is no number of a user";
	}
	return live && (!s->has_uid || !s->agent.data || !s->mode.data)
		       ? "the broker does not say who asks"
		       : NULL;
}

const char *call_read(
	const struct approval_value *item, bool live, const struct tm *tm, struct call *out)
{
	const struct approval_value *const input = approval_value_get(item, "input");
	struct explain_call *const c = &out->call;
	const char *wrong;

	memset(out, 0, sizeof(*out));
	if (approval_value_type(item) != APPROVAL_MAP)
		return "it is no map";
	subject_time(&out->subject, tm);
	wrong = who_read(item, live, &out->subject);
	if (!wrong && !live)
		wrong = clock_read(item, &out->subject);
	if (wrong)
		return wrong;
	c->tool = member(item, "tool");
	c->cwd = member(item, "cwd");
	c->workspace = out->subject.workspace;
	c->mode = out->subject.mode;
	c->kind = member(item, "kind");
	if (!c->tool.data || !c->tool.len)
		return "there is no tool";
	if (input)
		c->input.data = approval_value_raw(input, &c->input.len);
	if (live) {
		out->home = home_of(out->subject.uid);
		c->home = bytes_of(out->home);
		paths_read(approval_value_get(item, "paths"), out);
	} else {
		c->home = member(item, "home");
	}
	return NULL;
}

void call_release(struct call *c)
{
	free(c->home);
	c->home = NULL;
}

void call_show(struct text *out, const struct approval_value *item)
{
	static const char *const keys[] = {"command", "file_path", "path", "url"};
	const struct approval_value *const input = approval_value_get(item, "input");
	const struct bytes agent = member(item, "agent"), tool = member(item, "tool");
	struct bytes what = member(item, "command");

	for (size_t i = 0; !what.data && i < sizeof(keys) / sizeof(keys[0]); i++)
		what = member(input, keys[i]);
	if (agent.len) {
		text_terminal(out, agent.data, agent.len, 0);
		text_add(out, ": ");
	}
	text_terminal(out, tool.data ? tool.data : "", tool.len, 0);
	if (what.len) {
		text_add(out, ": ");
		text_terminal(out, what.data, what.len, 160);
	}
}
