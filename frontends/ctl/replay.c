/* SPDX-License-Identifier: MIT */
/* history --replay: what other rules would have said of the recorded calls. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/explain.h"
#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/history.h"
#include "frontends/ctl/item.h"
#include "libapproval/limits.h"

enum outcome { ALLOWED, DENIED, ASKED, OUTCOME_N };

/* What the record does not tell enough of to be judged again. */
enum gap { GAP_TURN, GAP_INPUT, GAP_UNCLEAR, GAP_N };

static const char *const gaps[GAP_N] = {
	"decided by the state of the turn", "without an input in the record", "not understood"};
static const char *const gap_keys[GAP_N] = {"turn", "input", "unclear"};
static const char *const outcomes[OUTCOME_N] = {"allow", "deny", "ask"};

struct replay {
	struct ctl *c;
	struct explainer *x;
	struct table *table;
	uint64_t calls, left;
	uint64_t changes[OUTCOME_N][OUTCOME_N];
	uint64_t n_gaps[GAP_N];
	uint32_t uid; /* whose home is known */
	char *home;
	bool looked;
};

/* ---- the rules ---- */

static int file_failed(const struct ctl *c, const char *path, int err)
{
	ctl_say(c, "%s: %s", path, strerror(err));
	return STATUS_NO_INPUT;
}

static int rules_take(struct replay *r, const char *path, const struct text *text)
{
	struct explain_problem problem;
	int err = explainer_rules(r->x, (struct bytes){text_string(text), text->len}, &problem);

	if (err != 1)
		return ctl_own(r->c, err);
	if (problem.line)
		ctl_say(r->c, "%s:%u:%u: %s", path, problem.line, problem.column, problem.text);
	else
		ctl_say(r->c, "%s: %s", path, problem.text);
	return STATUS_DATA;
}

static int rules_load(struct replay *r, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct text text = {0};
	char chunk[16384];
	ssize_t n;
	int status;

	if (fd < 0)
		return file_failed(r->c, path, errno);
	while (text.len <= LIMIT_RULE_FILE && (n = read(fd, chunk, sizeof(chunk))) > 0)
		text_addn(&text, chunk, (size_t)n);
	if (text.len > LIMIT_RULE_FILE)
		status = file_failed(r->c, path, EFBIG);
	else if (n < 0)
		status = file_failed(r->c, path, errno);
	else
		status = text.failed ? ctl_own(r->c, -ENOMEM) : rules_take(r, path, &text);
	text_free(&text);
	close(fd);
	return status;
}

/* ---- one record ---- */

static struct bytes member(const struct approval_value *item, const char *key)
{
	const struct approval_value *const v = approval_value_get(item, key);
	struct bytes b = {NULL, 0};

	if (approval_value_type(v) == APPROVAL_STR)
		b.data = approval_value_str(v, &b.len);
	return b;
}

static bool is(const struct approval_value *item, const char *key, const char *value)
{
	return strcmp(approval_value_text(item, key), value) == 0;
}

/* A tool call that was decided, or that ended while it waited. */
static bool is_call(const struct approval_value *item)
{
	return (is(item, "event", "decision") || is(item, "event", "ended")) &&
	       is(item, "request_type", "tool_call");
}

/* Rules and modes decide by themselves; all others had been asked. */
static enum outcome outcome_was(const struct approval_value *item)
{
	if (!is(item, "source", "rule") && !is(item, "source", "mode"))
		return ASKED;
	return is(item, "verdict", "allow") ? ALLOWED : DENIED;
}

static struct bytes home_of(struct replay *r, const struct approval_value *item)
{
	const uint32_t uid = (uint32_t)approval_value_uint(approval_value_get(item, "uid"));
	const char *const own = getenv("HOME");
	const struct passwd *entry;
	const char *found = NULL;

	if (!r->looked || r->uid != uid) {
		entry = getpwuid(uid);
		found = entry ? entry->pw_dir : NULL;
		if (uid == geteuid() && own && *own == '/')
			found = own;
		free(r->home);
		r->home = found && *found == '/' ? strdup(found) : NULL;
		r->uid = uid;
		r->looked = true;
	}
	return bytes_of(r->home);
}

/* 1: it can't be told, *gap says why. */
static int row_explain(struct replay *r, const struct approval_value *item,
	struct explanation *out, enum gap *gap)
{
	const struct approval_value *const input = approval_value_get(item, "input");
	struct explain_call call = {
		.tool = member(item, "tool"),
		.cwd = member(item, "cwd"),
		.workspace = member(item, "workspace"),
		.home = home_of(r, item),
		.mode = member(item, "mode"),
		.kind = member(item, "kind"),
	};
	int err;

	*gap = GAP_TURN;
	if (is(item, "step", "suspended") || is(item, "step", "repeat") ||
		is(item, "source", "budget"))
		return 1;
	*gap = GAP_INPUT;
	if (!input)
		return 1;
	call.input.data = approval_value_raw(input, &call.input.len);
	*gap = GAP_UNCLEAR;
	if (!call.tool.data || !call.mode.data || !call.kind.data)
		return 1;
	err = explain(r->x, &call, out);
	return err == -EINVAL ? 1 : err;
}

