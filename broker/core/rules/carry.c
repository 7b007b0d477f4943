/* SPDX-License-Identifier: MIT */
/* From one set of rules to the one that takes its place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/ruleset.h"

static int standing_carry(struct ruleset *to, const struct rule_entry *e)
{
	const struct rule_origin origin = {
		.scope = (enum rule_scope)e->scope,
		.uid = e->uid,
		.owner = e->owner,
		.project = str_bytes(e->project),
		.by = str_bytes(e->by),
		.made = e->made,
		.expires = e->expires,
	};
	struct rule_problem problem;
	size_t len;
	char *const text = rule_text(e->rule, &len);
	int err;

	if (!text)
		return -ENOMEM;
	err = ruleset_add(to, &origin, e->id, (struct bytes){text, len}, &problem);
	free(text);
	if (err == 0)
		ruleset_set_matches(to, ruleset_find(to, e->id), e->matches, e->matched_at);
	/* what is printed can be read; were it not so, the old set has to stay */
	return err > 0 ? -EINVAL : err;
}

/* ---- how often rules of files have matched ---- */

static int by_text(const void *left, const void *right)
{
	const struct rule_entry *const a = *(const struct rule_entry *const *)left;
	const struct rule_entry *const b = *(const struct rule_entry *const *)right;
	int c = bytes_compare(a->rule->text, b->rule->text);

	if (c == 0)
		c = bytes_compare(a->rule->name, b->rule->name);
	if (c == 0)
		c = (a->rule->verdict > b->rule->verdict) -
		    (a->rule->verdict < b->rule->verdict);
	if (c == 0)
		c = (a->rule->spec > b->rule->spec) - (a->rule->spec < b->rule->spec);
	if (c == 0)
		c = bytes_compare(str_bytes(a->file), str_bytes(b->file));
	if (c == 0)
		c = (a->uid > b->uid) - (a->uid < b->uid);
	return c;
}

/* Those that have something to be kept, sorted. */
struct counted {
	const struct rule_entry **items;
	size_t n;
};

static int counted_find(const struct ruleset *set, struct counted *out)
{
	const struct rule_entry *e = NULL;

	out->n = 0;
	out->items = calloc(ruleset_count(set) + 1, sizeof(*out->items));
	if (!out->items)
		return -ENOMEM;
	while ((e = ruleset_next(set, e)))
		if (e->id == 0 && e->file && e->matches > 0)
			out->items[out->n++] = e;
	qsort(out->items, out->n, sizeof(*out->items), by_text);
	return 0;
}

int ruleset_carry_matches(struct ruleset *to, const struct ruleset *from)
{
	const struct rule_entry *e = NULL;
	struct counted counted;
	const int err = counted_find(from, &counted);

	if (err < 0)
		return err;
	while (counted.n > 0 && (e = ruleset_next(to, e))) {
		const struct rule_entry *const *const same =
			e->id == 0 && e->file ? bsearch(&e, counted.items, counted.n,
							sizeof(*counted.items), by_text)
					      : NULL;

		if (same)
			ruleset_set_matches(to, e, (*same)->matches, (*same)->matched_at);
	}
	free(counted.items);
	return 0;
}

int ruleset_carry(struct ruleset *to, const struct ruleset *from)
{
	const struct rule_entry *e = NULL;
	int err = 0;

	while (err == 0 && (e = ruleset_next(from, e)))
		if (e->id != 0)
			err = standing_carry(to, e);
	return err;
}
