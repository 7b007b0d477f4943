/* SPDX-License-Identifier: MIT */
/* allow and deny */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"
#include "libapproval/limits.h"

#define DECIDE_MS 30000

const struct option_def ctl_allow_options[] = {
	{OPTION_REASON, "reason", "TEXT", "what the history is to say about it",
		.empty = true},
	{OPTION_ALL, "all", NULL, "everything that waits, but for floor hits and questions"},
	{OPTION_SESSION, "session", "SESSION", "everything of one session, as with --all"},
	{OPTION_YES, "yes", NULL, "do not ask for the count with --all or --session"},
	{OPTION_ALWAYS, "always", "SCOPE",
		"for all such calls of the turn, session, project or user"},
	{OPTION_RULE, "rule", "RULE", "with --always: for all that this rule is for"},
	OPTION_DEF_JSON,
	{0},
};

const struct option_def ctl_deny_options[] = {
	{OPTION_REASON, "reason", "TEXT", "tell the agent why",
		.empty = true},
	{OPTION_ALL, "all", NULL, "everything that waits"},
	{OPTION_SESSION, "session", "SESSION", "everything of one session"},
	{OPTION_YES, "yes", NULL, "do not ask for the count with --all or --session"},
	{OPTION_ALWAYS, "always", "SCOPE",
		"for all such calls of the turn, session, project or user"},
	{OPTION_RULE, "rule", "RULE", "with --always: for all that this rule is for"},
	OPTION_DEF_JSON,
	{0},
};

/* One thing to be decided. What has a result already is not sent any more. */
struct target {
	const char *word;	      /* as the person named it */
	struct approval_value *owner; /* of the item, if it was fetched by itself */
	const struct approval_value *item;
	struct approval_value *gone; /* what came with an error */
	char result[32], message[256];
	const struct approval_value *answer; /* the broker's; in `replies` */
};

struct decide {
	struct ctl *c;
	enum approval_verdict verdict;
	const char *reason;
	const char *scope, *rule; /* NULL: once; for the very call */
	struct target *targets;
	size_t n;
	struct items items;		 /* of a bulk decision */
	struct approval_value **replies; /* each for LIMIT_DECISIONS of the targets */
	size_t n_replies;
};

static void target_settle(struct target *t, const char *result, const char *message)
{
	snprintf(t->result, sizeof(t->result), "%s", result);
	snprintf(t->message, sizeof(t->message), "%s", message);
}

static bool target_open(const struct target *t)
{
	return !*t->result;
}

static int decide_alloc(struct decide *d, size_t n)
{
	d->targets = calloc(n ? n : 1, sizeof(*d->targets));
	d->n = n;
	return d->targets ? 0 : -ENOMEM;
}

/*
 * Fetches what the target's word names, so that the digest sent is that of what is
 * shown. That there is no such thing any more is its result, not a failure.
 */
static int target_fetch(struct ctl *c, struct target *t)
{
	const struct param params[] = {PARAM_TEXT("id", t->word)};
	int r = ctl_try(c, "get", params, 1, &t->owner);
	const struct approval_error *e = approval_last_error(c->client);

	t->item = NULL;
	if (r && (r != -EREMOTEIO || !strcmp(e->code, "forbidden")))
		return ctl_broke(c, r, e);
	if (r) {
		target_settle(t, e->code, e->message);
		return e->data ? ctl_own(c, approval_value_dup(e->data, &t->gone)) : STATUS_OK;
	}
	t->item = approval_value_get(t->owner, "item");
	if (strcmp(approval_value_text(t->item, "type"), "request"))
		target_settle(t, "invalid", "this is the id of a session or turn");
	return STATUS_OK;
}

static int decide_words(struct decide *d, char **words, int n)
{
	int status = ctl_own(d->c, decide_alloc(d, (size_t)n));

	for (int i = 0; !status && i < n; i++) {
		d->targets[i].word = words[i];
		status = target_fetch(d->c, &d->targets[i]);
	}
	return status;
}

/* Why an item is never part of a bulk allow; NULL: it is. */
static const char *bulk_bar(const struct approval_value *item)
{
	const char *type = approval_value_text(item, "request_type");

	if (item_is_floor(item))
		return "it hits the floor: allow it singly";
	if (strcmp(type, "tool_call") && strcmp(type, "permissions"))
		return "it is a question: it needs an answer of its own";
	return NULL;
}

static int decide_bulk(struct decide *d, const char *word)
{
	char *session = NULL;
	int status = word ? ctl_resolve(d->c, word, "session", &session) : STATUS_OK;

	if (!status) {
		const struct param params[] = {PARAM_TEXT("session", session)};

		status = items_fetch(d->c, "list", params, 1, &d->items);
	}
	if (!status)
		status = ctl_own(d->c, decide_alloc(d, d->items.n));
	for (size_t i = 0; !status && i < d->n; i++) {
		struct target *t = &d->targets[i];
		const char *bar = NULL;

		t->item = d->items.items[i];
		t->word = approval_value_text(t->item, "request");
		if (d->verdict == APPROVAL_ALLOW)
			bar = bulk_bar(t->item);
		if (bar)
			target_settle(t, "skipped", bar);
		/* lists leave out a large input; what is going to be allowed is shown with it
		 */
		else if (approval_value_type(approval_value_get(t->item, "input_size")) !=
			 APPROVAL_NIL)
			status = target_fetch(d->c, t);
	}
	free(session);
	return status;
}

