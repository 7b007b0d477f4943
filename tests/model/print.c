/* SPDX-License-Identifier: MIT */
/* The engine as text: all of it, for rollbacks, or what matters for its behaviour, for the
 * exploration. */
#include <stdlib.h>
#include <string.h>

#include "broker/core/engine_private.h"
#include "tests/model/world.h"

struct printer {
	struct world *w;
	FILE *f;
	bool canon;
	unsigned n_ids;
	struct uuid ids[512]; /* in order: what stands for an id is its place */
};

static int place(struct printer *p, const struct uuid *id)
{
	if (uuid_is_nil(id))
		return -1;
	for (unsigned i = 0; i < p->n_ids; i++)
		if (uuid_compare(&p->ids[i], id) == 0)
			return (int)i;
	return -2; /* of something that is gone */
}

static void put_id(struct printer *p, const char *name, const struct uuid *id)
{
	char text[ID_STRING_SIZE];

	if (p->canon) {
		fprintf(p->f, " %s=%d", name, place(p, id));
		return;
	}
	id_format(text, ID_REQUEST, id);
	fprintf(p->f, " %s=%s", name, text);
}

static void put_str(struct printer *p, const char *name, const struct str *s)
{
	if (!s)
		return;
	/* the references count too: a rollback that leaks or gives away shows */
	fprintf(p->f, " %s=\"", name);
	for (uint32_t i = 0; i < s->len; i++)
		fprintf(p->f, s->data[i] >= ' ' && s->data[i] < 127 ? "%c" : "\\%02x",
			(unsigned char)s->data[i]);
	fputc('"', p->f);
	if (!p->canon)
		fprintf(p->f, "*%u", s->refs);
}

/* An instant: how far away it is, as far as that matters. */
static void put_time(struct printer *p, const char *name, int64_t at, bool runs)
{
	if (!at)
		return;
	if (p->canon && runs)
		at -= p->w->now.mono;
	fprintf(p->f, " %s=%lld", name, (long long)at);
}

static void put_number(struct printer *p, const char *name, uint64_t n)
{
	if (n)
		fprintf(p->f, " %s=%llu", name, (unsigned long long)n);
}

static void put_hex(struct printer *p, const char *name, const uint8_t *b, size_t n)
{
	fprintf(p->f, " %s=", name);
	for (size_t i = 0; i < n; i++)
		fprintf(p->f, "%02x", b[i]);
}

static void print_amounts(
	struct printer *p, const char *name, const struct budget_amounts *a)
{
	fprintf(p->f, " %s=", name);
	for (int k = 0; k < BUDGET_N; k++)
		fprintf(p->f, "%s%lld", k ? "," : "", (long long)a->of[k]);
}

/* Where nothing is bounded, what is used changes nothing. */
static void print_turn_budget(struct printer *p, const struct turn *t)
{
	const struct turn_budget *b = &t->s.b;
	struct budget_amounts used;

	fprintf(p->f, " runs=%d%d%d", b->wall_runs, b->active_runs, b->closed);
	put_time(p, "turn_due", b->due, true);
	if (!budget_is_clear(&b->ceiling) ||
		!budget_is_clear(&session_budget(t->s.session)->ceiling)) {
		turn_used(&p->w->e, t, p->w->now, &used);
		if (p->canon) /* the rest stands below */
			print_amounts(p, "used", &used);
		print_amounts(p, "ceiling", &b->ceiling);
		fprintf(p->f, " warned=%x", b->warned);
	}
	if (p->canon && budget_is_clear(&b->ceiling))
		return;
	fprintf(p->f, " more=%llu,%llu,%llu,%llu,%llu calls=%llu,%llu",
		(unsigned long long)b->more.input, (unsigned long long)b->more.output,
		(unsigned long long)b->more.cache_read, (unsigned long long)b->more.cache_write,
		(unsigned long long)b->more.cost_microusd, (unsigned long long)b->calls,
		(unsigned long long)b->calls_live);
	if (p->canon)
		return;
	fprintf(p->f, " times=%lld,%lld,%lld,%lld", (long long)b->active, (long long)b->wall,
		(long long)b->mark_mono, (long long)b->mark_wall);
}

