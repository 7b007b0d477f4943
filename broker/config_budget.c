/* SPDX-License-Identifier: MIT */
#include "broker/config_budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/config_value.h"
#include "libapproval/limits.h"

#define SECTION	  "budget"
#define WEIGHTS_N 4

bool config_budget_is(const char *section, size_t len)
{
	const size_t n = sizeof(SECTION) - 1;

	return len >= n && memcmp(section, SECTION, n) == 0 &&
	       (len == n || section[n] == ' ' || section[n] == '\t');
}

static int text_set(char **out, const char *text, size_t len)
{
	if (*out || !len || len > LIMIT_TEXT)
		return -EINVAL;
	*out = strndup(text, len);
	return *out ? 0 : -ENOMEM;
}

static int uid_set(struct budget_rule *r, const char *text, size_t len)
{
	char copy[16];
	uint32_t uid;

	if (r->uid >= 0 || len >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (config_number_parse(copy, 0, UINT32_MAX - 1, &uid) < 0)
		return -EINVAL;
	r->uid = uid;
	return 0;
}

/* A folder may have blanks in its name, and is the last. */
static int whom_parse(const char *at, size_t len, struct budget_rule *r)
{
	int err = 0;

	while (err == 0 && len) {
		size_t n = 0;

		if (*at == ' ' || *at == '\t') {
			at++;
			len--;
			continue;
		}
		if (len > 8 && memcmp(at, "project=", 8) == 0) {
			while (at[len - 1] == ' ' || at[len - 1] == '\t')
				len--;
			return at[8] == '/' ? text_set(&r->project, at + 8, len - 8) : -EINVAL;
		}
		while (n < len && at[n] != ' ' && at[n] != '\t')
			n++;
		if (n > 6 && memcmp(at, "agent=", 6) == 0)
			err = text_set(&r->agent, at + 6, n - 6);
		else if (n > 4 && memcmp(at, "uid=", 4) == 0)
			err = uid_set(r, at + 4, n - 4);
		else
			err = -EINVAL;
		at += n;
		len -= n;
	}
	return err;
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int config_budget_section(struct config *c, const char *section, size_t len)
{
	struct budget_rule r = {.uid = -1}, *rules;
	const size_t skip = sizeof(SECTION) - 1;
	int err = whom_parse(section + skip, len - skip, &r);

	budget_clear(&r.turn);
	budget_clear(&r.session);
	for (c->budget = c->budget_first; err == 0 && c->budget < c->n_budgets; c->budget++) {
		const struct budget_rule *o = &c->budgets[c->budget];

		if (same(o->agent, r.agent) && same(o->project, r.project) && o->uid == r.uid)
			goto out; /* it goes on */
	}
	if (err == 0 && c->n_budgets == LIMIT_BUDGETS)
		err = -ENOSPC;
	if (err == 0) {
		rules = reallocarray(c->budgets, c->n_budgets + 1, sizeof(*rules));
		err = rules ? 0 : -ENOMEM;
	}
	if (err == 0) {
		c->budgets = rules;
		c->budgets[c->n_budgets++] = r;
		return 0;
	}
out:
	free(r.agent);
	free(r.project);
	return err;
}

/* Digits, with k, M or G for thousands of them. */
static int amount_parse(const char *text, int64_t *out)
{
	static const char units[] = "kMG";
	int64_t v = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		v = v * 10 + (*text - '0');
		if (v > (int64_t)BUDGET_AMOUNT_MOST)
			return -EINVAL;
	}
	if (*text) {
		const char *unit = strchr(units, *text);

		if (!unit || text[1])
			return -EINVAL;
		for (ptrdiff_t i = unit - units; i >= 0; i--)
			v *= 1000;
	}
	if (v > (int64_t)BUDGET_AMOUNT_MOST)
		return -EINVAL;
	*out = v;
	return 0;
}

static int time_parse(const char *text, int64_t *out)
{
	if (strcmp(text, "0") != 0)
		return config_duration_parse(text, out);
	*out = 0;
	return 0;
}

/* A number with at most so many digits behind the point, in units of the last. */
static int decimal_parse(const char *text, unsigned digits, int64_t *out)
{
	int64_t v = 0;
	bool point = false;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text; text++) {
		if (*text == '.' && !point && text[1]) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || (point && !digits))
			return -EINVAL;
		v = v * 10 + (*text - '0');
		digits -= point;
		if (v > (int64_t)BUDGET_AMOUNT_MOST)
			return -EINVAL;
	}
	for (; digits; digits--)
		v *= 10;
	*out = v;
	return v > (int64_t)BUDGET_AMOUNT_MOST ? -EINVAL : 0;
}

static int ceiling_parse(
	enum budget_kind kind, const char *value, int64_t *out, const char **expected)
{
	switch (kind) {
	case BUDGET_TIME:
	case BUDGET_WALL:
		*expected = "0, or a duration: 30s, 10m, 2h, 7d";
		return time_parse(value, out);
	case BUDGET_COST:
		*expected = "dollars: 0, 5, 0.25";
		return decimal_parse(value, 6, out);
	case BUDGET_TOKENS:
	case BUDGET_CALLS:
	case BUDGET_N: break;
	}
	*expected = "a number: 0, 500, 200k, 2M";
	return amount_parse(value, out);
}

static int weight_set(
	struct config *c, const char *name, const char *value, const char **expected)
{
	static const char *const names[WEIGHTS_N] = {
		"weight-input", "weight-output", "weight-cache-read", "weight-cache-write"};
	uint32_t *const weights[WEIGHTS_N] = {&c->weights.input, &c->weights.output,
		&c->weights.cache_read, &c->weights.cache_write};
	const struct budget_rule *r = &c->budgets[c->budget];
	int64_t v;

	for (int i = 0; i < WEIGHTS_N; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*expected = "a number from 0 to 1000, in [budget] alone: 1, 0.1";
		if (r->agent || r->project || r->uid >= 0 || decimal_parse(value, 3, &v) < 0 ||
			v > BUDGET_WEIGHT_MOST)
			return -EINVAL;
		if (c->weights_seen & 1u << i)
			return -EEXIST;
		c->weights_seen |= (uint8_t)(1u << i);
		*weights[i] = (uint32_t)v;
		return 0;
	}
	return -ENOENT;
}

int config_budget_key(
	struct config *c, const char *name, const char *value, const char **expected)
{
	static const char session[] = "session-";
	struct budget_rule *r = &c->budgets[c->budget];
	struct budget_amounts *a = &r->turn;
	const char *kind = name;

	if (strncmp(name, session, sizeof(session) - 1) == 0) {
		a = &r->session;
		kind += sizeof(session) - 1;
	}
	for (int k = 0; k < BUDGET_N; k++)
		if (strcmp(kind, budget_kind_name((enum budget_kind)k)) == 0) {
			if (a->of[k] >= 0)
				return -EEXIST;
			return ceiling_parse((enum budget_kind)k, value, &a->of[k], expected);
		}
	return weight_set(c, name, value, expected);
}

void config_budget_file(struct config *c)
{
	c->budget_first = c->n_budgets;
	c->weights_seen = 0;
}

void config_budget_release(struct config *c)
{
	for (size_t i = 0; i < c->n_budgets; i++) {
		free(c->budgets[i].agent);
		free(c->budgets[i].project);
	}
	free(c->budgets);
}
