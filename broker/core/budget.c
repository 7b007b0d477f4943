/* SPDX-License-Identifier: MIT */
#include "broker/core/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KIND_TEXT(prefix, name, text) [prefix##_##name] = text,

static const char *const kind_names[BUDGET_N] = {BUDGET_LIST(KIND_TEXT, BUDGET)};

const char *budget_kind_name(enum budget_kind kind)
{
	return (unsigned)kind < BUDGET_N ? kind_names[kind] : "?";
}

int64_t budget_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? BUDGET_MOST : sum;
}

void budget_clear(struct budget_amounts *a)
{
	for (int k = 0; k < BUDGET_N; k++)
		a->of[k] = BUDGET_NONE;
}

bool budget_is_clear(const struct budget_amounts *a)
{
	for (int k = 0; k < BUDGET_N; k++)
		if (a->of[k] != BUDGET_NONE)
			return false;
	return true;
}

void budget_lower(struct budget_amounts *a, const struct budget_amounts *by)
{
	for (int k = 0; k < BUDGET_N; k++)
		if (by->of[k] >= 0 && (a->of[k] < 0 || by->of[k] < a->of[k]))
			a->of[k] = by->of[k];
}

void budget_fill(struct budget_amounts *a, const struct budget_amounts *from, int64_t n)
{
	for (int k = 0; k < BUDGET_N; k++)
		if (a->of[k] < 0 && from->of[k] >= 0 &&
			__builtin_mul_overflow(from->of[k], n, &a->of[k]))
			a->of[k] = BUDGET_MOST;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t s;

	return __builtin_add_overflow(a, b, &s) ? UINT64_MAX : s;
}

static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t p;

	return __builtin_mul_overflow(a, b, &p) ? UINT64_MAX : p;
}

int64_t budget_tokens(const struct usage *u, const struct budget_weights *w)
{
	/* whole tokens and the rest by themselves: what fits comes out exact */
	const uint64_t counts[] = {u->input, u->output, u->cache_read, u->cache_write};
	const uint64_t weights[] = {w->input, w->output, w->cache_read, w->cache_write};
	uint64_t whole = 0, rest = 0;

	for (int i = 0; i < 4; i++) {
		whole = sum(whole, product(counts[i] / 1000, weights[i]));
		rest += counts[i] % 1000 * weights[i];
	}
	whole = sum(whole, (rest + 999) / 1000);
	return whole > BUDGET_MOST ? BUDGET_MOST : (int64_t)whole;
}

void usage_add(struct usage *u, const struct usage *more)
{
	u->input = sum(u->input, more->input);
	u->output = sum(u->output, more->output);
	u->cache_read = sum(u->cache_read, more->cache_read);
	u->cache_write = sum(u->cache_write, more->cache_write);
	u->cost_microusd = sum(u->cost_microusd, more->cost_microusd);
}

static void raise_one(uint64_t *u, uint64_t report, uint64_t *more)
{
	*more = report > *u ? report - *u : 0;
	*u += *more;
}

void usage_raise(struct usage *u, const struct usage *report, struct usage *more)
{
	raise_one(&u->input, report->input, &more->input);
	raise_one(&u->output, report->output, &more->output);
	raise_one(&u->cache_read, report->cache_read, &more->cache_read);
	raise_one(&u->cache_write, report->cache_write, &more->cache_write);
	raise_one(&u->cost_microusd, report->cost_microusd, &more->cost_microusd);
}

bool budget_reached(enum budget_kind kind, int64_t used, int64_t ceiling)
{
	if (ceiling < 0)
		return false;
	return kind == BUDGET_CALLS ? used > ceiling : used >= ceiling;
}

int budget_first(const struct budget_amounts *used, const struct budget_amounts *ceiling)
{
	for (int k = 0; k < BUDGET_N; k++)
		if (budget_reached((enum budget_kind)k, used->of[k], ceiling->of[k]))
			return k;
	return -1;
}

/* The least amount that is at least 80 % of it. */
static int64_t warn_at(int64_t ceiling)
{
	return ceiling - ceiling / 5;
}

uint8_t budget_near(const struct budget_amounts *used, const struct budget_amounts *ceiling)
{
	uint8_t bits = 0;

	for (int k = 0; k < BUDGET_N; k++)
		if (ceiling->of[k] > 0 && used->of[k] >= warn_at(ceiling->of[k]))
			bits |= (uint8_t)(1u << k);
	return bits;
}

int64_t budget_left(int64_t used, int64_t ceiling, bool warn)
{
	int64_t at = ceiling;

	if (ceiling < 0)
		return -1;
	if (warn && used < warn_at(ceiling))
		at = warn_at(ceiling);
	return at > used ? at - used : 1;
}

int64_t budget_raised(int64_t ceiling, int64_t by)
{
	return ceiling < 0 || by < 0 ? ceiling : budget_add(ceiling, by);
}

/* Is the workspace the project's folder, or below it? */
static bool project_has(const char *project, struct bytes workspace)
{
	size_t n = strlen(project);

	while (n > 1 && project[n - 1] == '/')
		n--;
	if (workspace.len < n || memcmp(workspace.data, project, n) != 0)
		return false;
	return workspace.len == n || n == 1 || ((const char *)workspace.data)[n] == '/';
}

void budget_find(const struct budget_rule *rules, size_t n, struct bytes agent,
	struct bytes workspace, uint32_t uid, int64_t wall, struct budget_amounts *turn,
	struct budget_amounts *session)
{
	budget_clear(turn);
	budget_clear(session);
	for (size_t i = 0; i < n; i++) {
		const struct budget_rule *r = &rules[i];

		if ((r->agent && !bytes_is(agent, r->agent)) ||
			(r->project && !project_has(r->project, workspace)) ||
			(r->uid >= 0 && r->uid != uid))
			continue;
		budget_lower(turn, &r->turn);
		budget_lower(session, &r->session);
	}
	if (turn->of[BUDGET_WALL] < 0)
		turn->of[BUDGET_WALL] = wall;
}

