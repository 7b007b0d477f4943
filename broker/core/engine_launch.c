/* SPDX-License-Identifier: MIT */
/* Sessions of launched programs, which an agent inside speaks for. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <string.h>

/* How the own session id begins of what approval-run has launched. */
#define LAUNCHED "run_"

bool session_launched(const struct session *s)
{
	return s->key_len > sizeof(LAUNCHED) - 1 &&
	       memcmp(s->key, LAUNCHED, sizeof(LAUNCHED) - 1) == 0;
}

/* Who has adopted a session: the agent's name, NUL, its own session id. */
static bool adopted_by(const struct session *s, const struct command_hello *h)
{
	const struct str *a = s->s.adopter;

	return a && a->len == h->agent.len + 1 + h->key.len &&
	       memcmp(a->data, h->agent.data, h->agent.len) == 0 && !a->data[h->agent.len] &&
	       (!h->key.len ||
		       memcmp(a->data + h->agent.len + 1, h->key.data, h->key.len) == 0);
}

int session_adopt(struct engine *e, const struct command *c, struct session **out)
{
	const struct command_hello *h = &c->hello;
	char text[2 * LIMIT_NAME + 1];
	struct session *s = NULL;
	size_t len = h->agent.len + 1 + h->key.len;
	struct str *who;

	*out = NULL;
	for (unsigned i = 0; i < h->n_chain && !s; i++)
		s = session_find_subject(&e->r, &h->chain[i]);
	if (!s || !session_launched(s) || s->s.r.uid != c->link->uid || h->parent_key.data ||
		h->no_resume)
		return 0;
	if ((h->key.data && bytes_equal(h->key, session_key(s))) || adopted_by(s, h)) {
		*out = s;
		return 0;
	}
	if (s->s.adopter || len > sizeof(text))
		return 0;
	memcpy(text, h->agent.data, h->agent.len);
	text[h->agent.len] = '\0';
	if (h->key.len)
		memcpy(text + h->agent.len + 1, h->key.data, h->key.len);
	TRY(entity_touch(&e->r, s));
	who = str_new(text, len);
	if (!who)
		return -ENOMEM;
	*out = s;
	return entity_set_str(&e->r, s, &s->s.adopter, who);
}

int session_abandon(struct engine *e, struct session *s)
{
	struct turn *t = s->s.turn;

	TRY(entity_touch(&e->r, s));
	TRY(set_bytes(e, s, &s->s.adopter, (struct bytes){NULL, 0}));
	if (!t || turn_state_over(t->s.r.state))
		return 0;
	return turn_end(e, t, REQUEST_ON_CLOSE, SOURCE_ABORT, (struct bytes){NULL, 0},
		(struct bytes){NULL, 0});
}
