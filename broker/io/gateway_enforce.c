/* SPDX-License-Identifier: MIT */
/* Which processes are held, and how: from hello and the engine's effects to enforce.h. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/io/cgroup.h"

static const struct bytes none;

void offer_free(struct enforce_offer *offer)
{
	if (!offer)
		return;
	if (offer->freeze >= 0)
		close(offer->freeze);
	if (offer->kill >= 0)
		close(offer->kill);
	process_unref(offer->launcher);
	free(offer->cgroup);
	free(offer);
}

/* ---- hello ---- */

static bool sits_in(const struct process *p, const char *cgroup)
{
	char *path = NULL;
	/* in doubt it does */
	bool in = process_cgroup(p, &path) < 0 || cgroup_within(path, cgroup);

	free(path);
	return in;
}

/* NULL: the cgroup is the subject's, and nobody's else; or what is wrong. */
static const char *cgroup_judge(struct gateway *g, const struct client *client,
	const struct process *subject, const char *cgroup)
{
	const struct client *c;
	char *path = NULL;
	bool in = process_cgroup(subject, &path) == 0 && cgroup_within(path, cgroup);

	free(path);
	if (!in)
		return "the subject does not sit in that cgroup";
	if (sits_in(client->peer->process, cgroup))
		return "the caller sits in that cgroup: it has to be the launched program's "
		       "alone";
	if (sits_in(g->self, cgroup))
		return "the broker sits in that cgroup";
	TAILQ_FOREACH (c, &g->frontends, entry)
		if (c->peer && c->peer->process && !c->refused && !c->closed &&
			sits_in(c->peer->process, cgroup))
			return "a frontend sits in that cgroup";
	return NULL;
}

/* The two descriptors of a cgroup. 0; 1: *why says what is wrong; -ENOMEM. */
static int cgroup_take(struct gateway *g, struct client *client, const struct process *subject,
	struct enforce_offer *offer, const char **why)
{
	int freeze = peer_take_fd(client->peer), kill = peer_take_fd(client->peer), rc;
	char *other = NULL;

	*why = "no descriptors of cgroup.freeze and cgroup.kill, open for writing, came along";
	rc = freeze < 0 || kill < 0 ? -EBADF
				    : cgroup_of_fd(freeze, "cgroup.freeze", &offer->cgroup);
	if (rc == 0)
		rc = cgroup_of_fd(kill, "cgroup.kill", &other);
	if (rc == 0 && !bytes_is(bytes_of(other), offer->cgroup))
		rc = -EINVAL;
	free(other);
	if (rc < 0) {
		if (freeze >= 0)
			peer_close_fd(client->peer, freeze);
		if (kill >= 0)
			peer_close_fd(client->peer, kill);
		return rc == -ENOMEM ? rc : 1;
	}
	offer->freeze = freeze;
	offer->kill = kill;
	*why = cgroup_judge(g, client, subject, offer->cgroup);
	return *why != NULL;
}

static int refuse(struct gateway *g, struct client *client, uint32_t call, enum wire_code code,
	const char *why)
{
	answer_error(g, client, call, code, why, NULL, none);
	return 1;
}

int offer_take(struct gateway *g, struct client *client, const struct wire_frame *f,
	const struct wire_agent_hello *m, struct process *subject, struct enforce_offer **out)
{
	int method = m->enforce.data ? enforce_parse(m->enforce) : ENFORCE_PROTOCOL, rc = 0;
	struct process *const self = client->peer->process;
	struct enforce_offer *offer;
	const char *why = NULL;

	*out = NULL;
	if (method < 0)
		return answer_bad_value(g, client, f->id, "enforce");
	if (method == ENFORCE_FREEZE && !m->cgroup)
		return answer_bad_value(g, client, f->id, "cgroup");
	if (method == ENFORCE_STOP && !g->may_stop)
		return refuse(g, client, f->id, WIRE_FORBIDDEN,
			"the configuration does not let agents be stopped by signals");
	if (method == ENFORCE_STOP && !stop_possible())
		return refuse(g, client, f->id, WIRE_UNSUPPORTED,
			"the kernel does not tell a process's children");
	if (method == ENFORCE_PROTOCOL && !m->cgroup && subject == self)
		return 0;
	offer = malloc(sizeof(*offer));
	if (!offer)
		return -ENOMEM;
	*offer = (struct enforce_offer){
		.method = (enum enforce_method)method, .freeze = -1, .kill = -1};
	/* who stands above the subject launched it, and is not held with it */
	if (subject != self && process_is_or_descends_from(subject, &self->id) == 1)
		offer->launcher = process_ref(self);
	if (m->cgroup)
		rc = cgroup_take(g, client, subject, offer, &why);
	if (rc == 0 && (method != ENFORCE_PROTOCOL || m->cgroup || offer->launcher)) {
		*out = offer;
		return 0;
	}
	offer_free(offer);
	return rc > 0 ? refuse(g, client, f->id, WIRE_BAD_SUBJECT, why) : rc;
}

