/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/policy/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"

static void item_free(struct summary_item *i)
{
	free(i->tool);
	free(i->why);
	free(i->first);
}

void summary_free(struct summary *s)
{
	for (size_t i = 0; i < s->n; i++)
		item_free(&s->items[i]);
	free(s->items);
	*s = (struct summary){.n = 0};
}

enum fate fate_of(enum answer answer, const char *verdict, const char *source)
{
	if (!strcmp(verdict, "allow"))
		return answer == ANSWER_ALLOW ? FATE_ALLOWED : FATE_OTHERS_ALLOWED;
	if (strcmp(verdict, "deny"))
		return FATE_OPEN;
	if (answer == ANSWER_DENY)
		return FATE_DENIED;
	/* the broker alone denies for want of anybody who allows */
	if (answer == ANSWER_ALLOW || strcmp(source, "broker"))
		return FATE_OTHERS_DENIED;
	return answer == ANSWER_ASK ? FATE_ASKED : FATE_NOTHING;
}

int summary_add(struct summary *s, enum fate fate, enum answer answer, const char *tool,
	const char *why, const char *first)
{
	struct summary_item *grown, item;

	s->counts[answer]++;
	s->fates[fate]++;
	for (size_t i = 0; i < s->n; i++) {
		struct summary_item *const at = &s->items[i];

		if (at->fate == fate && at->answer == answer && !strcmp(at->tool, tool) &&
			!strcmp(at->why, why)) {
			at->n++;
			at->differ |= strcmp(at->first, first) != 0;
			return 0;
		}
	}
	s->others++;
	if (s->n == SUMMARY_ITEMS)
		return 0;
	grown = reallocarray(s->items, s->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->items = grown;
	item = (struct summary_item){fate, answer, strdup(tool), strdup(why), strdup(first), 1,
		false};
	if (!item.tool || !item.why || !item.first) {
		item_free(&item);
		return -ENOMEM;
	}
	s->items[s->n++] = item;
	s->others--;
	return 0;
}

static int json_number(struct json_object *map, const char *key, uint64_t n)
{
	int r = 0;
	struct json_object *const v = json_object_new_uint64(n);

	json_add(map, key, v, &r);
	return v ? r : -ENOMEM;
}

static void json_shown(struct json_object *map, const char *key, const char *s, int *r)
{
	struct text t = {0};

	text_utf8(&t, s, strlen(s));
	if (t.failed)
		*r = -ENOMEM;
	json_add_text(map, key, text_string(&t), r);
	text_free(&t);
}

static const struct {
	const char *title, *outcome;
} fates[FATE_N] = {
	[FATE_ALLOWED] = {"allowed", "allowed"},
	[FATE_DENIED] = {"denied", "denied"},
	[FATE_ASKED] = {"denied, since nobody is there to be asked", "denied"},
	[FATE_NOTHING] = {"denied, since nothing allowed it", "denied"},
	[FATE_OTHERS_ALLOWED] = {"allowed by another", "allowed"},
	[FATE_OTHERS_DENIED] = {"denied by another", "denied"},
	[FATE_OPEN] = {"left open: a person is asked, or it ended", "open"},
};

/* How many were allowed, denied or left open. */
static uint64_t outcome_count(const struct summary *s, const char *outcome)
{
	uint64_t n = 0;

	for (unsigned f = 0; f < FATE_N; f++)
		if (!strcmp(fates[f].outcome, outcome))
			n += s->fates[f];
	return n;
}

static int print_json(const struct summary *s, const struct output *o)
{
	static const char *const outcomes[] = {"allowed", "denied", "open"};
	struct json_object *const map = json_object_new_object();
	struct json_object *const list = json_object_new_array();
	int r = map && list ? 0 : -ENOMEM;

	json_add_text(map, "event", "summary", &r);
	json_add(map, "headless", json_object_new_boolean(true), &r);
	for (unsigned a = ANSWER_ALLOW; !r && a <= ANSWER_DENY; a++)
		r = json_number(map, answer_name((enum answer)a), s->counts[a]);
	for (size_t i = 0; !r && i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		r = json_number(map, outcomes[i], outcome_count(s, outcomes[i]));
	for (size_t i = 0; !r && i < s->n; i++) {
		struct json_object *const item = json_object_new_object();

		if (!item || json_object_array_add(list, item)) {
			json_object_put(item);
			r = -ENOMEM;
			break;
		}
		json_add_text(item, "answer", answer_name(s->items[i].answer), &r);
		json_add_text(item, "outcome", fates[s->items[i].fate].outcome, &r);
		json_shown(item, "tool", s->items[i].tool, &r);
		json_shown(item, "why", s->items[i].why, &r);
		json_shown(item, "first", s->items[i].first, &r);
		if (!r)
			r = json_number(item, "count", s->items[i].n);
	}
	if (!r)
		r = json_number(map, "others", s->others);
	json_add(map, "items", list, &r);
	if (!r)
		r = json_write(o, map);
	json_object_put(map);
	return r;
}

static void items_print(const struct summary *s, enum fate fate, struct text *t)
{
	if (!s->fates[fate])
		return;
	text_printf(t, "%s: %" PRIu64 "\n", fates[fate].title, s->fates[fate]);
	for (size_t i = 0; i < s->n; i++) {
		const struct summary_item *const item = &s->items[i];

		if (item->fate != fate)
			continue;
		text_printf(t, "  %6" PRIu64 "  ", item->n);
		text_terminal(t, item->first, strlen(item->first), 0);
		text_add(t, item->differ ? ", and others  (" : "  (");
		text_terminal(t, item->why, strlen(item->why), 0);
		text_add(t, ")\n");
	}
}

int summary_print(const struct summary *s, const struct output *o, bool json)
{
	struct text t = {0};

	if (json)
		return print_json(s, o);
	for (unsigned f = 0; f < FATE_N; f++)
		items_print(s, (enum fate)f, &t);
	if (!t.len)
		text_add(&t, "no call was answered\n");
	if (s->others)
		text_printf(
			&t, "%" PRIu64 " more are of kinds that are not listed\n", s->others);
	return output_text(o, &t);
}
