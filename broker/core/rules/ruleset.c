/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "broker/core/rules/ruleset_private.h"
#include "libapproval/limits.h"

static int rule_compare(const struct ruleset_entry *a, const struct ruleset_entry *b)
{
	if (a->pub.scope != b->pub.scope)
		return a->pub.scope < b->pub.scope ? -1 : 1;
	return (a->pub.number > b->pub.number) - (a->pub.number < b->pub.number);
}

static int id_compare(const struct ruleset_entry *a, const struct ruleset_entry *b)
{
	return (a->pub.id > b->pub.id) - (a->pub.id < b->pub.id);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnull-dereference"
RB_GENERATE_STATIC(rule_tree, ruleset_entry, node, rule_compare)
RB_GENERATE_STATIC(id_tree, ruleset_entry, by_id, id_compare)
#pragma GCC diagnostic pop

const char *rule_scope_name(enum rule_scope scope)
{
	static const char *const names[] = {"admin", "user", "project", "session", "turn"};

	return (unsigned)scope < RULE_SCOPE_N ? names[scope] : "?";
}

struct ruleset *ruleset_new(void)
{
	struct ruleset *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	RB_INIT(&set->entries);
	RB_INIT(&set->ids);
	if (index_init(set) < 0) {
		ruleset_free(set);
		return NULL;
	}
	return set;
}

static void entry_free(struct ruleset_entry *e)
{
	if (!e)
		return;
	rule_free((struct rule *)(uintptr_t)e->pub.rule);
	str_unref(e->pub.project);
	str_unref(e->pub.file);
	str_unref(e->pub.by);
	free(e);
}

static void entry_remove(struct ruleset *set, struct ruleset_entry *e)
{
	index_remove(set, e);
	RB_REMOVE(rule_tree, &set->entries, e);
	if (e->pub.id != 0)
		RB_REMOVE(id_tree, &set->ids, e);
	set->n--;
	entry_free(e);
}

void ruleset_free(struct ruleset *set)
{
	struct ruleset_entry *e, *next;

	if (!set)
		return;
	for (e = RB_MIN(rule_tree, &set->entries); e; e = next) {
		next = RB_NEXT(rule_tree, &set->entries, e);
		entry_remove(set, e);
	}
	trie_free(&set->trie);
	free(set->scratch);
	free(set);
}

/* ---- adding ---- */

/* What all rules of one text share. */
struct shared {
	struct str *project, *file, *by;
};

static void shared_free(struct shared *s)
{
	str_unref(s->project);
	str_unref(s->file);
	str_unref(s->by);
}

static struct str *copy(struct bytes text, bool *failed)
{
	struct str *s = text.data ? str_new(text.data, text.len) : NULL;

	*failed |= text.data && !s;
	return s;
}

static int shared_init(struct shared *s, const struct rule_origin *origin)
{
	bool failed = false;

	*s = (struct shared){
		.project = copy(origin->project, &failed),
		.file = copy(origin->file, &failed),
		.by = copy(origin->by, &failed),
	};
	if (!failed)
		return 0;
	shared_free(s);
	return -ENOMEM;
}

/* Takes the rule, in any case. */
static struct ruleset_entry *entry_new(struct ruleset *set, const struct rule_origin *origin,
	const struct shared *shared, struct rule *rule)
{
	struct ruleset_entry *e = calloc(1, sizeof(*e));

	if (!e) {
		rule_free(rule);
		return NULL;
	}
	e->pub = (struct rule_entry){
		.rule = rule,
		.number = ++set->numbers,
		.scope = (uint8_t)origin->scope,
		.inert = origin->tighten_only && rule->verdict == VERDICT_ALLOW,
		.uid = origin->uid,
		.owner = origin->owner,
		.project = str_ref(shared->project),
		.file = str_ref(shared->file),
		.by = str_ref(shared->by),
		.made = origin->made,
		.expires = origin->expires,
	};
	return e;
}

/* Takes the entry, in any case. */
static int entry_insert(struct ruleset *set, struct ruleset_entry *e)
{
	if (index_add(set, e) < 0) {
		entry_free(e);
		return -ENOMEM;
	}
	RB_INSERT(rule_tree, &set->entries, e);
	if (e->pub.id != 0)
		RB_INSERT(id_tree, &set->ids, e);
	set->n++;
	return 0;
}

/* ---- files ---- */

static bool same_text(const struct rule *a, const struct rule *b)
{
	return a->verdict == b->verdict && a->spec == b->spec &&
	       bytes_equal(a->name, b->name) && bytes_equal(a->text, b->text);
}

static bool from_file(const struct rule_entry *e, const struct rule_origin *origin)
{
	return e->id == 0 && e->file && e->scope == origin->scope && e->uid == origin->uid &&
	       str_equal(e->file, origin->file) &&
	       bytes_equal(str_bytes(e->project), origin->project);
}

/* The rules of the file up to a number, which are those of before. */
static void unload(struct ruleset *set, const struct rule_origin *origin, uint64_t last)
{
	struct ruleset_entry *e, *next;

	for (e = RB_MIN(rule_tree, &set->entries); e; e = next) {
		next = RB_NEXT(rule_tree, &set->entries, e);
		if (e->pub.number <= last && from_file(&e->pub, origin))
			entry_remove(set, e);
	}
}

/* The rules of a text, before they are in the set. */
struct loading {
	struct ruleset_entry **entries;
	size_t n, size;
	struct rule_problem *problems;
	size_t room, n_problems;
};

static int loading_push(struct loading *l, struct ruleset_entry *e)
{
	if (l->n == l->size) {
		const size_t size = l->size ? l->size * 2 : 64;
		struct ruleset_entry **p = reallocarray(l->entries, size, sizeof(e));

		if (!p) {
			entry_free(e);
			return -ENOMEM;
		}
		l->entries = p;
		l->size = size;
	}
	l->entries[l->n++] = e;
	return 0;
}

static int load_lines(struct ruleset *set, const struct rule_origin *origin,
	const struct shared *shared, struct bytes text, struct loading *l)
{
	const char *p = text.data;
	const char *const end = p + text.len;

	for (uint32_t number = 1; p < end; number++) {
		const char *const eol = memchr(p, '\n', (size_t)(end - p));
		const struct bytes line = {p, (size_t)((eol ? eol : end) - p)};
		struct ruleset_entry *e;
		struct rule *rule;
		enum rule_error error;
		size_t column;
		const int how = rule_parse(line, &rule, &error, &column);

		p += line.len + (eol != NULL);
		if (how < 0)
			return how;
		if (how == RULE_BAD) {
			if (l->n_problems < l->room)
				l->problems[l->n_problems] =
					(struct rule_problem){number, (uint32_t)column, error};
			l->n_problems++;
		}
		if (how != RULE_PARSED)
			continue;
		e = entry_new(set, origin, shared, rule);
		if (!e)
			return -ENOMEM;
		e->pub.line = number;
		if (loading_push(l, e) < 0)
			return -ENOMEM;
		if (l->n > LIMIT_RULES)
			return -ENOSPC;
	}
	return 0;
}

static int by_text(const void *left, const void *right)
{
	const struct rule *const a = (*(struct ruleset_entry *const *)left)->pub.rule;
	const struct rule *const b = (*(struct ruleset_entry *const *)right)->pub.rule;

	return bytes_compare(a->text, b->text);
}

/* The counts of the lines that were there before. */
static void keep_counts(
	struct ruleset *set, const struct rule_origin *origin, struct loading *l, uint64_t last)
{
	struct ruleset_entry *e;

	if (l->n == 0)
		return;
	qsort(l->entries, l->n, sizeof(*l->entries), by_text);
	RB_FOREACH (e, rule_tree, &set->entries) {
		size_t low = 0, high = l->n;

		if (e->pub.matches == 0 || e->pub.number > last || !from_file(&e->pub, origin))
			continue;
		while (low < high) {
			const size_t middle = low + (high - low) / 2;

			if (by_text(&l->entries[middle], &e) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < l->n && by_text(&l->entries[low], &e) == 0; low++) {
			if (!same_text(l->entries[low]->pub.rule, e->pub.rule))
				continue;
			l->entries[low]->pub.matches = e->pub.matches;
			l->entries[low]->pub.matched_at = e->pub.matched_at;
			break;
		}
	}
}

/* All or nothing; what could not be put in is freed. */
static int insert_all(struct ruleset *set, struct loading *l)
{
	size_t done;
	int err = 0;

	for (done = 0; done < l->n && err == 0; done++) {
		err = entry_insert(set, l->entries[done]);
		if (err < 0)
			break;
	}
	if (err == 0) {
		l->n = 0;
		return 0;
	}
	for (size_t i = 0; i < done; i++)
		entry_remove(set, l->entries[i]);
	memmove(l->entries, l->entries + done + 1, (l->n - done - 1) * sizeof(*l->entries));
	l->n -= done + 1;
	return err;
}

int ruleset_load(struct ruleset *set, const struct rule_origin *origin, struct bytes text,
	struct rule_problem *problems, size_t room, size_t *n)
{
	struct loading l = {.problems = problems, .room = room};
	const uint64_t last = set->numbers;
	struct shared shared;
	int err;

	*n = 0;
	if (text.len > LIMIT_RULE_FILE)
		return -EFBIG;
	err = shared_init(&shared, origin);
	if (err < 0)
		return err;
	err = load_lines(set, origin, &shared, text, &l);
	*n = l.n_problems;
	if (err == 0 && l.n_problems > 0)
		err = 1;
	if (err == 0 && set->n + l.n > LIMIT_RULES) {
		size_t stays = 0;
		struct ruleset_entry *e;

		RB_FOREACH (e, rule_tree, &set->entries)
			stays += !from_file(&e->pub, origin);
		if (stays + l.n > LIMIT_RULES)
			err = -ENOSPC;
	}
	if (err == 0) {
		keep_counts(set, origin, &l, last);
		err = insert_all(set, &l);
	}
	if (err == 0)
		unload(set, origin, last);
	for (size_t i = 0; i < l.n; i++)
		entry_free(l.entries[i]);
	free(l.entries);
	shared_free(&shared);
	return err;
}

void ruleset_unload(struct ruleset *set, const struct rule_origin *origin)
{
	unload(set, origin, set->numbers);
}

/* ---- standing rules ---- */

/* The trees are not changed by a search, but their macros take no const. */
static struct ruleset_entry *find(const struct ruleset *set, uint64_t id)
{
	struct ruleset_entry key = {.pub.id = id};

	return id ? RB_FIND(id_tree, (struct id_tree *)(uintptr_t)&set->ids, &key) : NULL;
}

int ruleset_add(struct ruleset *set, const struct rule_origin *origin, uint64_t id,
	struct bytes line, struct rule_problem *problem)
{
	struct shared shared;
	struct ruleset_entry *e;
	struct rule *rule;
	size_t column;
	int how;

	*problem = (struct rule_problem){.line = 1};
	if (id == 0 || find(set, id))
		return -EEXIST;
	if (set->n >= LIMIT_RULES)
		return -ENOSPC;
	how = rule_parse(line, &rule, &problem->error, &column);
	problem->column = (uint32_t)column;
	if (how < 0)
		return how;
	if (how == RULE_BLANK)
		problem->error = RULE_ERROR_VERDICT;
	if (how != RULE_PARSED)
		return 1;
	if (shared_init(&shared, origin) < 0) {
		rule_free(rule);
		return -ENOMEM;
	}
	e = entry_new(set, origin, &shared, rule);
	shared_free(&shared);
	if (!e)
		return -ENOMEM;
	e->pub.id = id;
	return entry_insert(set, e);
}

bool ruleset_remove(struct ruleset *set, uint64_t id)
{
	struct ruleset_entry *const e = find(set, id);

	if (e)
		entry_remove(set, e);
	return e != NULL;
}

const struct rule_entry *ruleset_find(const struct ruleset *set, uint64_t id)
{
	const struct ruleset_entry *const e = find(set, id);

	return e ? &e->pub : NULL;
}

size_t ruleset_drop_owner(struct ruleset *set, const struct uuid *owner)
{
	struct ruleset_entry *e, *next;
	size_t n = 0;

	for (e = RB_MIN(rule_tree, &set->entries); e; e = next) {
		next = RB_NEXT(rule_tree, &set->entries, e);
		if (e->pub.scope < RULE_SESSION || uuid_compare(&e->pub.owner, owner) != 0)
			continue;
		entry_remove(set, e);
		n++;
	}
	return n;
}

const struct rule_entry *ruleset_expired(const struct ruleset *set, int64_t now)
{
	struct ruleset_entry *e;

	RB_FOREACH (e, rule_tree, (struct rule_tree *)(uintptr_t)&set->entries)
		if (e->pub.id != 0 && e->pub.expires != 0 && e->pub.expires <= now)
			return &e->pub;
	return NULL;
}

const struct rule_entry *ruleset_next(const struct ruleset *set, const struct rule_entry *prev)
{
	struct ruleset_entry *e;

	if (!prev)
		e = RB_MIN(rule_tree, (struct rule_tree *)(uintptr_t)&set->entries);
	else
		e = RB_NEXT(rule_tree, &set->entries,
			(struct ruleset_entry *)((uintptr_t)prev -
						 offsetof(struct ruleset_entry, pub)));
	return e ? &e->pub : NULL;
}

size_t ruleset_count(const struct ruleset *set)
{
	return set->n;
}

void ruleset_hit(struct ruleset *set, const struct rule_entry *entry, int64_t now)
{
	ruleset_set_matches(set, entry, entry->matches + 1, now);
}

void ruleset_set_matches(
	struct ruleset *set, const struct rule_entry *entry, uint64_t matches, int64_t at)
{
	struct rule_entry *const e = (struct rule_entry *)(uintptr_t)entry;

	(void)set;
	e->matches = matches;
	e->matched_at = at;
}
