/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/harness/harness.h"

#define SHOWN_EVENTS 6
#define SHOWN_BYTES  600

static void event_show(struct text *t, const struct event *e)
{
	const char *s = json_object_to_json_string_ext(e->value, JSON_C_TO_STRING_PLAIN);

	text_printf(t, "\n    %s %s ", e->name, e->call ? e->call : "");
	text_terminal(t, s, strlen(s), SHOWN_BYTES);
}

/* What came, and was not expected by any step: the last of it. */
static void events_show(struct text *t, const struct client *c)
{
	size_t unused = 0, skip;

	for (size_t i = 0; i < c->n_events; i++)
		unused += !c->events[i].used;
	text_printf(t, "; %s", unused ? "there was" : "nothing came");
	skip = unused > SHOWN_EVENTS ? unused - SHOWN_EVENTS : 0;
	if (skip)
		text_printf(t, ", besides %zu others,", skip);
	for (size_t i = 0; i < c->n_events; i++)
		if (!c->events[i].used && skip)
			skip--;
		else if (!c->events[i].used)
			event_show(t, &c->events[i]);
	if (c->ended)
		text_add(t, "\n    (it has ended)");
}

static void expectation_show(struct text *t, const struct expectation *x)
{
	text_printf(t, "%s%s%s", x->name, x->call ? " " : "", x->call ? x->call : "");
	if (x->pattern)
		text_printf(t, " %s",
			json_object_to_json_string_ext(x->pattern, JSON_C_TO_STRING_PLAIN));
}

int expectation_read(struct run *r, size_t *at, struct expectation *x)
{
	const struct step *s = r->step;

	if (*at >= s->n || s->words[*at].json)
		return run_fail(r, "the name of an event is missing");
	*x = (struct expectation){.name = s->words[(*at)++].text};
	if (!strcmp(x->name, "reply") || !strcmp(x->name, "error")) {
		if (*at >= s->n || s->words[*at].json)
			return run_fail(r, "the name of a call is missing");
		x->call = s->words[(*at)++].text;
	}
	if (*at < s->n && s->words[*at].json)
		x->pattern = s->words[(*at)++].json;
	return 0;
}

static bool event_matches(struct run *r, const struct event *e, const struct expectation *x)
{
	return !strcmp(e->name, x->name) &&
	       (!x->call || !e->call || !strcmp(e->call, x->call)) &&
	       pattern_match(&r->variables, x->pattern, e->value);
}

struct event *event_find(struct run *r, struct client *c, const struct expectation *x)
{
	for (size_t i = 0; i < c->n_events; i++)
		if (!c->events[i].used && event_matches(r, &c->events[i], x))
			return &c->events[i];
	return NULL;
}

/* An answer to the call that is awaited, but not the expected one: no use in waiting. */
static const struct event *event_contrary(struct client *c, const struct expectation *x)
{
	for (size_t i = 0; x->call && i < c->n_events; i++)
		if (!c->events[i].used && c->events[i].call &&
			!strcmp(c->events[i].call, x->call))
			return &c->events[i];
	return NULL;
}

int event_expect(
	struct run *r, struct client *c, const struct expectation *x, struct event **out)
{
	int64_t until = clock_ms() + r->timeout_ms;
	struct text said = {0};
	struct event *found;
	int err = 0;

	while (!(found = event_find(r, c, x)) && !c->ended && !err && !event_contrary(c, x))
		err = clients_wait(&r->clients, until);
	if (found) {
		found->used = true;
		if (out)
			*out = found;
		return 0;
	}
	if (err && err != -ETIMEDOUT)
		return err;
	text_printf(&said, "%s: expected ", c->name);
	expectation_show(&said, x);
	if (err)
		text_printf(&said, " within %lld ms", (long long)r->timeout_ms);
	events_show(&said, c);
	run_fail(r, "%s", text_string(&said));
	text_free(&said);
	return 1;
}

int event_not_before(struct run *r, struct client *c, const struct expectation *first,
	const struct expectation *second)
{
	struct text said = {0};
	struct event *limit, *wrong;
	size_t n = r->variables.n;
	int err = event_expect(r, c, second, &limit);

	if (err)
		return err;
	/* the later one may itself be what must not come */
	limit->used = false;
	wrong = event_find(r, c, first);
	limit->used = true;
	if (!wrong || wrong > limit) {
		variables_cut(&r->variables, n);
		return 0;
	}
	text_printf(&said, "%s: came before %s:", c->name, second->name);
	event_show(&said, wrong);
	run_fail(r, "%s", text_string(&said));
	text_free(&said);
	return 1;
}

/* ---- each request told of once ---- */

static struct json_object *item_of(const struct event *e)
{
	struct json_object *item = NULL;

	if (strcmp(e->name, "item") && strcmp(e->name, "offered"))
		return NULL;
	json_object_object_get_ex(e->value, "item", &item);
	return item;
}

static const char *id_of(struct json_object *item)
{
	struct json_object *id;

	return json_object_object_get_ex(item, "request", &id) ? json_object_get_string(id)
							       : NULL;
}

static bool item_counts(struct run *r, const struct event *e, struct json_object *pattern)
{
	struct json_object *item = item_of(e);
	size_t n = r->variables.n;
	bool counts = item && id_of(item) && pattern_match(&r->variables, pattern, item);

	variables_cut(&r->variables, n);
	return counts;
}

/* Events since the connection was made last. */
static size_t connection_start(const struct client *c)
{
	size_t start = 0;

	for (size_t i = 0; i < c->n_events; i++)
		if (!strcmp(c->events[i].name, "connected"))
			start = i + 1;
	return start;
}

int event_once(struct run *r, struct client *c, size_t count, struct json_object *pattern)
{
	int64_t until = clock_ms() + r->timeout_ms;
	size_t n;
	int err = 0;

	for (;;) {
		n = 0;
		for (size_t i = connection_start(c); i < c->n_events; i++)
			n += item_counts(r, &c->events[i], pattern);
		if (n >= count || err || c->ended)
			break;
		err = clients_wait(&r->clients, until);
	}
	if (err && err != -ETIMEDOUT)
		return err;
	for (size_t i = connection_start(c); i < c->n_events; i++) {
		if (!item_counts(r, &c->events[i], pattern))
			continue;
		const char *id = id_of(item_of(&c->events[i]));

		for (size_t j = i + 1; j < c->n_events; j++)
			if (item_counts(r, &c->events[j], pattern) &&
				!strcmp(id_of(item_of(&c->events[j])), id))
				return run_fail(r, "%s: %s was told twice", c->name, id);
	}
	if (n != count)
		return run_fail(
			r, "%s: told of %zu requests instead of %zu", c->name, n, count);
	return 0;
}