static size_t decide_open(const struct decide *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += target_open(&d->targets[i]);
	return n;
}

static const char *decide_verb(const struct decide *d)
{
	return d->verdict == APPROVAL_ALLOW ? "allow" : "deny";
}

/* What is going to be decided, for people. */
static int decide_show(const struct decide *d)
{
	int r = 0;

	for (size_t i = 0; !r && i < d->n; i++) {
		const struct approval_value *item = d->targets[i].item;

		if (!target_open(&d->targets[i]))
			continue;
		output_printf(&d->c->err, "To %s: ", decide_verb(d));
		output_styled(&d->c->err, STYLE_BOLD, approval_value_text(item, "request"));
		output_printf(&d->c->err, "\n");
		r = request_show(&d->c->err, item, time_now());
	}
	return r;
}

/* Asks for the number. 1: not confirmed. */
static int decide_confirm(const struct decide *d, size_t n)
{
	char line[32], *end;

	output_printf(&d->c->err, "Type %zu to %s %s: ", n, decide_verb(d),
		n == 1 ? "this one" : "them all");
	fflush(d->c->err.file);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	unsigned long typed = strtoul(line, &end, 10);
	return end == line || (*end && *end != '\n') || typed != n;
}

/* ---- sending ---- */

static int decide_send_some(struct decide *d, struct target **some, size_t n)
{
	struct approval_answer *answers = calloc(n, sizeof(*answers));
	struct approval_value **replies;
	struct approval_value *reply = NULL;
	int status = STATUS_OK;

	replies = reallocarray(d->replies, d->n_replies + 1, sizeof(*replies));
	if (replies)
		d->replies = replies;
	if (!answers || !replies) {
		free(answers);
		return ctl_own(d->c, -ENOMEM);
	}
	for (size_t i = 0; i < n; i++) {
		size_t len;
		const void *digest =
			approval_value_str(approval_value_get(some[i]->item, "digest"), &len);

		answers[i] = (struct approval_answer){
			.size = sizeof(answers[i]),
			.request = approval_value_text(some[i]->item, "request"),
			.verdict = d->verdict,
			.reason = d->reason,
			.scope = d->scope,
			.rule = d->rule,
			/* a denial needs none, and holds whatever the request has become */
			.digest = d->verdict == APPROVAL_ALLOW && len == 32 ? digest : NULL,
		};
	}

	int r = approval_decide_wait(d->c->client, answers, n, DECIDE_MS, &reply);
	free(answers);
	if (r) {
		status = ctl_broke(d->c, r, approval_last_error(d->c->client));
		for (size_t i = 0; i < n; i++)
			target_settle(some[i], "unknown", "the broker's answer is not known");
		return status;
	}
	d->replies[d->n_replies++] = reply;

	const struct approval_value *results = approval_value_get(reply, "results");
	for (size_t i = 0; i < n; i++) {
		const struct approval_value *a = approval_value_at(results, i);

		some[i]->answer = a;
		target_settle(some[i], approval_value_text(a, "result"),
			approval_value_text(a, "message"));
		if (target_open(some[i]))
			target_settle(some[i], "unknown", "the broker gave no result for it");
	}
	return status;
}

static int decide_send(struct decide *d)
{
	struct target **some = calloc(LIMIT_DECISIONS, sizeof(struct target *));
	int status = some ? STATUS_OK : ctl_own(d->c, -ENOMEM);
	size_t i = 0;

	while (!status && i < d->n) {
		size_t n = 0;

		for (; i < d->n && n < LIMIT_DECISIONS; i++)
			if (target_open(&d->targets[i]))
				some[n++] = &d->targets[i];
		if (n)
			status = decide_send_some(d, some, n);
	}
	free(some);
	return status;
}

/* ---- telling ---- */

/* A member of what the broker answered, or of what came with its error. */
static const char *target_text(const struct target *t, const char *key)
{
	return approval_value_text(t->answer ? t->answer : t->gone, key);
}

static const char *target_request(const struct target *t)
{
	const char *id = approval_value_text(t->item ? t->item : t->gone, "request");

	return *id ? id : t->word;
}

static int target_json(const struct decide *d, const struct target *t)
{
	static const char *const keys[] = {"state", "source", "step"};
	struct json_object *j = json_object_new_object();
	int r = j ? 0 : -ENOMEM;

	json_add_text(j, "request", target_request(t), &r);
	json_add_text(j, "verdict", decide_verb(d), &r);
	json_add_text(j, "result", t->result, &r);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (*target_text(t, keys[i]))
			json_add_text(j, keys[i], target_text(t, keys[i]), &r);
	if (*t->message)
		json_add_text(j, "message", t->message, &r);
	if (!r)
		r = json_write(&d->c->out, j);
	json_object_put(j);
	return r;
}

