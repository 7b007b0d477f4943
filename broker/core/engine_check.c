/* SPDX-License-Identifier: MIT */
/* The checks of a session that were answered ask, so that the request which follows finds its
 * id. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An entry: 16 bytes of hash, 2 of length, the tool_call_id. */
#define CHECK_HEAD 18u

static size_t check_size(const struct str *list, size_t at)
{
	return CHECK_HEAD +
	       ((size_t)(uint8_t)list->data[at + 16] << 8 | (uint8_t)list->data[at + 17]);
}

int session_remember(struct engine *e, struct request *q)
{
	struct session *s = request_session(q);
	const struct str *old = s->s.checks;
	size_t call = q->call_len, skip = 0, n = 0, len = old ? old->len : 0;
	char buf[LIMIT_RECENT_CHECKS * (CHECK_HEAD + LIMIT_NAME)];
	struct str *fresh;

	for (size_t at = 0; at < len; at += check_size(old, at))
		n++;
	if (n >= LIMIT_RECENT_CHECKS)
		skip = check_size(old, 0);
	if (len > skip)
		memcpy(buf, old->data + skip, len - skip);
	len -= skip;
	if (call > LIMIT_NAME || len + CHECK_HEAD + call > sizeof(buf))
		return 0;
	memcpy(buf + len, q->s.input_hash, 16);
	buf[len + 16] = (char)(call >> 8);
	buf[len + 17] = (char)(call & 0xff);
	memcpy(buf + len + CHECK_HEAD, q->call, call);
	fresh = str_new(buf, len + CHECK_HEAD + call);
	if (!fresh)
		return -ENOMEM;
	if (entity_touch(&e->r, s) < 0) {
		str_unref(fresh);
		return -ENOMEM;
	}
	return entity_set_str(&e->r, s, &s->s.checks, fresh);
}

int check_take(struct engine *e, struct session *s, const uint8_t hash[16], struct bytes call,
	struct bytes *found)
{
	struct str *old = s->s.checks, *fresh;
	size_t hit = SIZE_MAX, size;
	char *buf;

	*found = (struct bytes){NULL, 0};
	for (size_t at = 0; old && at < old->len; at += check_size(old, at)) {
		struct bytes id = {
			old->data + at + CHECK_HEAD, check_size(old, at) - CHECK_HEAD};

		if (call.data ? bytes_equal(id, call) : memcmp(old->data + at, hash, 16) == 0)
			hit = at;
	}
	if (hit == SIZE_MAX)
		return 0;
	size = check_size(old, hit);
	TRY(effect_keep(e, old)); /* *found points into it */
	*found = (struct bytes){old->data + hit + CHECK_HEAD, size - CHECK_HEAD};
	buf = malloc(old->len);
	if (!buf)
		return -ENOMEM;
	memcpy(buf, old->data, hit);
	memcpy(buf + hit, old->data + hit + size, old->len - hit - size);
	fresh = str_new(buf, old->len - size);
	free(buf);
	if (!fresh)
		return -ENOMEM;
	if (entity_touch(&e->r, s) < 0) {
		str_unref(fresh);
		return -ENOMEM;
	}
	return entity_set_str(&e->r, s, &s->s.checks, fresh);
}

/* ---- late outcomes ---- */

struct late {
	uint64_t call; /* hash of the tool_call_id */
	uint8_t input[8];
};
#define LATE_MAX 64u

static uint64_t name_hash(struct bytes name)
{
	const uint8_t *p = name.data;
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < name.len; i++)
		h = (h ^ p[i]) * 1099511628211u;
	return h;
}

int turn_note_late(struct engine *e, struct turn *t)
{
	struct session *s = t->s.session;
	struct late list[2 * LATE_MAX];
	const struct request *q;
	size_t old = 0, n;
	struct str *fresh;

	if (s->s.late) {
		old = s->s.late->len / sizeof(list[0]);
		memcpy(list, s->s.late->data, old * sizeof(list[0]));
	}
	n = old;
	TAILQ_FOREACH (q, &t->requests, in_turn) {
		if (q->s.r.state != REQUEST_UNKNOWN)
			continue;
		if (n == 2 * LATE_MAX) {
			memcpy(list, list + LATE_MAX, LATE_MAX * sizeof(list[0]));
			n = LATE_MAX;
			old = 0;
		}
		list[n].call = name_hash(request_call(q));
		memcpy(list[n++].input, request_run_hash(q), sizeof(list[0].input));
	}
	if (n == old)
		return 0;
	old = n > LATE_MAX ? n - LATE_MAX : 0;
	TRY(entity_touch(&e->r, s));
	fresh = str_new(list + old, (n - old) * sizeof(list[0]));
	if (!fresh)
		return -ENOMEM;
	return entity_set_str(&e->r, s, &s->s.late, fresh);
}

bool outcome_is_late(const struct session *s, const struct command_about *a)
{
	size_t n = s->s.late ? s->s.late->len / sizeof(struct late) : 0;
	uint64_t call = name_hash(a->call);
	struct late l;

	if (!uuid_is_nil(&a->request))
		return false;
	for (size_t i = 0; i < n; i++) {
		memcpy(&l, s->s.late->data + i * sizeof(l), sizeof(l));
		if (a->call.data ? l.call == call
				 : a->has_input &&
					   memcmp(l.input, a->input_hash, sizeof(l.input)) == 0)
			return true;
	}
	return false;
}
