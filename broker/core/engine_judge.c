/* SPDX-License-Identifier: MIT */
/* Requests in the eyes of the pipeline, and what it found of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/engine_private.h"
#include "broker/core/pipeline.h"

void judge_request(struct engine *e, const struct request *q, struct pipeline_call *out)
{
	const struct request_data *const r = &q->s.r;
	const struct session *const s = request_session(q);

	*out = (struct pipeline_call){
		.session = s,
		.turn = q->s.turn,
		.type = r->type,
		.mode = session_mode(s),
		.mutating = r->mutating,
		.denials = denials_count(q->s.turn->s.denials, q->s.signature),
		.repeat_limit = e->config.repeat_limit,
		.judge = e->judge,
		.call =
			{
				.tool = str_bytes(r->tool),
				.command = str_bytes(r->command),
				.url = str_bytes(r->url),
				.kind = r->kind,
				.facts = q->s.facts,
				.paths = r->paths,
				.n_paths = r->n_paths,
				.n_operands = r->n_operands,
				.cwd = str_bytes(r->cwd),
				.workspace = str_bytes(s->s.r.workspace),
				.home = str_bytes(s->owner->home),
				.uid = s->s.r.uid,
				.session = s->s.r.id,
				.turn = q->s.turn->s.r.id,
				.now = e->now.wall,
			},
	};
}

/* ---- why: a text of five parts, of which the last may hold anything ---- */

static size_t part(char *to, struct bytes text)
{
	if (text.len)
		memcpy(to, text.data, text.len);
	to[text.len] = '\0';
	return text.len + 1;
}

static struct str *why_make(struct bytes rule, uint64_t id, const struct floor_hit *hit)
{
	const struct bytes name = bytes_of(hit->name), about = bytes_of(hit->about);
	const struct bytes what = {
		hit->what.data, hit->what.len < WHY_WHAT_MAX ? hit->what.len : WHY_WHAT_MAX};
	char number[24] = "";
	const int digits =
		id ? snprintf(number, sizeof(number), "%llu", (unsigned long long)id) : 0;
	char *const text = malloc(
		rule.len + (size_t)digits + name.len + about.len + what.len + 5);
	struct str *s;
	size_t n;

	if (!text)
		return NULL;
	n = part(text, rule);
	n += part(text + n, bytes_of(number));
	n += part(text + n, name);
	n += part(text + n, about);
	n += part(text + n, what);
	s = str_new(text, n - 1);
	free(text);
	return s;
}

static struct bytes next_part(const char **at, const char *end, bool last)
{
	const char *const start = *at;
	const char *const nul = last ? NULL : memchr(start, '\0', (size_t)(end - start));
	const char *const stop = nul ? nul : end;

	*at = nul ? nul + 1 : end;
	return (struct bytes){start < stop ? start : NULL, (size_t)(stop - start)};
}

void why_read(const struct str *why, struct why *out)
{
	const char *at, *end;
	struct bytes number;

	*out = (struct why){.rule_id = 0};
	if (!why)
		return;
	at = why->data;
	end = at + why->len;
	out->rule = next_part(&at, end, false);
	number = next_part(&at, end, false);
	for (size_t i = 0; i < number.len; i++)
		out->rule_id = out->rule_id * 10 +
			       (uint64_t)(((const char *)number.data)[i] - '0');
	out->floor = next_part(&at, end, false);
	out->about = next_part(&at, end, false);
	out->what = next_part(&at, end, true);
}

int request_note_why(struct engine *e, struct request *q, const struct pipeline_result *r)
{
	struct str *why = NULL;

	if (r->rule.rule) {
		size_t len;
		char *const text = rule_text(r->rule.rule->rule, &len);

		if (!text)
			return -ENOMEM;
		why = why_make((struct bytes){text, len}, r->rule.rule->id, &r->floor);
		free(text);
	} else if (r->floor.name) {
		why = why_make((struct bytes){NULL, 0}, 0, &r->floor);
	} else {
		return entity_set_str(&e->r, q, &q->s.r.why, NULL);
	}
	return why ? entity_set_str(&e->r, q, &q->s.r.why, why) : -ENOMEM;
}

void rule_count(struct engine *e, const struct pipeline_result *r)
{
	if (!r->rule.rule)
		return;
	ruleset_hit(e->judge->rules, r->rule.rule, e->now.wall);
	for (uint32_t i = 0; i < r->rule.n_others; i++)
		ruleset_hit(e->judge->rules, r->rule.others[i], e->now.wall);
}

struct bytes rule_reason(struct bytes rule, char out[LIMIT_TEXT])
{
	size_t n = LIMIT_TEXT - 32;

	if (rule.len <= LIMIT_TEXT)
		return rule;
	/* not within a character */
	while (n > 0 && (((const unsigned char *)rule.data)[n] & 0xc0) == 0x80)
		n--;
	memcpy(out, rule.data, n);
	return (struct bytes){
		out, n + (size_t)snprintf(out + n, 32, "[+%zu bytes]", rule.len - n)};
}
