/* SPDX-License-Identifier: MIT */
/* history and stats */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/history.h"
#include "frontends/ctl/item.h"
#include "libapproval/limits.h"

#define LIMIT_SHOWN  50
#define VERIFY_CHUNK 1000

enum {
	OPTION_LIMIT = OPTION_OTHER,
	OPTION_AGENT,
	OPTION_VERDICT,
	OPTION_SOURCE,
	OPTION_EVENT,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_OLDEST,
	OPTION_VERIFY,
	OPTION_REPLAY,
};

const struct option_def ctl_history_options[] = {
	{'n', "limit", "N", "at most so many; 0: all (default: 50)"},
	{OPTION_OLDEST, "oldest", NULL, "the oldest first"},
	{OPTION_SESSION, "session", "SESSION", "only of this session"},
	{OPTION_AGENT, "agent", "NAME", "only of this agent"},
	{OPTION_TOOL, "tool", "NAME", "only this tool"},
	{OPTION_RULE, "rule", "RULE", "only where this rule decided or was changed"},
	{OPTION_VERDICT, "verdict", "VERDICT", "allow or deny"},
	{OPTION_SOURCE, "source", "SOURCE", "who decided: user, policy, rule, mode, ..."},
	{OPTION_EVENT, "event", "EVENT", "decision, outcome, ended, ran_anyway, ..."},
	{OPTION_SINCE, "since", "TIME", "not before; 2h, 2026-01-31, '2026-01-31 12:00'"},
	{OPTION_UNTIL, "until", "TIME", "not after"},
	{OPTION_VERIFY, "verify", NULL, "prove that no record was changed or removed"},
	{OPTION_REPLAY, "replay", "RULES", "what the rules of this file would have said"},
	OPTION_DEF_JSON,
	{0},
};

const struct option_def ctl_stats_options[] = {
	OPTION_DEF_JSON,
	{0},
};

/* What the filters take; a test compares it with the broker's own names. */
static const char *const verdicts[] = {"allow", "deny", NULL};
static const char *const sources[] = {"user", "policy", "rule", "mode", "floor", "repeat",
	"budget", "timeout", "abort", "elsewhere", "broker", NULL};
static const char *const events[] = {"session_opened", "session_ended", "turn_begun",
	"turn_ended", "turn_suspended", "turn_resumed", "mode_set", "decision", "ended",
	"outcome", "ran_anyway", "lost_denials", "anchor", "rule_added", "rule_removed",
	"rule_expired", "project_trusted", "project_untrusted", "killed", NULL};

struct history {
	struct ctl *c;
	const char *session, *agent, *tool, *rule, *verdict, *source, *event;
	int64_t since, until;
	uint64_t limit;
	bool oldest, verify;
	struct table *table;
	bool found;
};

static const struct table_column columns[] = {
	{"SEQ", TABLE_RIGHT, 8, 0},
	{"TIME", 0, 3, 0},
	{"EVENT", 0, 2, 0},
	{"AGENT", TABLE_SHRINK, 6, 0},
	{"RESULT", 0, 1, 0},
	{"SOURCE", 0, 5, 0},
	{"TOOL", TABLE_SHRINK, 7, 0},
	{"WHAT", TABLE_SHRINK, 0, 24},
	{"REASON", TABLE_SHRINK, 4, 0},
};

/* The floor's entry or the rule, then what was said; of a rule's change who made it. */
static void why_cell(struct table *t, const struct approval_value *item, bool rule)
{
	static const char *const keys[][3] = {{"floor", "rule", "reason"}, {"by", "detail"}};
	struct text why = {0};

	for (size_t i = 0; i < 3 && keys[rule][i]; i++) {
		size_t len;
		const char *s =
			approval_value_str(approval_value_get(item, keys[rule][i]), &len);

		if (len && why.len)
			text_add(&why, ": ");
		text_addn(&why, s, len);
		if (len && !strcmp(keys[rule][i], "rule") && approval_value_get(item, "rule_id"))
			text_printf(&why, " (rule %lld)",
				(long long)approval_value_int(
					approval_value_get(item, "rule_id")));
	}
	table_cell_styled(t, text_string(&why), why.len, STYLE_PLAIN);
	text_free(&why);
}

static bool is_session(const char *word)
{
	return !strncmp(word, "ses_", 4) && strlen(word) == strlen("ses_") + 36;
}

