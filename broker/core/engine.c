/* SPDX-License-Identifier: MIT */
#include "broker/core/engine_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int engine_init(struct engine *e, const struct engine_config *config)
{
	memset(e, 0, sizeof(*e));
	registry_init(&e->r);
	e->config = *config;
	return 0;
}

void engine_configure(struct engine *e, const struct engine_config *config)
{
	e->config = *config;
}

void engine_clear(struct engine *e)
{
	effects_clear(e);
	registry_clear(&e->r);
}

void engine_fini(struct engine *e)
{
	effects_clear(e);
	registry_fini(&e->r);
	marks_fini(e);
	free(e->out.items);
	free(e->out.keep.items);
	free(e->dirty);
	memset(e, 0, sizeof(*e));
}

struct uuid engine_new_id(struct engine *e)
{
	if (uuid_compare(&e->seed, &e->newest) > 0)
		e->newest = e->seed;
	else
		e->newest = uuid_next(&e->newest);
	return e->newest;
}

int set_bytes(struct engine *e, void *entity, struct str **member, struct bytes b)
{
	struct str *s = NULL;

	if (b.data) {
		if (*member && str_equal(*member, b))
			return 0;
		s = str_new(b.data, b.len);
		if (!s)
			return -ENOMEM;
	} else if (!*member) {
		return 0;
	}
	return entity_set_str(&e->r, entity, member, s);
}

int set_shared(
	struct engine *e, void *entity, struct str **member, struct bytes b, struct str *like)
{
	if (b.data && like && str_equal(like, b))
		return entity_set_str(&e->r, entity, member, str_ref(like));
	return set_bytes(e, entity, member, b);
}

static int on_tick(struct engine *e)
{
	struct entity *x;

	while ((x = registry_first_due(&e->r)) && due_at(&e->r.dues, x) <= e->now.mono)
		TRY(x->type == ENTITY_TURN ? turn_due_now(e, ENTITY_OF(x, turn))
					   : request_due_now(e, ENTITY_OF(x, request)));
	return 0;
}

static int on_died(struct engine *e, const struct process_id *p)
{
	struct session *s;

	while ((s = session_find_subject(&e->r, p)) || (s = session_find_retired(&e->r, p)))
		TRY(session_die(e, s));
	return 0;
}

static int on_link_gone(struct engine *e, struct link *l)
{
	struct session *s = l->s.session;

	if (!s)
		return 0;
	TRY(link_leave(e, l, false));
	return session_settle(e, s);
}

static bool needs_session(enum command_type type)
{
	return type > COMMAND_HELLO && type <= COMMAND_BYE;
}

static int dispatch(struct engine *e, const struct command *c)
{
	if (needs_session(c->type) && !c->link->s.session)
		return reply_error(e, c, ENGINE_NO_SESSION,
			"say hello first; or the session has ended", NULL, NULL);
	switch (c->type) {
	case COMMAND_HELLO: return on_hello(e, c);
	case COMMAND_TURN_BEGIN: return on_turn_begin(e, c);
	case COMMAND_TURN_END: return on_turn_end(e, c);
	case COMMAND_USAGE: return on_usage(e, c);
	case COMMAND_REQUEST: return on_request(e, c);
	case COMMAND_CANCEL: return on_cancel(e, c);
	case COMMAND_SETTLED: return on_settled(e, c);
	case COMMAND_OUTCOME: return on_outcome(e, c);
	case COMMAND_CLAIM: return on_claim(e, c);
	case COMMAND_BYE: return on_bye(e, c);
	case COMMAND_FRONTEND_HELLO: return on_frontend_hello(e, c);
	case COMMAND_SUBSCRIBE: return on_subscribe(e, c);
	case COMMAND_DECIDE: return on_decide(e, c);
	case COMMAND_VERDICT: return on_verdict(e, c);
	case COMMAND_CEILING: return on_ceiling(e, c);
	case COMMAND_SUSPEND: return on_suspend(e, c);
	case COMMAND_RESUME: return on_resume(e, c);
	case COMMAND_END_TURN: return on_end_turn(e, c);
	case COMMAND_KILL: return on_kill(e, c);
	case COMMAND_FRONTEND_BYE:
	case COMMAND_FRONTEND_GONE: return on_frontend_gone(e, c);
	case COMMAND_LINK_GONE: return on_link_gone(e, c->link);
	case COMMAND_SUBJECT_DIED: return on_died(e, &c->died);
	case COMMAND_TICK: return on_tick(e);
	case COMMAND_RESTARTED: return on_restarted(e, c);
	case COMMAND_SLEPT: return on_slept(e);
	case COMMAND_CONFIGURED: marks_forget_lost(e); return deny_alone(e);
	case COMMAND_N: break;
	}
	return 0;
}

int engine_step(struct engine *e, struct instant now, const struct command *c,
	const struct effects **out)
{
	int err;

	effects_clear(e);
	e->now = now;
	e->seed = c->seed;
	e->ending = NULL;
	err = dispatch(e, c);
	if (err == 0)
		err = flush_dirty(e);
	*out = &e->out;
	return err;
}

void engine_commit(struct engine *e)
{
	effects_clear(e);
	marks_end(e, true);
	registry_commit(&e->r);
}

void engine_rollback(struct engine *e)
{
	effects_clear(e);
	marks_end(e, false);
	registry_rollback(&e->r);
}

int64_t engine_next_deadline(struct engine *e)
{
	struct entity *x = registry_first_due(&e->r);

	return x ? due_at(&e->r.dues, x) : 0;
}

struct link *engine_link_open(struct engine *e, uint32_t uid, void *owner)
{
	return link_new(&e->r, uid, owner);
}

void engine_link_close(struct engine *e, struct link *l)
{
	link_free(&e->r, l);
}

struct frontend *engine_frontend_open(struct engine *e, uint32_t uid, bool admin, void *owner)
{
	if (e->r.n_frontends >= LIMIT_FRONTENDS)
		return NULL;
	return frontend_new(&e->r, uid, admin, owner);
}

void engine_frontend_close(struct engine *e, struct frontend *f)
{
	frontend_free(&e->r, f);
}

bool engine_is_subject(struct engine *e, const struct process_id *p)
{
	return session_find_subject(&e->r, p) != NULL;
}

struct entity *engine_page(struct engine *e, const struct frontend *f, const struct uuid *after)
{
	struct entity *x = registry_next(&e->r, after);

	for (; x; x = registry_next(&e->r, entity_id(x))) {
		const struct request *q = (const struct request *)(const void *)x;

		if (!frontend_sees(f, x) || entity_retired(x))
			continue;
		if (x->type == ENTITY_REQUEST &&
			(!q->s.shown || !request_state_pending(q->s.r.state)))
			continue;
		return x;
	}
	return NULL;
}

int engine_page_told(struct engine *e, struct frontend *f, const struct uuid *last, bool more)
{
	TRY(entity_touch(&e->r, f));
	f->s.cursor = *last;
	f->s.complete = !more;
	return 0;
}

int64_t request_deadline(const struct request *q, struct instant now, int64_t *remaining)
{
	int64_t left;

	if (!q->s.deadline || !request_state_pending(q->s.r.state)) {
		*remaining = -1;
		return 0;
	}
	left = q->s.stopped ? q->s.deadline : q->s.deadline - now.mono;
	*remaining = left > 0 ? left : 0;
	return q->s.stopped ? 0 : now.wall + *remaining;
}

void engine_each_fresh_request(
	struct engine *e, void (*each)(void *arg, const struct request *q), void *arg)
{
	registry_each_fresh_request(&e->r, each, arg);
}
