/* SPDX-License-Identifier: MIT */
/* The words of a section's head: KEY=VALUE[,VALUE]… and KEY!=VALUE[,VALUE]…. */
#include "config.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/policy/policy.h"

static const char *const key_names[MATCH_N] = {
	[MATCH_AGENT] = "agent",
	[MATCH_TITLE] = "title",
	[MATCH_SESSION] = "session",
	[MATCH_PROJECT] = "project",
	[MATCH_MODE] = "mode",
	[MATCH_UID] = "uid",
	[MATCH_TIME] = "time",
	[MATCH_DAY] = "day",
};

static const char *const day_names[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
#define DAYS 7u

void subject_time(struct subject *s, const struct tm *tm)
{
	s->minute = (unsigned)tm->tm_hour * 60 + (unsigned)tm->tm_min;
	s->day = ((unsigned)tm->tm_wday + DAYS - 1) % DAYS;
}

void matcher_free(struct matcher *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->values[i].pattern);
	free(m->values);
	*m = (struct matcher){.n = 0};
}

/* ---- values ---- */

static bool number_take(const char **s, size_t digits, uint32_t max, uint32_t *out)
{
	uint64_t n = 0;
	size_t len = 0;

	for (; isdigit((unsigned char)**s) && len < digits; len++)
		n = n * 10 + (uint64_t)(*(*s)++ - '0');
	*out = (uint32_t)n;
	return len > 0 && n <= max && !isdigit((unsigned char)**s);
}

static const char *uid_parse(const char *s, struct matcher_value *v)
{
	/* the largest is no user */
	if (!number_take(&s, 10, UINT32_MAX - 1, &v->from))
		return "no number of a user";
	v->to = v->from;
	if (*s == '-') {
		s++;
		if (!number_take(&s, 10, UINT32_MAX - 1, &v->to) || v->to < v->from)
			return "no range of users";
	}
	return *s ? "write a number or a range, as 1000-1999" : NULL;
}

static bool clock_take(const char **s, uint32_t *minute)
{
	uint32_t hour, rest;

	if (!number_take(s, 2, 24, &hour) || *(*s)++ != ':')
		return false;
	if (!isdigit((unsigned char)(*s)[0]) || !isdigit((unsigned char)(*s)[1]) ||
		!number_take(s, 2, 59, &rest))
		return false;
	*minute = hour * 60 + rest;
	return *minute <= 24 * 60;
}

static const char *time_parse_range(const char *s, struct matcher_value *v)
{
	static const char wrong[] = "write a time as 08:00-18:00";

	if (!clock_take(&s, &v->from) || *s++ != '-' || !clock_take(&s, &v->to) || *s)
		return wrong;
	if (v->from == v->to || v->from == 24 * 60)
		return "there is no time between these";
	return NULL;
}

static bool day_take(const char **s, uint32_t *day)
{
	for (uint32_t i = 0; i < DAYS; i++)
		if (strncmp(*s, day_names[i], 3) == 0) {
			*s += 3;
			*day = i;
			return true;
		}
	return false;
}

static const char *day_parse(const char *s, struct matcher_value *v)
{
	bool ok = day_take(&s, &v->from);

	v->to = v->from;
	if (ok && *s == '-') {
		s++;
		ok = day_take(&s, &v->to);
	}
	return ok && !*s ? NULL : "write mon, tue, wed, thu, fri, sat, sun, or mon-fri";
}

static const char *mode_check(const char *s)
{
	static const char *const modes[] = {"plan", "normal", "auto-edit", "yolo"};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(s, modes[i]) == 0)
			return NULL;
	return "modes are plan, normal, auto-edit and yolo";
}

static const char *value_parse(struct matcher *m, struct matcher_value *v)
{
	if (!*v->pattern)
		return "a value is missing";
	switch (m->key) {
	case MATCH_UID: return uid_parse(v->pattern, v);
	case MATCH_TIME: return time_parse_range(v->pattern, v);
	case MATCH_DAY: return day_parse(v->pattern, v);
	case MATCH_MODE: return mode_check(v->pattern);
	default: return NULL;
	}
}