static void history_row(
	struct table *t, const struct output *o, const struct approval_value *item)
{
	const int64_t then = approval_value_int(approval_value_get(item, "at"));
	const char *event = approval_value_text(item, "event");
	bool decision = !strcmp(event, "decision"), rule = !strncmp(event, "rule_", 5);
	const char *result = approval_value_text(item, decision ? "verdict"
						       : rule	? "scope"
								: "state");
	const char *what = rule					   ? "rule"
			   : !strncmp(event, "project_", 8)	   ? "workspace"
			   : *approval_value_text(item, "command") ? "command"
								   : "detail";
	char at[TIME_SIZE];

	table_printf(t, "%llu",
		(unsigned long long)approval_value_uint(approval_value_get(item, "seq")));
	table_cell(t, o->terminal ? time_short(at, time_now(), then) : time_format(at, then));
	item_cell(t, item, "event", STYLE_PLAIN);
	item_cell(t, item, "agent", STYLE_PLAIN);
	table_cell_styled(t, result, strlen(result),
		!strcmp(result, "allow")  ? STYLE_GREEN
		: !strcmp(result, "deny") ? STYLE_RED
					  : STYLE_PLAIN);
	item_cell(t, item, "source", STYLE_PLAIN);
	item_cell(t, item, "tool", STYLE_PLAIN);
	/* a session by the end of its id: the begin is much the same for all of a day */
	if (!strcmp(what, "detail") && is_session(approval_value_text(item, what)))
		item_cell_id(t, o, item, what);
	else
		item_cell(t, item, what, STYLE_PLAIN);
	why_cell(t, item, rule || !strncmp(event, "project_", 8));
}

/* What has gathered is shown, so that a long history takes no memory. */
static int history_flush(struct history *h)
{
	int r = h->table ? table_print(h->table, &h->c->out) : 0;

	table_free(h->table);
	h->table = NULL;
	return r;
}

/* A page may hold few of the rows that a table has, or none. */
static int history_page(struct history *h, const struct approval_value *items)
{
	size_t n = approval_value_count(items);
	int r = 0;

	if (!h->c->json && n && !h->table)
		r = table_new(&h->table, columns, sizeof(columns) / sizeof(columns[0]));
	if (n)
		h->found = true;
	for (size_t i = 0; !r && i < n; i++) {
		if (h->c->json)
			r = json_write_value(&h->c->out, approval_value_at(items, i));
		else
			history_row(h->table, &h->c->out, approval_value_at(items, i));
	}
	return !r && h->table && table_rows(h->table) >= LIMIT_PAGE ? history_flush(h) : r;
}

static int history_pages(struct history *h, const char *session)
{
	struct ctl *c = h->c;
	uint64_t left = h->limit ? h->limit : UINT64_MAX;
	int64_t cursor = -1;
	bool more = true;
	int status = STATUS_OK;

	while (!status && more && left) {
		uint64_t limit = left < LIMIT_PAGE ? left : LIMIT_PAGE;
		struct approval_value *page = NULL;
		const struct param params[] = {
			PARAM_INT(h->oldest ? "after" : "before", cursor),
			PARAM_INT("limit", (int64_t)limit),
			PARAM_TEXT("session", session),
			PARAM_TEXT("agent", h->agent),
			PARAM_TEXT("tool", h->tool),
			PARAM_TEXT("rule", h->rule),
			PARAM_TEXT("verdict", h->verdict),
			PARAM_TEXT("source", h->source),
			PARAM_TEXT("event", h->event),
			PARAM_INT("since", h->since),
			PARAM_INT("until", h->until),
			PARAM_TRUE("newest", !h->oldest),
		};

		status = ctl_call(
			c, "history", params, sizeof(params) / sizeof(params[0]), &page);
		if (status)
			break;

		const struct approval_value *items = approval_value_get(page, "items");
		int64_t next = approval_value_int(approval_value_get(page, "cursor"));

		status = ctl_own(c, history_page(h, items));
		left -= approval_value_count(items) < left ? approval_value_count(items) : left;
		/* a cursor that stands still would never end */
		more = approval_value_bool(approval_value_get(page, "more")) && next > 0 &&
		       next != cursor;
		cursor = next;
		approval_value_free(page);
	}
	if (!status)
		status = ctl_own(c, history_flush(h));
	if (!status && !h->found && !c->json && c->out.terminal)
		output_printf(&c->out, "The history has no such record.\n");
	table_free(h->table);
	return status;
}