/* ---- what would change ---- */

static const struct table_column columns[] = {
	{"SEQ", TABLE_RIGHT, 1, 0},
	{"TIME", 0, 3, 0},
	{"AGENT", TABLE_SHRINK, 4, 0},
	{"TOOL", TABLE_SHRINK, 2, 0},
	{"WHAT", TABLE_SHRINK, 0, 0},
	{"WAS", TABLE_SHRINK, 0, 0},
	{"WOULD BE", 0, 0, 0},
	{"BECAUSE OF", TABLE_SHRINK, 0, 0},
};

static void what_cell(struct table *t, const struct approval_value *item)
{
	if (*approval_value_text(item, "command"))
		item_cell(t, item, "command", STYLE_PLAIN);
	else
		item_cell_what(t, item);
}

static void was_cell(struct table *t, const struct approval_value *item)
{
	const bool asked = outcome_was(item) == ASKED;
	const char *verdict = approval_value_text(item, "verdict");

	if (is(item, "verdict", "none"))
		verdict = approval_value_text(item, "state");
	table_printf(t, "%s%s by %s", asked ? "asked: " : "", verdict,
		*approval_value_text(item, "source") ? approval_value_text(item, "source")
						     : "nobody");
}

static void because_cell(struct table *t, const struct explanation *e)
{
	struct text text = {0};

	if (e->rule)
		text_printf(&text, "line %u: %s", e->line, e->rule);
	else if (e->floor)
		text_printf(&text, "floor: %s", e->floor);
	table_cell_styled(t, text_string(&text), text.len, STYLE_PLAIN);
	text_free(&text);
}

static void change_row(
	struct replay *r, const struct approval_value *item, const struct explanation *e)
{
	struct table *const t = r->table;
	char at[TIME_SIZE];

	table_printf(t, "%llu",
		(unsigned long long)approval_value_uint(approval_value_get(item, "seq")));
	table_cell(t, time_format(at, approval_value_int(approval_value_get(item, "at"))));
	item_cell(t, item, "agent", STYLE_PLAIN);
	item_cell(t, item, "tool", STYLE_PLAIN);
	what_cell(t, item);
	was_cell(t, item);
	if (e->source)
		table_printf(t, "%s by %s", e->verdict, e->source);
	else
		table_cell(t, e->verdict);
	because_cell(t, e);
}

static struct json_object *said_json(const struct explanation *e, int *r)
{
	struct json_object *const now = json_object_new_object();

	if (!now)
		*r = -ENOMEM;
	json_add_text(now, "verdict", e->verdict, r);
	json_add_text(now, "source", e->source, r);
	json_add_text(now, "step", e->step, r);
	json_add_text(now, "rule", e->rule, r);
	json_add(now, "line", e->line ? json_object_new_int64(e->line) : NULL, r);
	json_add_text(now, "floor", e->floor, r);
	return now;
}

static struct json_object *was_json(const struct approval_value *item, int *r)
{
	static const char *const keys[] = {
		"verdict", "source", "step", "state", "rule", "rule_id", "floor"};
	struct json_object *const was = json_object_new_object();

	if (!was)
		*r = -ENOMEM;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_add_value(was, keys[i], approval_value_get(item, keys[i]), r);
	return was;
}

static int change_json(
	const struct ctl *c, const struct approval_value *item, const struct explanation *e)
{
	static const char *const keys[] = {"seq", "at", "session", "request", "agent", "tool",
		"kind", "command", "input", "cwd", "workspace", "mode"};
	struct json_object *const j = json_object_new_object();
	int r = j ? 0 : -ENOMEM;

	json_add_text(j, "type", "change", &r);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_add_value(j, keys[i], approval_value_get(item, keys[i]), &r);
	json_add(j, "was", was_json(item, &r), &r);
	json_add(j, "now", said_json(e, &r), &r);
	if (!r)
		r = json_write(&c->out, j);
	json_object_put(j);
	return r;
}

/* What has gathered is shown, so that a long history takes no memory. */
static int flush(struct replay *r)
{
	int err = r->table ? table_print(r->table, &r->c->out) : 0;

	table_free(r->table);
	r->table = NULL;
	return err;
}

static int change_show(
	struct replay *r, const struct approval_value *item, const struct explanation *e)
{
	int err = 0;

	if (r->c->json)
		return change_json(r->c, item, e);
	if (!r->table)
		err = table_new(&r->table, columns, sizeof(columns) / sizeof(columns[0]));
	if (err)
		return err;
	change_row(r, item, e);
	return table_rows(r->table) >= LIMIT_PAGE ? flush(r) : 0;
}

static int row_replay(struct replay *r, const struct approval_value *item)
{
	const enum outcome was = outcome_was(item);
	struct explanation e;
	enum outcome now;
	enum gap gap;
	int err;

	r->calls++;
	err = row_explain(r, item, &e, &gap);
	if (err == 1)
		r->n_gaps[gap]++;
	if (err)
		return err < 0 ? err : 0;
	now = strcmp(e.verdict, "allow") == 0  ? ALLOWED
	      : strcmp(e.verdict, "deny") == 0 ? DENIED
					       : ASKED;
	if (now == was)
		return 0;
	r->changes[was][now]++;
	return change_show(r, item, &e);
}