static struct enforce_change *change_new(struct gateway *g)
{
	struct enforce_change *items = grow(g->enforce_changes, g->n_enforce_changes,
		&g->enforce_changes_size, sizeof(*items));

	if (!items)
		return NULL;
	g->enforce_changes = items;
	items += g->n_enforce_changes++;
	*items = (struct enforce_change){.grace = 0};
	return items;
}

void offer_stage(
	struct gateway *g, struct process *subject, uint32_t uid, struct enforce_offer *offer)
{
	struct enforce_change *c = change_new(g);

	if (!c) {
		log_error(g->log, "out of memory: a session is held by the protocol alone");
		offer_free(offer);
		return;
	}
	c->id = subject->id;
	c->subject = process_ref(subject);
	c->offer = offer;
	c->uid = uid;
}

/* ---- changes ---- */

int enforce_change(struct gateway *g, const struct process_id *id, bool kill, int64_t grace)
{
	struct enforce_change *c = change_new(g);
	const struct session *s;

	if (!c)
		return -ENOMEM;
	s = engine_subject_session(&g->engine, id);
	c->id = *id;
	c->kill = kill;
	c->hold = s && engine_held(s);
	c->grace = grace;
	return 0;
}

/* Nothing that is said to who can't listen is lost. */
static void session_patient(const struct session *s, bool patient)
{
	const struct session *child;
	struct link *l;

	LIST_FOREACH (l, &s->links, in_session)
		if (client_of(l)->peer)
			peer_patient(client_of(l)->peer, patient);
	LIST_FOREACH (child, &s->children, in_parent)
		session_patient(child, patient);
}

static void offer_apply(struct gateway *g, struct enforce_change *c)
{
	struct enforcement *e;
	int rc = enforce_put(&g->enforcements, c->subject, c->uid, c->offer, &e);

	if (rc < 0) {
		log_error(g->log, "pid %u is held by the protocol alone: %s", c->id.pid,
			rc == -ENOSPC ? "too many are held otherwise" : "out of memory");
		return;
	}
	g->subjects++; /* frontends are judged anew */
	/* restored as suspended: what stands still then was stopped by an earlier broker */
	e->take_over = !e->held;
}

static void change_apply(struct gateway *g, struct enforce_change *c)
{
	struct session *s = engine_subject_session(&g->engine, &c->id);
	const int64_t now = gateway_now(g).mono;
	struct enforcement *e;

	if (c->offer && s)
		offer_apply(g, c);
	e = enforce_find(&g->enforcements, &c->id);
	if (!e && c->kill && s) { /* one that is held by the protocol alone */
		struct enforce_offer plain = {.freeze = -1, .kill = -1};
		struct process *p = subject_of_session(g, s);

		if (p)
			enforce_put(&g->enforcements, p, s->s.r.uid, &plain, &e);
	}
	if (!e)
		return;
	if (c->kill) {
		enforce_kill(&g->enforcements, e, c->grace, now);
	} else if (s && e->held != engine_held(s)) {
		enforce_hold(&g->enforcements, e, !e->held, now);
		if (e->method != ENFORCE_PROTOCOL)
			session_patient(s, e->held);
	}
	if (!e->held)
		e->take_over = false;
}