/* A session that has ended is known to the history alone, so a whole id is taken as it is. */
static int history_session(struct ctl *c, const char *word, char **id)
{
	if (!word)
		return STATUS_OK;
	if (is_session(word)) {
		*id = strdup(word);
		return ctl_own(c, *id ? 0 : -ENOMEM);
	}
	return ctl_resolve(c, word, "session", id);
}

static int history_show(struct history *h)
{
	char *session = NULL;
	int status = history_session(h->c, h->session, &session);

	if (!status)
		status = history_pages(h, session);
	free(session);
	return status;
}

/* All of them, unless so many are asked for. */
static int history_again(const struct history *h, const char *rules)
{
	char *session = NULL;
	int status = history_session(h->c, h->session, &session);
	const struct history_filter filter = {session, h->agent, h->tool, h->rule, h->verdict,
		h->source, NULL, h->since, h->until, h->limit};

	if (!status)
		status = history_replay(h->c, &filter, rules);
	free(session);
	return status;
}

/* ---- verify ---- */

struct verification {
	uint64_t checked, bad_seq;
	bool holds;
	char message[256];
	struct approval_value *last;
};

static int verify_all(struct ctl *c, struct verification *v)
{
	uint64_t after = 0;

	*v = (struct verification){.holds = true};
	for (;;) {
		const struct param params[] = {
			PARAM_INT("after", (int64_t)after),
			PARAM_INT("limit", VERIFY_CHUNK),
		};
		struct approval_value *result = NULL;
		int status = ctl_call(c, "history_verify", params, 2, &result);

		if (status)
			return status;
		approval_value_free(v->last);
		v->last = result;
		v->checked += approval_value_uint(approval_value_get(result, "checked"));
		v->bad_seq = approval_value_uint(approval_value_get(result, "bad_seq"));
		/* only a plain yes is one */
		v->holds = approval_value_bool(approval_value_get(result, "ok")) && !v->bad_seq;
		uint64_t next = approval_value_uint(approval_value_get(result, "next"));
		if (!v->holds || !next)
			return STATUS_OK;
		if (next <= after)
			return ctl_broke(c, -EPROTO, NULL);
		after = next;
	}
}

static int verify_print_json(const struct ctl *c, const struct verification *v)
{
	struct json_object *j = json_object_new_object();
	int r = j ? 0 : -ENOMEM;

	json_add(j, "ok", json_object_new_boolean(v->holds), &r);
	json_add(j, "checked", json_object_new_int64((int64_t)v->checked), &r);
	if (v->bad_seq)
		json_add(j, "bad_seq", json_object_new_int64((int64_t)v->bad_seq), &r);
	if (!v->holds)
		json_add_value(j, "message", approval_value_get(v->last, "message"), &r);
	json_add_value(j, "head", approval_value_get(v->last, "head"), &r);
	if (!r)
		r = json_write(&c->out, j);
	json_object_put(j);
	return r;
}

static int verify_print(const struct ctl *c, const struct verification *v)
{
	const struct approval_value *head = approval_value_get(v->last, "head");
	const struct approval_value *why = approval_value_get(v->last, "message");
	size_t len;
	const char *s = approval_value_str(head, &len);

	if (c->json)
		return verify_print_json(c, v);
	if (!v->holds) {
		output_styled(&c->out, STYLE_RED, "The history does not hold");
		if (v->bad_seq)
			output_printf(
				&c->out, " at record %llu", (unsigned long long)v->bad_seq);
		output_printf(&c->out, ".\n");
		s = approval_value_str(why, &len);
		return output_field(&c->out, "Reason", s, len);
	}
	output_printf(&c->out, "The history holds: %llu records, head ",
		(unsigned long long)v->checked);
	for (size_t i = 0; i < len; i++)
		output_printf(&c->out, "%02x", (unsigned char)s[i]);
	output_printf(&c->out, ".\n");
	return 0;
}

static int history_verify(struct ctl *c)
{
	struct verification v;
	int status = verify_all(c, &v);

	if (!status)
		status = ctl_own(c, verify_print(c, &v));
	if (!status && !v.holds)
		status = STATUS_DATA;
	approval_value_free(v.last);
	return status;
}