static void print_session_budget(struct printer *p, const struct session *s)
{
	const struct session_budget *b = session_budget(s);
	struct budget_amounts used;

	if (!budget_is_clear(&b->ceiling) || !p->canon) {
		session_used(&p->w->e, s, p->w->now, &used);
		if (p->canon)
			print_amounts(p, "used", &used);
		print_amounts(p, "ceiling", &b->ceiling);
		print_amounts(p, "asked", &b->asked);
		fprintf(p->f, " warned=%x", b->warned);
	}
	if (p->canon) /* what it has used keeps it after its end */
		fprintf(p->f, " spent=%d", session_spent(&p->w->e, s));
	if (p->canon && budget_is_clear(&b->ceiling))
		return;
	fprintf(p->f, " in=%llu calls=%llu,%llu", (unsigned long long)b->usage.input,
		(unsigned long long)b->calls, (unsigned long long)b->calls_live);
	if (p->canon)
		return;
	fprintf(p->f, " times=%lld,%lld", (long long)b->active, (long long)b->wall);
	if (s->s.last)
		put_hex(p, "last", (const uint8_t *)s->s.last->data, s->s.last->len);
}

static void print_session(struct printer *p, const struct session *s)
{
	const struct session_data *r = &s->s.r;
	static const struct uuid nil;

	put_id(p, "session", &r->id);
	put_id(p, "parent", s->s.parent ? &s->s.parent->s.r.id : &nil);
	put_id(p, "turn", s->s.turn ? &s->s.turn->s.r.id : &nil);
	put_str(p, "agent", r->agent);
	fprintf(p->f, " key=%s", s->key);
	put_str(p, "title", r->title);
	put_str(p, "cwd", r->cwd);
	put_str(p, "cursor", r->cursor);
	put_str(p, "checks", s->s.checks);
	put_str(p, "late", s->s.late);
	put_str(p, "adopter", s->s.adopter);
	fprintf(p->f, " subject=%u/%llu claim=%d ceiling=%d channel=%lld", r->subject.pid,
		(unsigned long long)r->subject.start, r->claim, r->ceiling,
		(long long)r->channel_ms);
	fprintf(p->f, " flags=%d%d%d%d%d%d links=%u pending=%u", r->fail_closed, r->ended,
		s->s.r.alive, s->s.r.recovered, s->watched, s->keyed, s->n_links, s->n_pending);
	print_session_budget(p, s);
}

static void print_turn(struct printer *p, const struct turn *t)
{
	const struct turn_record *r = &t->s.r;

	put_id(p, "turn", &r->id);
	put_id(p, "session", &r->session);
	put_str(p, "key", r->key);
	put_str(p, "reason", r->reason);
	put_str(p, "denials", t->s.denials);
	fprintf(p->f, " %s causes=%d inherited=%d by=%d", turn_state_name(r->state), r->causes,
		t->s.inherited, r->ended_by);
	put_number(p, "in", r->usage.input);
	put_number(p, "out", r->usage.output);
	put_number(p, "seq", r->usage_seq);
	print_turn_budget(p, t);
	fprintf(p->f, " pending=%u recovered=%u kept=%u settled=%u", t->n_pending,
		t->n_recovered, t->n_kept, t->n_settled);
	if (!p->canon)
		fprintf(p->f, " calls=%u denied=%u unknown=%u ended=%lld", r->calls, r->denied,
			t->s.unknown, (long long)r->ended_at);
}

static void print_request(struct printer *p, const struct request *q)
{
	const struct request_state_data *s = &q->s;
	const struct request_data *r = &s->r;
	const struct decision *d = request_decision(q);

	put_id(p, "request", &r->id);
	put_id(p, "session", &request_session(q)->s.r.id);
	put_id(p, "turn", &s->turn->s.r.id);
	fprintf(p->f, " call=%s", q->call);
	put_str(p, "tool", r->tool);
	put_str(p, "input", r->input);
	put_str(p, "reason", d->reason);
	put_str(p, "by", d->by);
	put_str(p, "updated", d->updated_input);
	put_str(p, "answers", d->answers);
	put_str(p, "command", r->command);
	if (s->waiter)
		fprintf(p->f, " waiter=%s", ((struct actor *)s->waiter->owner)->name);
	if (!p->canon)
		fprintf(p->f, "/%u", s->call_id);
	fprintf(p->f, " %s type=%d step=%d verdict=%d source=%d scope=%d disconnect=%d",
		request_state_name(r->state), r->type, r->step, d->verdict, d->source, d->scope,
		r->on_disconnect);
	fprintf(p->f, " flags=%d%d%d%d%d%d%d review=%x/%x/%d/%d", r->elsewhere, r->fail_closed,
		d->delivered, r->check, s->stopped, s->recovered, s->shown, s->review,
		s->offered, s->review_verdict, s->asked_by);
	put_time(p, "deadline", s->deadline, !s->stopped);
	put_time(p, "grace", s->grace, !s->stopped);
	put_time(p, "review_due", s->review_due, true);
	if (r->state == REQUEST_ALLOWED && d->delivered) {
		int64_t age = p->w->now.mono - d->delivered_at;
		bool old = age > (int64_t)TIME_RECLAIM_MS * 1000;

		fprintf(p->f, " age=%lld",
			(long long)(!p->canon ? d->delivered_at
				    : old     ? -1
					      : age));
	}
	put_time(p, "due", due_at(&p->w->e.r.dues, &q->e), true);
	if (p->canon)
		return;
	put_hex(p, "digest", r->digest, 4);
	put_hex(p, "hash", s->input_hash, 4);
	put_hex(p, "edited", request_run_hash(q), 4);
	fprintf(p->f, " times=%lld/%lld bytes=%u", (long long)r->since,
		(long long)d->decided_at, q->counted_bytes);
}

