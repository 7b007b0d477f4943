/* SPDX-License-Identifier: MIT */
/* The hello of agents: who they are, by the kernel's word. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/workspace.h"

#define CHAIN_MAX 128

static const struct bytes none;

/* Does a frontend, but for that one, or the broker stand below the process? In doubt it does. */
static bool stands_above_us(
	struct gateway *g, const struct process_id *id, const struct process *but)
{
	struct client *c;

	if (process_is_or_descends_from(g->self, id) != 0)
		return true;
	TAILQ_FOREACH(c, &g->frontends, entry)
		if (c->peer && c->peer->process && c->peer->process != but && !c->refused &&
			process_is_or_descends_from(c->peer->process, id) > 0)
			return true;
	return false;
}

int home_of(struct gateway *g, uint32_t uid, const char **out)
{
	struct home *items;
	char *path = NULL;

	for (size_t i = 0; i < g->n_homes; i++)
		if (g->homes[i].uid == uid)
			return *out = g->homes[i].path, 0;
	items = grow(g->homes, g->n_homes, &g->homes_size, sizeof(*items));
	if (!items)
		return -ENOMEM;
	g->homes = items;
	/* without a home no path is below it, and only "/" is barred as a workspace */
	workspace_home(uid, &path);
	g->homes[g->n_homes++] = (struct home){ uid, path };
	*out = path;
	return 0;
}

/*
 * The peer and its ancestors; and the subject of a launched program that it has left the tree
 * of, though not the cgroup. Returns their number or an error.
 */
static int chain_of(struct gateway *g, struct process *p, struct process_id chain[CHAIN_MAX])
{
	int n;

	chain[0] = p->id;
	n = process_ancestors(p, chain + 1, CHAIN_MAX - 2);
	if (n < 0)
		return n;
	return n + 1 + enforce_inside(g, p, &chain[n + 1]);
}

static bool in_chain(const struct process_id *chain, int n, const struct process_id *id)
{
	for (int i = 0; i < n; i++)
		if (process_id_compare(&chain[i], id) == 0)
			return true;
	return false;
}

/* May that process stand for the peer? 1: answered. */
static int subject_judge(struct gateway *g, struct client *client, const struct wire_frame *f,
	const struct process_id *chain, int n, struct process *subject)
{
	bool launched = !in_chain(chain, n, &subject->id);

	if ((launched &&
		    process_is_or_descends_from(subject, &client->peer->process->id) != 1) ||
		process_has_uid(subject, client->peer->uid) != 1) {
		answer_error(g, client, f->id, WIRE_BAD_SUBJECT,
			"the subject is not the caller, or a living ancestor or descendant of it, "
			"with the same uid",
			NULL, none);
		return 1;
	}
	if (stands_above_us(g, &subject->id, NULL) ||
		(launched && stands_above_us(g, &chain[0], client->peer->process))) {
		answer_error(g, client, f->id, WIRE_BAD_SUBJECT,
			"the subject stands above a frontend or the broker: it would shut out the "
			"people who answer",
			NULL, none);
		return 1;
	}
	return 0;
}

/* Finds and judges the subject; 1: answered. */
static int subject_of(struct gateway *g, struct client *client, const struct wire_frame *f,
	bool sent, const struct process_id *chain, int n, struct process **out)
{
	int fd, err;

	if (!sent) {
		*out = process_ref(client->peer->process);
	} else {
		fd = peer_take_fd(client->peer);
		err = fd < 0 ? -EBADF : process_from_pidfd(g->processes, fd, out);
		if (fd >= 0)
			peer_close_fd(client->peer, fd);
		if (err < 0) {
			answer_error(g, client, f->id, WIRE_BAD_SUBJECT,
				"no pidfd of a living process came with hello", NULL, none);
			return 1;
		}
	}
	return subject_judge(g, client, f, chain, n, *out);
}

struct hello_call {
	struct wire_agent_hello m;
	int claim;
	bool has_budget;
	struct budget_amounts budget;
};

static int hello_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct hello_call *h)
{
	struct wire_problem problem;
	int v = wire_decode(&wire_agent_hello_spec, f->params, &h->m, &problem);

	if (v) {
		problem_answer(g, client, f->id, v, &problem);
		return 1;
	}
	if (h->m.protocol != GATEWAY_PROTOCOL) {
		answer_error(g, client, f->id, WIRE_PROTOCOL, "this broker speaks version 1",
			"supported", bytes_of("1"));
		return 1;
	}
	if (!h->m.agent.len || (h->m.session.data && !h->m.session.len)) {
		answer_error(g, client, f->id, WIRE_INVALID, "may not be empty", "param",
			bytes_of(h->m.agent.len ? "session" : "agent"));
		return 1;
	}
	h->claim = -1;
	if (h->m.mode.data) {
		h->claim = mode_parse(h->m.mode);
		if (h->claim < 0) {
			answer_error(g, client, f->id, WIRE_UNSUPPORTED,
				"this broker does not know that mode", "name", h->m.mode);
			return 1;
		}
	}
	return budget_parse(
		g, client, f->id, h->m.budget, &h->has_budget, &h->budget);
}

