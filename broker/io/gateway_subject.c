/* SPDX-License-Identifier: MIT */
/* The subjects of sessions: which processes are watched. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>

static int subject_compare(const struct subject *a, const struct subject *b)
{
	return process_id_compare(&a->id, &b->id);
}

RB_GENERATE_STATIC(subject_tree, subject, entry, subject_compare)

int subject_change(struct gateway *g, const struct process_id *id, bool on)
{
	struct subject_change *items =
		grow(g->changes, g->n_changes, &g->changes_size, sizeof(*items));

	if (!items)
		return -ENOMEM;
	g->changes = items;
	g->changes[g->n_changes++] = (struct subject_change){ *id, on };
	if (on)
		g->subjects++;
	return 0;
}

static void subject_free(struct gateway *g, struct subject *s)
{
	struct enforcement *e = g->stopping ? NULL : enforce_find(&g->enforcements, &s->id);

	if (e)
		enforce_drop(&g->enforcements, e);
	RB_REMOVE(subject_tree, &g->subjects_held, s);
	process_unwatch(s->process);
	process_unref(s->process);
	free(s);
}

/* A subject that can't be watched counts as dead: nothing waits for it. */
static void subject_hold(struct gateway *g, const struct process_id *id)
{
	struct subject key = { .id = *id };
	struct subject *s = RB_FIND(subject_tree, &g->subjects_held, &key);

	if (s) {
		s->sessions++;
		return;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		goto fail;
	s->id = *id;
	s->sessions = 1;
	if (process_from_id(g->processes, id, &s->process) < 0)
		goto fail;
	if (process_watch(s->process) < 0)
		goto fail;
	RB_INSERT(subject_tree, &g->subjects_held, s);
	return;
fail:
	if (s)
		process_unref(s->process);
	free(s);
	gateway_event(g, COMMAND_SUBJECT_DIED, NULL, id);
}

struct process *subject_of_session(struct gateway *g, const struct session *s)
{
	struct subject key = { .id = s->s.r.subject }, *found;

	found = RB_FIND(subject_tree, &g->subjects_held, &key);
	return found ? found->process : NULL;
}

struct process *subject_process(struct gateway *g, const struct client *client)
{
	const struct session *s = client->link->s.session;
	struct process *p;

	/* mostly the one of its own hello; that of a session which it joined is watched */
	if (process_id_compare(&client->subject->id, &s->s.r.subject) == 0)
		return client->subject;
	p = subject_of_session(g, s);
	return p ? p : client->subject;
}

void subject_apply(struct gateway *g)
{
	/* a death found here becomes an event of the next batch and adds no change */
	for (size_t i = 0; i < g->n_changes; i++) {
		struct subject key = { .id = g->changes[i].id }, *s;

		if (g->changes[i].on) {
			subject_hold(g, &g->changes[i].id);
			continue;
		}
		s = RB_FIND(subject_tree, &g->subjects_held, &key);
		if (s && --s->sessions == 0)
			subject_free(g, s);
	}
	g->n_changes = 0;
	enforce_apply(g);
}

void subject_forget(struct gateway *g)
{
	g->n_changes = 0;
	enforce_fail(g);
}

void subject_drop_all(struct gateway *g)
{
	struct subject *s;

	enforce_forget(g);
	enforce_fini(&g->enforcements);
	while ((s = RB_ROOT(&g->subjects_held)))
		subject_free(g, s);
}
