/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/policy/taken.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TAKEN_MAX 4096u /* more are not waited for */
#define GET_MS	  2000

struct taken {
	struct taken *next;
	enum answer answer;
	char *request, *tool, *why, *call;
	bool late;  /* its answer came after the call was decided */
	bool asked; /* another policy had not answered then */
};

static void taken_free(struct taken *k)
{
	free(k->request);
	free(k->tool);
	free(k->why);
	free(k->call);
	free(k);
}

int taken_add(struct takens *t, const struct review *v, bool late)
{
	struct taken *const k = calloc(1, sizeof(*k));
	struct text why = {0}, call = {0};

	if (!k)
		return -ENOMEM;
	review_why(&why, v);
	call_show(&call, v->item);
	k->answer = v->verdict.answer;
	k->late = late;
	k->request = strdup(approval_value_text(v->item, "request"));
	k->tool = strdup(approval_value_text(v->item, "tool"));
	if (!why.failed)
		k->why = strdup(text_string(&why));
	if (!call.failed)
		k->call = strdup(text_string(&call));
	text_free(&why);
	text_free(&call);
	if (!k->request || !k->tool || !k->why || !k->call) {
		taken_free(k);
		return -ENOMEM;
	}
	k->next = t->list;
	t->list = k;
	t->n++;
	return 0;
}

/* The verdict that led to a state; "" for one that none led to. */
static const char *state_verdict(const char *state)
{
	static const char *const allowed[] = {
		"ALLOWED", "SUCCEEDED", "FAILED", "NOT_RUN", "UNKNOWN"};

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (!strcmp(state, allowed[i]))
			return "allow";
	return strcmp(state, "DENIED") ? "" : "deny";
}

/* 1: it is not decided yet. -ETIMEDOUT: the broker does not tell. */
static int taken_look(const struct taken *k, struct approval *client, enum fate *fate)
{
	struct approval_value *result = NULL;
	const struct approval_value *item;
	struct approval_pack *p = NULL;
	size_t len = 0;
	int err = approval_pack_new(&p);

	*fate = FATE_OPEN;
	if (err)
		return err;
	approval_pack_map(p, 1);
	approval_pack_str(p, "id");
	err = approval_pack_str(p, k->request);
	if (!err) {
		const void *const data = approval_pack_data(p, &len);

		err = approval_call_wait(client, "get", data, len, GET_MS, &result);
	}
	approval_pack_free(p);
	if (err == -ENOMEM)
		return err;
	if (err && err != -EREMOTEIO)
		return -ETIMEDOUT;
	/* one that has ended and is forgotten comes with the error */
	item = err ? approval_last_error(client)->data : approval_value_get(result, "item");
	err = !strcmp(approval_value_text(item, "state"), "REVIEW");
	if (!err)
		*fate = fate_of(k->late ? ANSWER_DEFER : k->answer,
			state_verdict(approval_value_text(item, "state")),
			approval_value_text(item, "source"));
	approval_value_free(result);
	return err;
}

/* The first that is to be asked about, taken off the list: while the broker is asked, others
 * may come. */
static struct taken *taken_next(struct takens *t, bool last)
{
	struct taken **at = &t->list, *k;

	while (*at && (*at)->asked && !last)
		at = &(*at)->next;
	k = *at;
	if (k) {
		*at = k->next;
		t->n--;
	}
	return k;
}

int takens_settle(struct takens *t, struct approval *client, struct summary *s, bool last)
{
	struct taken *k;
	enum fate fate;
	int err = 0, r;

	while ((k = taken_next(t, last)) != NULL) {
		fate = FATE_OPEN;
		r = client ? taken_look(k, client, &fate) : 0;
		if (r == -ETIMEDOUT)
			client = NULL;
		if (!client || (r == 1 && (last || t->n >= TAKEN_MAX)))
			r = 0;
		if (r == 1) {
			k->asked = true;
			k->next = t->list;
			t->list = k;
			t->n++;
			continue;
		}
		if (r == 0)
			r = summary_add(s, fate, k->answer, k->tool, k->why, k->call);
		err = err ? err : r;
		taken_free(k);
	}
	return err;
}