/* The value at *at, unquoted, up to the comma behind it or the end. */
static const char *value_take(struct bytes word, size_t *at, char *out)
{
	const char *const s = word.data;
	bool quoted = false;
	size_t n = 0;

	for (; *at < word.len && (quoted || s[*at] != ','); (*at)++) {
		if (s[*at] == '"') {
			quoted = !quoted;
			continue;
		}
		if (quoted && s[*at] == '\\' && *at + 1 < word.len && s[*at + 1] == '"')
			(*at)++;
		out[n++] = s[*at];
	}
	out[n] = '\0';
	return quoted ? "a quotation mark is not closed" : NULL;
}

static const char *values_parse(struct bytes word, size_t at, struct matcher *m, size_t *column)
{
	const char *wrong = NULL;

	m->values = calloc(POLICY_VALUES, sizeof(*m->values));
	if (!m->values)
		return "out of memory";
	do {
		struct matcher_value *const v = &m->values[m->n];

		*column = at + 1;
		if (m->n == POLICY_VALUES)
			return "there are too many values";
		v->pattern = malloc(word.len + 1);
		if (!v->pattern)
			return "out of memory";
		m->n++;
		wrong = value_take(word, &at, v->pattern);
		if (!wrong)
			wrong = value_parse(m, v);
	} while (!wrong && at++ < word.len);
	return wrong;
}

const char *matcher_parse(struct bytes word, struct matcher *out, size_t *column)
{
	const char *const s = word.data, *wrong;
	size_t n = 0;

	*out = (struct matcher){.key = MATCH_N};
	*column = 1;
	if (word.len > POLICY_WORD)
		return "the word is too long";
	while (n < word.len && s[n] >= 'a' && s[n] <= 'z')
		n++;
	for (unsigned k = 0; k < MATCH_N; k++)
		if (bytes_is((struct bytes){s, n}, key_names[k]))
			out->key = (enum matcher_key)k;
	if (out->key == MATCH_N)
		return "agent, title, session, project, mode, uid, time or day is expected";
	*column = n + 1;
	out->negated = n < word.len && s[n] == '!';
	n += out->negated;
	if (n >= word.len || s[n] != '=')
		return "= or != is expected";
	wrong = values_parse(word, n + 1, out, column);
	if (wrong)
		matcher_free(out);
	return wrong;
}

/* ---- matching ---- */

/* From a number to another, or around the end. */
static bool between(uint32_t n, uint32_t from, uint32_t to)
{
	return from <= to ? n >= from && n <= to : n >= from || n <= to;
}

static bool number_matches(const struct matcher *m, uint32_t n)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct matcher_value *const v = &m->values[i];

		/* of a time the end is not part of it */
		if (m->key == MATCH_TIME ? between(n, v->from, v->to - 1)
					 : between(n, v->from, v->to))
			return true;
	}
	return false;
}

static struct bytes text_of(enum matcher_key key, const char *pattern, const struct subject *s)
{
	switch (key) {
	case MATCH_AGENT: return s->agent;
	case MATCH_TITLE: return s->title;
	case MATCH_SESSION: return s->session;
	case MATCH_MODE: return s->mode;
	case MATCH_PROJECT: return strchr(pattern, '/') ? s->workspace : s->project;
	default: return (struct bytes){NULL, 0};
	}
}

/* 1, 0, or -1: not known. */
static int text_matches(const struct matcher *m, const struct subject *s)
{
	bool unknown = false;

	for (size_t i = 0; i < m->n; i++) {
		const char *const pattern = m->values[i].pattern;
		const struct bytes text = text_of(m->key, pattern, s);
		char *copy;
		int found;

		if (!text.data || memchr(text.data, '\0', text.len)) {
			unknown = true;
			continue;
		}
		copy = strndup(text.data, text.len);
		found = copy ? fnmatch(pattern, copy, 0) : -1;
		free(copy);
		if (found == 0)
			return 1;
		unknown |= found != FNM_NOMATCH;
	}
	return unknown ? -1 : 0;
}

bool matcher_holds(const struct matcher *m, const struct subject *s)
{
	int found;

	switch (m->key) {
	case MATCH_UID: found = s->has_uid ? number_matches(m, s->uid) : -1; break;
	case MATCH_TIME: found = number_matches(m, s->minute); break;
	case MATCH_DAY: found = number_matches(m, s->day); break;
	default: found = text_matches(m, s); break;
	}
	return found >= 0 && (found > 0) != m->negated;
}
