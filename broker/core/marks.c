/* SPDX-License-Identifier: MIT */
#include "broker/core/engine_private.h"

#include <errno.h>

static void marks_release(const struct engine_marks *m)
{
	for (unsigned i = 0; i < m->n_lost; i++)
		str_unref(m->lost[i].name);
}

/* Before a change, which a rollback undoes then. */
static void marks_touch(struct engine *e)
{
	if (e->marked)
		return;
	e->marked = true;
	e->marks_before = e->marks;
	for (unsigned i = 0; i < e->marks.n_lost; i++)
		str_ref(e->marks.lost[i].name);
}

void marks_end(struct engine *e, bool commit)
{
	if (!e->marked)
		return;
	e->marked = false;
	marks_release(commit ? &e->marks_before : &e->marks);
	if (!commit)
		e->marks = e->marks_before;
}

void marks_fini(struct engine *e)
{
	marks_end(e, false);
	marks_release(&e->marks);
}

/* ---- policies that left without bye ---- */

static bool lost_of(const struct lost_policy *l, const struct frontend *f)
{
	return l->uid == f->uid && l->admin == f->admin;
}

void marks_lost_remove(struct engine *e, const struct frontend *f)
{
	struct engine_marks *m = &e->marks;

	for (unsigned i = 0; i < m->n_lost; i++)
		if (m->lost[i].name && lost_of(&m->lost[i], f) &&
			bytes_equal(str_bytes(m->lost[i].name), str_bytes(f->s.name))) {
			marks_touch(e);
			str_unref(m->lost[i].name);
			m->lost[i] = m->lost[--m->n_lost];
			return;
		}
}

/*
 * None is forgotten to make room, or whoever connects often enough could get rid of
 * one that denies. What one uid leaves behind counts for its own requests alone.
 */
int marks_lost_add(struct engine *e, const struct frontend *f)
{
	struct engine_marks *m = &e->marks;
	struct lost_policy l = {.uid = f->uid, .admin = f->admin, .answers = f->s.answers};
	unsigned n = 0;

	marks_lost_remove(e, f);
	marks_touch(e);
	for (unsigned i = 0; i < m->n_lost; i++) {
		if (!lost_of(&m->lost[i], f))
			continue;
		if (!m->lost[i].name) { /* any: one more only adds its types */
			m->lost[i].answers |= l.answers;
			return 0;
		}
		n++;
	}
	if (m->n_lost == LIMIT_LOST_POLICIES) {
		m->lost_more = true;
		return 0;
	}
	if (n < LIMIT_LOST_OF_UID) {
		l.name = f->s.name ? str_ref(f->s.name) : str_new("", 0);
		if (!l.name)
			return -ENOMEM;
	}
	m->lost[m->n_lost++] = l;
	return 0;
}

void marks_forget_lost(struct engine *e)
{
	struct engine_marks *m = &e->marks;

	if (!m->n_lost && !m->lost_more)
		return;
	marks_touch(e);
	marks_release(m);
	m->n_lost = 0;
	m->lost_more = false;
}

/* ---- nobody will ever answer ---- */

bool marks_headless(const struct engine *e, uint32_t uid)
{
	for (unsigned i = 0; i < e->marks.n_headless; i++)
		if (e->marks.headless_uids[i] == uid)
			return true;
	return e->marks.headless;
}

int marks_headless_add(struct engine *e, const struct frontend *f)
{
	struct engine_marks *m = &e->marks;

	if (f->admin ? m->headless : marks_headless(e, f->uid))
		return 0;
	if (!f->admin && m->n_headless == LIMIT_HEADLESS_UIDS)
		return 1;
	marks_touch(e);
	if (f->admin)
		m->headless = true;
	else
		m->headless_uids[m->n_headless++] = f->uid;
	return 0;
}