void budget_describe(char out[BUDGET_TEXT], const char *of, enum budget_kind kind, int64_t used,
	int64_t ceiling)
{
	const char *unit = "", *const name = budget_kind_name(kind);

	if (kind == BUDGET_TIME || kind == BUDGET_WALL) {
		const bool small = ceiling < 10000000;

		used /= small ? 1000 : 1000000;
		ceiling /= small ? 1000 : 1000000;
		unit = small ? " ms" : " seconds";
	}
	if (kind == BUDGET_COST)
		snprintf(out, BUDGET_TEXT,
			"the %s's ceiling is reached: %s %" PRId64 ".%02d of %" PRId64 ".%02d",
			of, name, used / 1000000, (int)(used / 10000 % 100), ceiling / 1000000,
			(int)(ceiling / 10000 % 100));
	else
		snprintf(out, BUDGET_TEXT,
			"the %s's ceiling is reached: %s %" PRId64 " of %" PRId64 "%s", of,
			name, used, ceiling, unit);
}

/* ---- as the store keeps them ---- */

#define TURN_VALUES    (2 * BUDGET_N + 6)
#define SESSION_VALUES (3 * BUDGET_N + 4)

static void put(uint8_t **at, int64_t v)
{
	uint64_t be = htobe64((uint64_t)v);

	memcpy(*at, &be, sizeof(be));
	*at += sizeof(be);
}

static int64_t get(const uint8_t **at)
{
	uint64_t be;

	memcpy(&be, *at, sizeof(be));
	*at += sizeof(be);
	return (int64_t)be64toh(be);
}

static void put_amounts(uint8_t **at, const struct budget_amounts *a)
{
	for (int k = 0; k < BUDGET_N; k++)
		put(at, a->of[k]);
}

static void put_usage(uint8_t **at, const struct usage *u)
{
	put(at, (int64_t)u->input);
	put(at, (int64_t)u->output);
	put(at, (int64_t)u->cache_read);
	put(at, (int64_t)u->cache_write);
	put(at, (int64_t)u->cost_microusd);
}

static bool get_amounts(const uint8_t **at, struct budget_amounts *a)
{
	bool ok = true;

	for (int k = 0; k < BUDGET_N; k++) {
		a->of[k] = get(at);
		ok &= a->of[k] >= BUDGET_NONE;
	}
	return ok;
}

static void get_usage(const uint8_t **at, struct usage *u)
{
	u->input = (uint64_t)get(at);
	u->output = (uint64_t)get(at);
	u->cache_read = (uint64_t)get(at);
	u->cache_write = (uint64_t)get(at);
	u->cost_microusd = (uint64_t)get(at);
}

struct str *turn_budget_pack(const struct turn_budget *b)
{
	uint8_t bytes[8 * TURN_VALUES], *at = bytes;

	put_amounts(&at, &b->ceiling);
	put_usage(&at, &b->more);
	put(&at, b->active);
	put(&at, b->wall);
	put(&at, b->mark_wall);
	put(&at, (int64_t)b->calls);
	put(&at, b->warned);
	put(&at, b->wall_runs | b->active_runs << 1);
	return str_new(bytes, sizeof(bytes));
}

int turn_budget_unpack(const struct str *s, struct turn_budget *b)
{
	const uint8_t *at = (const uint8_t *)str_bytes(s).data;
	int64_t warned, runs;
	bool ok;

	memset(b, 0, sizeof(*b));
	if (str_bytes(s).len != 8 * TURN_VALUES)
		return -EUCLEAN;
	ok = get_amounts(&at, &b->ceiling);
	get_usage(&at, &b->more);
	b->active = get(&at);
	b->wall = get(&at);
	b->mark_wall = get(&at);
	b->calls = (uint64_t)get(&at);
	warned = get(&at);
	runs = get(&at);
	b->warned = (uint8_t)warned;
	b->wall_runs = runs & 1;
	b->active_runs = runs & 2;
	ok &= b->active >= 0 && b->wall >= 0 && (int64_t)b->calls >= 0;
	ok &= warned >= 0 && warned < 1 << BUDGET_N && runs >= 0 && runs < 4;
	return ok ? 0 : -EUCLEAN;
}

struct str *session_budget_pack(const struct session_budget *b)
{
	uint8_t bytes[8 * SESSION_VALUES], *at = bytes;

	put_amounts(&at, &b->ceiling);
	put_amounts(&at, &b->asked);
	put_usage(&at, &b->usage);
	put(&at, b->active);
	put(&at, b->wall);
	put(&at, (int64_t)b->calls);
	put(&at, b->warned);
	return str_new(bytes, sizeof(bytes));
}

int session_budget_unpack(const struct str *s, struct session_budget *b)
{
	const uint8_t *at = (const uint8_t *)str_bytes(s).data;
	int64_t warned;
	bool ok;

	memset(b, 0, sizeof(*b));
	if (str_bytes(s).len != 8 * SESSION_VALUES)
		return -EUCLEAN;
	ok = get_amounts(&at, &b->ceiling);
	ok &= get_amounts(&at, &b->asked);
	get_usage(&at, &b->usage);
	b->active = get(&at);
	b->wall = get(&at);
	b->calls = (uint64_t)get(&at);
	warned = get(&at);
	b->warned = (uint8_t)warned;
	ok &= b->active >= 0 && b->wall >= 0 && (int64_t)b->calls >= 0;
	ok &= warned >= 0 && warned < 1 << BUDGET_N;
	return ok ? 0 : -EUCLEAN;
}