/* waited: processes may have come and gone since the subject was judged. */
static void hello_step(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct hello_call *h, struct process *subject, struct enforce_offer **offer,
	const struct resolver_result *result, bool waited)
{
	struct command c = { .type = COMMAND_HELLO, .call = f->id };
	struct command_hello *m = &c.hello;
	struct process_id chain[CHAIN_MAX];
	char *exe = NULL, *cwd = NULL;
	int n = chain_of(g, client->peer->process, chain);

	if (n < 0 || !process_alive(subject)) {
		answer_error(g, client, f->id, WIRE_BAD_SUBJECT, "the subject has died", NULL,
			none);
		return;
	}
	if (waited && subject_judge(g, client, f, chain, n, subject))
		return;
	if (process_exe(subject, &exe) < 0 || process_cwd(subject, &cwd) < 0) {
		free(exe);
		answer_error(g, client, f->id, WIRE_BAD_SUBJECT, "the subject has died", NULL,
			none);
		return;
	}
	m->agent = h->m.agent;
	m->key = h->m.session;
	m->parent_key = h->m.parent;
	m->title = h->m.title;
	m->cwd = cwd ? bytes_of(cwd) : h->m.cwd;
	m->exe = exe ? bytes_of(exe) : none;
	m->workspace = result && result->workspace ? bytes_of(result->workspace) : none;
	m->home = bytes_of(client->home);
	m->subject = subject->id;
	m->chain = chain;
	m->n_chain = (unsigned)n;
	m->claim = h->claim;
	m->channel_ms = (int64_t)h->m.channel_ms;
	m->fail_closed = h->m.fail_closed;
	m->has_budget = h->has_budget;
	m->budget = h->budget;
	m->no_resume = WIRE_HAS(&h->m, agent_hello, resume) && !h->m.resume;
	if (result && result->alias) {
		free(client->alias);
		client->alias = strdup(result->alias);
	}
	process_unref(client->subject);
	client->subject = process_ref(subject);
	gateway_step(g, client, &c);
	if (*offer && client->link->s.session &&
		process_id_compare(&client->link->s.session->s.r.subject, &subject->id) == 0) {
		offer_stage(g, subject, client->peer->uid, *offer);
		*offer = NULL;
	}
	/* its first call need not wait; without memory it will */
	if (client->peer && project_hold(g, client) < 0)
		log_warning(g->log, "out of memory: a project is not looked at");
	free(exe);
	free(cwd);
}

static void hello_resolved(void *arg, struct resolver_result *result)
{
	struct pending_call *p = arg;
	struct gateway *g = p->g;
	struct client *client = p->client;
	struct hello_call h;
	struct wire_frame f;

	pending_call_unpark(p);
	if (wire_frame_decode((struct bytes){ p->bytes, p->len }, &f) == 0 &&
		hello_parse(g, client, &f, &h) == 0)
		hello_step(g, client, &f, &h, p->subject, &p->offer, result, true);
	resolver_result_free(result);
	pending_call_free(p);
	client_go_on(client);
}

int agent_hello(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw)
{
	struct process *self = client->peer->process, *subject = NULL;
	struct resolver_result *result = NULL;
	struct process_id chain[CHAIN_MAX];
	struct resolver_job *job = NULL;
	struct pending_call *p = NULL;
	struct resolver_spec spec = { 0 };
	struct enforce_offer *offer = NULL;
	char *cwd = NULL, *claimed = NULL;
	struct hello_call h;
	int n, err;

	err = hello_parse(g, client, f, &h);
	if (err)
		return err < 0 ? err : 0;
	n = self ? chain_of(g, self, chain) : -ESRCH;
	if (n < 0) {
		answer_error(g, client, f->id, WIRE_BAD_SUBJECT,
			"the calling process can't be looked at", NULL, none);
		return 0;
	}
	err = subject_of(g, client, f, h.m.subject, chain, n, &subject);
	if (err)
		goto out;
	err = offer_take(g, client, f, &h.m, subject, &offer);
	if (err)
		goto out;
	err = home_of(g, client->peer->uid, &client->home);
	if (err < 0)
		goto out;
	err = process_cwd(subject, &cwd);
	if (err < 0 && err != -ESRCH)
		goto out;
	if (h.m.cwd.data)
		claimed = strndup(h.m.cwd.data, h.m.cwd.len);
	spec.subject = subject;
	spec.cwd = cwd;
	spec.home = client->home;
	err = pending_call_new(g, client, &p);
	if (err < 0)
		goto out;
	p->subject = process_ref(subject);
	err = cwd ? resolver_workspace(g->resolver, &spec, claimed, gateway_now(g).mono,
			    hello_resolved, p, &result, &job)
		  : 1;
	if (err == 0) {
		p->offer = offer;
		offer = NULL;
		err = pending_call_park(p, job, raw);
	}
	if (err == 0)
		goto out;
	pending_call_free(p);
	if (err > 0) {
		hello_step(g, client, f, &h, subject, &offer, result, false);
		err = 0;
	}
out:
	resolver_result_free(result);
	process_unref(subject);
	offer_free(offer);
	free(cwd);
	free(claimed);
	return err < 0 ? err : 0;
}