/* ---- the summary ---- */

static uint64_t changes_count(const struct replay *r)
{
	uint64_t n = 0;

	for (int was = 0; was < OUTCOME_N; was++)
		for (int now = 0; now < OUTCOME_N; now++)
			n += r->changes[was][now];
	return n;
}

static int summary_json(const struct replay *r)
{
	struct json_object *const j = json_object_new_object();
	struct json_object *const changes = json_object_new_object();
	struct json_object *const unknown = json_object_new_object();
	int err = j && changes && unknown ? 0 : -ENOMEM;
	char key[32];

	for (int was = 0; was < OUTCOME_N; was++)
		for (int now = 0; now < OUTCOME_N; now++) {
			snprintf(key, sizeof(key), "%s-%s", outcomes[was], outcomes[now]);
			if (was != now)
				json_add(changes, key,
					json_object_new_int64((int64_t)r->changes[was][now]),
					&err);
		}
	for (int gap = 0; gap < GAP_N; gap++)
		json_add(unknown, gap_keys[gap], json_object_new_int64((int64_t)r->n_gaps[gap]),
			&err);
	json_add_text(j, "type", "summary", &err);
	json_add(j, "calls", json_object_new_int64((int64_t)r->calls), &err);
	json_add(j, "changes", changes, &err);
	json_add(j, "unknown", unknown, &err);
	if (!err)
		err = json_write(&r->c->out, j);
	json_object_put(j);
	return err;
}

static int summary_show(const struct replay *r)
{
	static const char *const before[OUTCOME_N] = {"allowed", "denied", "asked about"};
	static const char *const after[OUTCOME_N] = {"allowed", "denied", "asked about"};
	const struct output *const o = &r->c->out;

	if (r->c->json)
		return summary_json(r);
	output_printf(o, "%llu calls, %llu would change.\n", (unsigned long long)r->calls,
		(unsigned long long)changes_count(r));
	for (int was = 0; was < OUTCOME_N; was++)
		for (int now = 0; now < OUTCOME_N; now++)
			if (r->changes[was][now])
				output_printf(o, "%llu that were %s would be %s.\n",
					(unsigned long long)r->changes[was][now], before[was],
					after[now]);
	for (int gap = 0; gap < GAP_N; gap++)
		if (r->n_gaps[gap])
			output_printf(o, "%llu can't be told: %s.\n",
				(unsigned long long)r->n_gaps[gap], gaps[gap]);
	output_printf(o, "Paths were taken by their text, and the floor as it is shipped.\n");
	return 0;
}

/* ---- pages ---- */

static int page_replay(struct replay *r, const struct approval_value *items)
{
	int err = 0;

	for (size_t i = 0; !err && r->left && i < approval_value_count(items); i++) {
		const struct approval_value *const item = approval_value_at(items, i);

		if (!is_call(item))
			continue;
		err = row_replay(r, item);
		r->left--;
	}
	return ctl_own(r->c, err);
}

static int pages_replay(struct replay *r, const struct history_filter *f)
{
	int64_t cursor = -1;
	bool more = true;
	int status = STATUS_OK;

	while (!status && more && r->left) {
		struct approval_value *page = NULL;
		const struct param params[] = {
			PARAM_INT("after", cursor),
			PARAM_INT("limit", LIMIT_PAGE),
			PARAM_TEXT("session", f->session),
			PARAM_TEXT("agent", f->agent),
			PARAM_TEXT("tool", f->tool),
			PARAM_TEXT("rule", f->rule),
			PARAM_TEXT("verdict", f->verdict),
			PARAM_TEXT("source", f->source),
			PARAM_INT("since", f->since),
			PARAM_INT("until", f->until),
			PARAM_TRUE("whole", true),
		};
		int64_t next;

		status = ctl_call(
			r->c, "history", params, sizeof(params) / sizeof(params[0]), &page);
		if (status)
			break;
		status = page_replay(r, approval_value_get(page, "items"));
		next = approval_value_int(approval_value_get(page, "cursor"));
		/* a cursor that stands still would never end */
		more = approval_value_bool(approval_value_get(page, "more")) && next > cursor;
		cursor = next;
		approval_value_free(page);
	}
	if (!status)
		status = ctl_own(r->c, flush(r));
	return status;
}

int history_replay(struct ctl *c, const struct history_filter *f, const char *path)
{
	struct replay r = {.c = c, .left = f->limit ? f->limit : UINT64_MAX};
	int status = ctl_own(c, explainer_new(&r.x));

	if (!status)
		status = rules_load(&r, path);
	if (!status)
		status = pages_replay(&r, f);
	if (!status)
		status = ctl_own(c, summary_show(&r));
	table_free(r.table);
	explainer_free(r.x);
	free(r.home);
	return status;
}