/* The store works again: what it could not be told of is in force now, or has not happened. */
static void enforce_settle(struct gateway *g)
{
	struct enforcement *e;
	struct session *s;

	TAILQ_FOREACH (e, &g->enforcements.list, entry) {
		s = e->over ? NULL : engine_subject_session(&g->engine, &e->subject->id);
		if (s && e->held != engine_held(s))
			enforce_hold(&g->enforcements, e, !e->held, gateway_now(g).mono);
	}
	g->held_unrecorded = false;
}

void enforce_apply(struct gateway *g)
{
	for (size_t i = 0; i < g->n_enforce_changes; i++)
		change_apply(g, &g->enforce_changes[i]);
	if (g->held_unrecorded && !g->failing)
		enforce_settle(g);
	enforce_forget(g);
}

/* A ceiling that is reached holds, though the store fails; the step is tried again. */
static void hold_unrecorded(struct gateway *g, const struct enforce_change *c)
{
	struct enforcement *e = enforce_find(&g->enforcements, &c->id);

	if (!e || c->kill || c->offer || !c->hold)
		return;
	enforce_hold(&g->enforcements, e, true, gateway_now(g).mono);
	g->held_unrecorded = true;
}

void enforce_fail(struct gateway *g)
{
	for (size_t i = 0; g->failing && i < g->n_enforce_changes; i++)
		hold_unrecorded(g, &g->enforce_changes[i]);
	enforce_forget(g);
}

void enforce_forget(struct gateway *g)
{
	for (size_t i = 0; i < g->n_enforce_changes; i++) {
		process_unref(g->enforce_changes[i].subject);
		offer_free(g->enforce_changes[i].offer);
	}
	g->n_enforce_changes = 0;
}

/* ---- questions ---- */

bool enforce_inside(struct gateway *g, struct process *p, struct process_id *subject)
{
	struct enforcement *e;

	if (enforce_cgroup_around(&g->enforcements, p, &e) != 1 &&
		enforce_launcher_above(&g->enforcements, p, &e) != 1)
		return false;
	*subject = e->subject->id;
	return true;
}

bool enforce_refuses(struct gateway *g, struct process *p, bool anew)
{
	struct enforcement *e;

	return enforce_cgroup_around(&g->enforcements, p, &e) != 0 ||
	       (anew && enforce_launcher_above(&g->enforcements, p, &e) != 0);
}

/* Does somebody in the session wait for a verdict who has given up waiting, as soon as it can?
 */
static bool waits_in_vain(const struct session *s, int64_t now)
{
	const struct session *child;
	const struct turn *t;
	const struct request *q;

	LIST_FOREACH (t, &s->turns, in_session)
		TAILQ_FOREACH (q, &t->requests, in_turn)
			if (s->s.r.channel_ms && q->s.r.state == REQUEST_HELD && q->s.waiter &&
				now - q->s.r.since >= s->s.r.channel_ms * 1000)
				return true;
	LIST_FOREACH (child, &s->children, in_parent)
		if (waits_in_vain(child, now))
			return true;
	return false;
}

bool enforce_stuck(
	struct gateway *g, struct client *client, uint32_t call, const struct uuid *session)
{
	const struct session *s;
	struct enforcement *e;
	bool refused = false;

	TAILQ_FOREACH (e, &g->enforcements.list, entry) {
		if (!e->held || e->method == ENFORCE_PROTOCOL || e->over)
			continue;
		s = engine_subject_session(&g->engine, &e->subject->id);
		if (!s)
			continue;
		e->stuck = waits_in_vain(s, gateway_now(g).wall);
		refused |= e->stuck && session && uuid_compare(&s->s.r.id, session) == 0;
	}
	if (refused)
		answer_error(g, client, call, WIRE_STATE,
			"it stood still for longer than its agent waits for an answer: it "
			"would run "
			"the call without one; it can only be killed",
			"state", bytes_of("stuck"));
	return refused;
}

const char *enforce_of(struct gateway *g, const struct session *s, bool *held)
{
	const struct enforcement *e = enforce_find(&g->enforcements, &s->s.r.subject);

	*held = e && e->held && e->method != ENFORCE_PROTOCOL;
	return enforce_name(e ? e->method : ENFORCE_PROTOCOL);
}