int ctl_history(void *ctl, struct options *o)
{
	struct history h = {.c = ctl, .since = -1, .until = -1, .limit = UINT64_MAX};
	const char *rules = NULL;
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END) {
		int bad = 0;

		switch (key) {
		case 'n': bad = options_number(o, o->value, INT64_MAX, &h.limit); break;
		case OPTION_OLDEST: h.oldest = true; break;
		case OPTION_SESSION: h.session = o->value; break;
		case OPTION_AGENT: h.agent = o->value; break;
		case OPTION_TOOL: h.tool = o->value; break;
		case OPTION_RULE: h.rule = o->value; break;
		case OPTION_VERDICT:
			h.verdict = o->value;
			bad = options_word(o, o->value, verdicts);
			break;
		case OPTION_SOURCE:
			h.source = o->value;
			bad = options_word(o, o->value, sources);
			break;
		case OPTION_EVENT:
			h.event = o->value;
			bad = options_word(o, o->value, events);
			break;
		case OPTION_SINCE: bad = options_time(o, o->value, &h.since); break;
		case OPTION_UNTIL: bad = options_time(o, o->value, &h.until); break;
		case OPTION_VERIFY: h.verify = true; break;
		case OPTION_REPLAY: rules = o->value; break;
		default: ctl_option(h.c, o, key);
		}
		if (bad)
			return STATUS_USAGE;
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands)
		return options_wrong(o, "'%s': history takes no operands", o->operands[0]);

	if (h.verify && (h.session || h.agent || h.tool || h.rule || h.verdict || h.source ||
				h.event || h.since != -1 || h.until != -1 || h.oldest ||
				h.limit != UINT64_MAX))
		return options_wrong(o, "--verify proves the whole history, and takes no filter");
	if (h.since >= 0 && h.until >= 0 && h.since > h.until)
		return options_wrong(o, "--since is later than --until: there is no such time");
	if (rules && (h.event || h.verify || h.oldest))
		return options_wrong(o, "--replay looks at all calls, the oldest first");
	if (h.limit == UINT64_MAX)
		h.limit = rules ? 0 : LIMIT_SHOWN;

	status = ctl_open_frontend(h.c);
	if (!status)
		status = h.verify ? history_verify(h.c)
			 : rules  ? history_again(&h, rules)
				  : history_show(&h);
	return status;
}

/* ---- stats ---- */

/* Maps in maps get names like decisions.allow. */
static int stats_rows(struct table *t, const char *prefix, const struct approval_value *map)
{
	const struct approval_value *key, *value;
	int r = 0;

	for (size_t i = 0; !r && approval_value_pair(map, i, &key, &value); i++) {
		struct text name = {0};
		struct json_object *j = NULL;
		size_t len;
		const char *s = approval_value_str(key, &len);

		text_add(&name, prefix);
		if (*prefix)
			text_add(&name, ".");
		text_addn(&name, s, len);
		if (name.failed) {
			r = -ENOMEM;
		} else if (approval_value_type(value) == APPROVAL_MAP) {
			r = stats_rows(t, text_string(&name), value);
		} else {
			r = json_from_value(value, &j);
			table_cell(t, text_string(&name));
			table_cell(t, j ? json_object_get_string(j) : NULL);
		}
		json_object_put(j);
		text_free(&name);
	}
	return r;
}

int ctl_stats(void *ctl, struct options *o)
{
	static const struct table_column names[] = {
		{"NAME", 0, 0, 0}, {"VALUE", TABLE_SHRINK, 0, 0}};
	struct ctl *c = ctl;
	struct approval_value *result = NULL;
	struct table *t = NULL;
	int key, r;

	while ((key = options_next(o)) > OPTIONS_END)
		ctl_option(c, o, key);
	if (key == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands)
		return options_wrong(o, "'%s': stats takes no operands", o->operands[0]);

	int status = ctl_open_frontend(c);

	if (!status)
		status = ctl_call(c, "stats", NULL, 0, &result);
	if (status)
		return status;
	if (c->json) {
		r = json_write_value(&c->out, result);
	} else {
		r = table_new(&t, names, 2);
		if (!r)
			r = stats_rows(t, "", result);
		if (!r)
			r = table_print(t, &c->out);
		table_free(t);
	}
	approval_value_free(result);
	return ctl_own(c, r);
}
