/* SPDX-License-Identifier: MIT */
/* What agents say of their turns: begin, end, and what was used. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

/* ---- the turn before the present one, for reports that come late ---- */

struct last_turn {
	struct uuid id;
	struct usage usage;
	uint64_t seq;
	int64_t at;   /* monotonic: its end */
	bool carried; /* the next turn goes on with its ceilings */
	char key[];
};

int turn_note_last(struct engine *e, struct turn *t)
{
	struct session *s = t->s.session;
	const struct bytes key = str_bytes(t->s.r.key);
	const size_t size = offsetof(struct last_turn, key) + key.len;
	struct last_turn *l;
	struct str *text;

	if (!key.data)
		return 0;
	TRY(entity_touch(&e->r, s));
	l = calloc(1, sizeof(*l) + key.len);
	if (!l)
		return -ENOMEM;
	*l = (struct last_turn){.id = t->s.r.id,
		.usage = t->s.r.usage,
		.seq = t->s.r.usage_seq,
		.at = e->now.mono,
		.carried = s->s.turn && s->s.turn != t && s->s.turn->s.r.causes};
	memcpy(l->key, key.data, key.len);
	text = str_new(l, size);
	free(l);
	return text ? entity_set_str(&e->r, s, &s->s.last, text) : -ENOMEM;
}

static bool last_is(const struct engine *e, const struct session *s, struct bytes key,
	struct last_turn *out)
{
	const struct bytes b = str_bytes(s->s.last);
	const size_t at = offsetof(struct last_turn, key);
	const struct bytes named = {
		b.data ? (const char *)b.data + at : NULL, b.data ? b.len - at : 0};

	if (!b.data || !key.data || !bytes_equal(named, key))
		return false;
	memset(out, 0, sizeof(*out));
	memcpy(out, b.data, at);
	return e->now.mono - out->at <= e->config.grace;
}

static int last_save(
	struct engine *e, struct session *s, const struct last_turn *l, struct bytes key)
{
	const size_t at = offsetof(struct last_turn, key);
	struct str *text = NULL;
	char *copy;

	TRY(entity_touch(&e->r, s));
	copy = malloc(at + key.len + 1);
	if (copy) {
		memcpy(copy, l, at);
		memcpy(copy + at, key.data, key.len);
		text = str_new(copy, at + key.len);
	}
	free(copy);
	return text ? entity_set_str(&e->r, s, &s->s.last, text) : -ENOMEM;
}

/* ---- reports ---- */

static int reply_turn(struct engine *e, const struct command *c, struct turn *t)
{
	struct effect *f;

	TRY(reply_new(e, c, REPLY_TURN, &f));
	f->reply.turn = t;
	return 0;
}

static int cursor_keep(struct engine *e, struct session *s, struct bytes cursor)
{
	if (!cursor.data)
		return 0;
	TRY(entity_touch(&e->r, s));
	TRY(set_bytes(e, s, &s->s.r.cursor, cursor));
	return mark_dirty(e, s);
}

/* Of a turn; what it adds counts in those of the sessions above, too. */
static int usage_take(
	struct engine *e, struct session *s, struct turn *t, const struct command_turn *u)
{
	struct usage more;

	if (u->usage_seq <= t->s.r.usage_seq)
		return 0;
	TRY(entity_touch(&e->r, t));
	t->s.r.usage_seq = u->usage_seq;
	usage_raise(&t->s.r.usage, &u->usage, &more);
	TRY(mark_dirty(e, t));
	if (t->s.b.closed) { /* a person ended it, and the session has the rest already */
		TRY(session_usage_add(e, s, &more));
	}
	TRY(budget_charge(e, s->s.parent, &more));
	return cursor_keep(e, s, u->cursor);
}

/* A report that came after the end of its turn. */
static int usage_late(struct engine *e, const struct command *c, struct last_turn *l)
{
	const struct command_turn *u = &c->turn;
	struct session *s = c->link->s.session;
	struct turn *t = s->s.turn;
	struct usage more;
	struct effect *f;

	if (u->usage_seq > l->seq) {
		l->seq = u->usage_seq;
		usage_raise(&l->usage, &u->usage, &more);
		TRY(last_save(e, s, l, u->key));
		if (l->carried && t && !t->s.b.closed) {
			TRY(budget_charge(e, s, &more));
		} else {
			TRY(session_usage_add(e, s, &more));
			TRY(budget_charge(e, s->s.parent, &more));
		}
		TRY(cursor_keep(e, s, u->cursor));
		TRY(budget_check(e, NULL, s));
	}
	TRY(reply_new(e, c, REPLY_TURN, &f));
	f->reply.cursor = l->id;
	return 0;
}

/* ---- commands ---- */

int on_turn_begin(struct engine *e, const struct command *c)
{
	struct session *s = c->link->s.session;
	struct turn *t = s->s.turn;

	if (!t || !c->turn.key.data || !t->s.r.key || !str_equal(t->s.r.key, c->turn.key) ||
		turn_state_over(t->s.r.state))
		TRY(turn_supersede(e, s, c->turn.key, &t));
	if (c->turn.has_budget)
		TRY(turn_budget_lower(e, t, &c->turn.budget));
	return reply_turn(e, c, t);
}

/* The turn that a call names; NULL (answered) where the session is in another one. */
static int turn_named(struct engine *e, const struct command *c, struct turn **out)
{
	struct turn *t = c->link->s.session->s.turn;

	*out = NULL;
	if (!t || (c->turn.key.data && t->s.r.key && !str_equal(t->s.r.key, c->turn.key)))
		return reply_error(
			e, c, ENGINE_NOT_FOUND, "the session is not in that turn", NULL, NULL);
	*out = t;
	return 0;
}

int on_usage(struct engine *e, const struct command *c)
{
	struct session *s = c->link->s.session;
	struct turn *t = s->s.turn;
	struct last_turn last;

	if (last_is(e, s, c->turn.key, &last) &&
		!(t && t->s.r.key && str_equal(t->s.r.key, c->turn.key)))
		return usage_late(e, c, &last);
	/* reported before anything else: an implicit turn counts it. A turn that is named and
	 * over is not begun again by what came late. */
	if (!t && !c->turn.key.data)
		TRY(turn_for_call(e, s, c->turn.key, &t));
	TRY(turn_named(e, c, &t));
	if (!t)
		return 0;
	TRY(usage_take(e, s, t, &c->turn));
	TRY(event_emit(e, EVENT_TURN, t));
	TRY(budget_check(e, t, s));
	return reply_turn(e, c, t);
}

int on_turn_end(struct engine *e, const struct command *c)
{
	struct session *s = c->link->s.session;
	struct turn *t;

	TRY(turn_named(e, c, &t));
	if (!t)
		return 0;
	if (c->turn.has_usage)
		TRY(usage_take(e, s, t, &c->turn));
	if (turn_state_over(t->s.r.state)) {
		TRY(budget_check(e, NULL, s->s.parent));
		return reply_turn(e, c, t);
	}
	if (t->s.r.causes) {
		/* what is suspended stays so: a successor takes its place */
		struct turn *fresh;

		TRY(turn_supersede(e, s, none, &fresh));
		TRY(budget_check(e, fresh, s));
		return reply_turn(e, c, fresh);
	}
	/* what it has reached by this ends it, and suspends nothing but what goes on */
	TRY(turn_end(e, t, REQUEST_ON_CLOSE, SOURCE_ABORT, none, none));
	TRY(budget_check(e, NULL, s->s.parent));
	return reply_turn(e, c, t);
}