static void print_entity(struct printer *p, const struct entity *x)
{
	switch ((enum entity_type)x->type) {
	case ENTITY_SESSION: print_session(p, (const struct session *)(const void *)x); break;
	case ENTITY_TURN: print_turn(p, (const struct turn *)(const void *)x); break;
	case ENTITY_REQUEST: print_request(p, (const struct request *)(const void *)x); break;
	case ENTITY_LINK:
	case ENTITY_FRONTEND: break;
	}
	fprintf(p->f, " stored=%d dirty=%d indexed=%d\n", x->stored, x->dirty, x->indexed);
}

static void print_actor(struct printer *p, const struct actor *a)
{
	const struct frontend *f = a->frontend;

	if (!a->name[0] || a->left || (f && !f->s.greeted) || (a->link && !a->link->s.session))
		return;
	fprintf(p->f, "%s", a->name);
	if (a->link && a->link->s.session)
		put_id(p, "session", &a->link->s.session->s.r.id);
	if (f) {
		fprintf(p->f, " role=%d flags=%d%d%d%d answers=%d policy=%d timeouts=%d",
			f->s.role, f->s.greeted, f->s.subscribed, f->s.complete, f->s.headless,
			f->s.answers, f->s.policy, f->s.timeouts);
		put_str(p, "name", f->s.name);
		if (p->canon) {
			unsigned n = 0; /* a cursor divides what it has passed from the rest */

			while (n < p->n_ids && uuid_compare(&p->ids[n], &f->s.cursor) <= 0)
				n++;
			fprintf(p->f, " cursor=%u", f->s.complete || !f->s.subscribed ? 0 : n);
		} else {
			put_id(p, "cursor", &f->s.cursor);
			put_number(p, "seq", f->s.seq);
		}
	}
	fputc('\n', p->f);
}

/* One that holds nothing is as good as none. */
static void print_owners(struct printer *p, const struct owner *o)
{
	if (!o)
		return;
	print_owners(p, RB_LEFT(o, by_uid));
	if (o->sessions || o->pending || o->pending_bytes)
		fprintf(p->f, " %u:%u/%u/%llu", o->uid, o->sessions, o->pending,
			(unsigned long long)o->pending_bytes);
	print_owners(p, RB_RIGHT(o, by_uid));
}

static char *print(struct world *w, bool canon)
{
	static const struct uuid start;
	struct printer p = {.w = w, .canon = canon};
	struct registry *r = &w->e.r;
	const struct engine_marks *m = &w->e.marks;
	struct entity *x;
	char *text = NULL;
	size_t size = 0;

	p.f = open_memstream(&text, &size);
	if (!p.f)
		world_fail(w, "open_memstream failed");
	for (x = registry_next(r, &start); x; x = registry_next(r, entity_id(x)))
		if (p.n_ids < sizeof(p.ids) / sizeof(p.ids[0]))
			p.ids[p.n_ids++] = *entity_id(x);
	for (x = registry_next(r, &start); x; x = registry_next(r, entity_id(x)))
		print_entity(&p, x);
	for (unsigned i = 0; i < WORLD_ACTORS; i++)
		print_actor(&p, &w->book.actors[i]);
	fprintf(p.f, "headless=%d/%u more=%d", m->headless, m->n_headless, m->lost_more);
	for (unsigned i = 0; i < m->n_lost; i++)
		put_str(&p, "lost", m->lost[i].name);
	if (!canon) {
		fprintf(p.f, " n=%zu/%zu/%zu/%zu", r->n_sessions, r->n_turns, r->n_requests,
			r->n_pending);
		print_owners(&p, RB_ROOT(&r->owners));
		fprintf(p.f, " undo=%d", r->undo.first != NULL);
	}
	fputc('\n', p.f);
	fclose(p.f);
	return text;
}

char *world_print(struct world *w)
{
	return print(w, false);
}

char *world_canon(struct world *w)
{
	return print(w, true);
}