static const char *target_words(const struct target *t)
{
	static const struct {
		const char *result, *words;
	} list[] = {
		{"not_found",
			"there is no such request ('approvalctl list' shows what there is)"},
		{"digest_mismatch", "it is not what it was when it was shown; look again"},
		{"held", "its turn is suspended ('approvalctl resume' its session first)"},
		{"refused", "the broker refuses it"},
	};

	if (*t->message)
		return t->message;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(list[i].result, t->result))
			return list[i].words;
	return "";
}

static void target_row(struct table *table, const struct decide *d, const struct target *t)
{
	bool ok = !strcmp(t->result, "ok");
	struct text what = {0};

	table_cell(table, item_id(&d->c->out, target_request(t)));
	if (ok)
		table_cell_styled(table, d->verdict == APPROVAL_ALLOW ? "allowed" : "denied",
			d->verdict == APPROVAL_ALLOW ? strlen("allowed") : strlen("denied"),
			STYLE_GREEN);
	else
		table_cell_styled(table, t->result, strlen(t->result), STYLE_RED);
	if (!strcmp(t->result, "gone"))
		table_printf(table, "%s by %s", target_text(t, "state"),
			item_source(target_text(t, "source")));
	else
		table_cell(table, target_words(t));
	if (t->item)
		item_what(&what, t->item);
	table_cell_styled(table, text_string(&what), what.len, STYLE_PLAIN);
	text_free(&what);
}

static int decide_tell(const struct decide *d)
{
	static const struct table_column columns[] = {
		{"ID", 0, 0, 0},
		{"RESULT", 0, 0, 0},
		{"WHY", TABLE_SHRINK, 1, 24},
		{"WHAT", TABLE_SHRINK, 2, 0},
	};
	struct table *table = NULL;
	int r = 0;

	if (!d->c->json)
		r = table_new(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; !r && i < d->n; i++) {
		if (d->c->json)
			r = target_json(d, &d->targets[i]);
		else
			target_row(table, d, &d->targets[i]);
	}
	if (!r && table && d->n)
		r = table_print(table, &d->c->out);
	table_free(table);
	return ctl_own(d->c, r);
}

static void decide_free(struct decide *d)
{
	for (size_t i = 0; i < d->n && d->targets; i++) {
		approval_value_free(d->targets[i].owner);
		approval_value_free(d->targets[i].gone);
	}
	free(d->targets);
	for (size_t i = 0; i < d->n_replies; i++)
		approval_value_free(d->replies[i]);
	free(d->replies);
	items_free(&d->items);
}

static bool decide_failed(const struct decide *d, bool bulk)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->targets[i].result, "ok") &&
			!(bulk && !strcmp(d->targets[i].result, "skipped")))
			return true;
	return false;
}

static int ctl_decide(struct ctl *c, struct options *o, enum approval_verdict verdict)
{
	static const char *const scopes[] = {"turn", "session", "project", "user", NULL};
	struct decide d = {.c = c, .verdict = verdict};
	const char *session = NULL;
	bool all = false, yes = false;
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_REASON: d.reason = o->value; break;
		case OPTION_ALL: all = true; break;
		case OPTION_SESSION: session = o->value; break;
		case OPTION_YES: yes = true; break;
		case OPTION_ALWAYS:
			d.scope = o->value;
			if (options_word(o, d.scope, scopes))
				return STATUS_USAGE;
			break;
		case OPTION_RULE: d.rule = o->value; break;
		default: ctl_option(c, o, key);
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;

	bool bulk = all || session;
	if (bulk == (o->n_operands > 0))
		return options_wrong(o, bulk ? "either ids or --all or --session"
					     : "an id is missing (or --all)");
	if (d.rule && (!d.scope || bulk || o->n_operands > 1))
		return options_wrong(o, "--rule wants --always and one id");
	if (bulk && !yes && !isatty(STDIN_FILENO))
		return options_wrong(
			o, "nobody can confirm the count here; --yes does without");

	status = ctl_open_frontend(c);
	if (!status)
		status = bulk ? decide_bulk(&d, session)
			      : decide_words(&d, o->operands, o->n_operands);

	size_t n = status ? 0 : decide_open(&d);
	bool look = c->err.terminal && !c->json;
	if (n && (look || (bulk && !yes)))
		status = ctl_own(c, decide_show(&d));
	if (!status && n && bulk && !yes && decide_confirm(&d, n)) {
		ctl_say(c, "not confirmed; nothing was decided");
		status = STATUS_FAILED;
	} else if (!status) {
		if (n)
			status = decide_send(&d);
		if (!d.n && c->out.terminal && !c->json)
			output_printf(&c->out, "Nothing waits for an answer.\n");

		int told = decide_tell(&d);
		status = status ? status : told;
		if (!status && decide_failed(&d, bulk))
			status = STATUS_FAILED;
	}
	decide_free(&d);
	return status;
}

int ctl_allow(void *ctl, struct options *o)
{
	return ctl_decide(ctl, o, APPROVAL_ALLOW);
}

int ctl_deny(void *ctl, struct options *o)
{
	return ctl_decide(ctl, o, APPROVAL_DENY);
}
