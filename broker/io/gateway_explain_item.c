/* SPDX-License-Identifier: MIT */
/* What was found of a call that is to be explained, as the protocol has it. */
#include "broker/io/gateway_explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

static const char *answer_name(enum pipeline_answer answer)
{
	static const char *const names[] = {"pass", "allow", "deny", "ask", "hold"};

	return names[answer];
}

/* What comes of it, as far as it is known without policies and people. */
struct outcome {
	const char *verdict;
	enum source source;
	enum step step;
};

static struct outcome outcome_of(const struct explain_answer *a, bool asks_policies)
{
	const struct pipeline_result *const r = &a->result;
	struct outcome o = {"ask", r->source, r->step};

	if (r->answer == PIPELINE_ALLOW)
		o.verdict = "allow";
	if (r->answer == PIPELINE_DENY)
		o.verdict = "deny";
	if (!a->review)
		return o;
	/* where a person has to be asked no policy allows */
	if (a->alone && (!asks_policies || r->answer == PIPELINE_ASK))
		return (struct outcome){"deny", SOURCE_BROKER, STEP_HUMAN};
	if (r->answer == PIPELINE_PASS)
		o.step = asks_policies || a->policy_missing ? STEP_POLICY : STEP_HUMAN;
	return o;
}

static void step_put(struct wire_open *path, const char *step, const char *answer)
{
	struct wire_open m;

	wire_array_item(path);
	wire_map_open(&m, path->b);
	wire_map_strz(&m, "step", step);
	wire_map_strz(&m, "answer", answer);
	wire_close(&m);
}

static void path_put(struct wire_open *m, const struct explain_answer *a, bool asks_policies)
{
	struct wire_open path;

	wire_map_key(m, "path");
	wire_array_open(&path, m->b);
	for (unsigned i = 0; i < a->trace.n; i++)
		step_put(&path, step_name(a->trace.items[i].step),
			answer_name(a->trace.items[i].answer));
	if (a->review) {
		step_put(&path, step_name(STEP_POLICY),
			asks_policies	    ? "asked"
			: a->policy_missing ? "ask"
					    : "pass");
		step_put(&path, step_name(STEP_HUMAN), a->alone ? "deny" : "asked");
	}
	wire_close(&path);
}

/* The rules that decided or ask, with what is known of them; the first by itself, too. */
static void rules_put(struct gateway *g, struct wire_open *m, const struct rule_match *match)
{
	struct wire_open a;

	wire_map_key(m, "rules");
	wire_array_open(&a, m->b);
	for (uint32_t i = 0; match->rule && i <= match->n_others; i++) {
		const struct rule_entry *const e = i ? match->others[i - 1] : match->rule;

		wire_array_item(&a);
		rule_pack(m->b, e, e->id ? standing_find(g, e->id) : NULL);
	}
	wire_close(&a);
}

/* Returns whether there are any. */
static bool policies_put(struct gateway *g, struct wire_open *m, uint32_t uid, bool review)
{
	struct frontend *f = review ? engine_policy_next(&g->engine, uid, NULL) : NULL;
	const bool any = f != NULL;
	struct wire_open a;

	wire_map_key(m, "policies");
	wire_array_open(&a, m->b);
	for (; f; f = engine_policy_next(&g->engine, uid, f)) {
		const struct client *const c = client_of_frontend(f);

		wire_array_item(&a);
		wire_pack_str(m->b, f->s.name ? str_bytes(f->s.name) : bytes_of(c->name));
	}
	wire_close(&a);
	return any;
}

static void found_put(struct gateway *g, struct wire_open *m, const struct explained *x)
{
	const struct pipeline_result *const r = &x->a->result;
	const bool asked = policies_put(g, m, x->uid, x->a->review);
	const struct outcome o = outcome_of(x->a, asked);

	wire_map_bool(m, "policy_missing", x->a->review && x->a->policy_missing);
	wire_map_strz(m, "verdict", o.verdict);
	wire_map_strz(m, "source", o.source == SOURCE_NONE ? NULL : source_name(o.source));
	rule_put_line(m, "rule", r->rule.rule);
	wire_map_strz(m, "step", step_name(o.step));
	wire_map_strz(m, "why", step_why(o.step));
	wire_map_strz(m, "floor", r->floor.name);
	wire_map_strz(m, "about", r->floor.about);
	wire_map_str(m, "what",
		r->floor.name ? (struct bytes){r->floor.what.data,
					r->floor.what.len < WHY_WHAT_MAX ? r->floor.what.len
									 : WHY_WHAT_MAX}
			      : none);
	wire_map_strz(m, "message",
		strcmp(o.verdict, "deny") ? NULL
					  : denial_message(o.source, o.step, REQUEST_DENIED));
	path_put(m, x->a, asked);
	rules_put(g, m, &r->rule);
}

static void paths_put(struct wire_open *m, const struct explained *x)
{
	struct wire_open a, p;

	wire_map_key(m, "paths");
	wire_array_open(&a, m->b);
	for (unsigned i = 0; i < x->n_paths; i++) {
		wire_array_item(&a);
		wire_map_open(&p, m->b);
		wire_map_str(&p, "path", str_bytes(x->paths[i].given));
		wire_map_str(&p, "resolved", str_bytes(x->paths[i].resolved));
		wire_map_bool(&p, "inside", x->paths[i].inside);
		wire_close(&p);
	}
	wire_close(&a);
}

void explain_answer(
	struct gateway *g, struct client *client, uint32_t call, const struct explained *x)
{
	struct wire_buffer *const b = stage_begin(g);
	struct wire_open m;

	wire_pack_reply_ok(b, call);
	wire_map_open(&m, b);
	found_put(g, &m, x);
	wire_map_str(&m, "tool", x->tool);
	wire_map_strz(&m, "kind", kind_name(x->kind));
	wire_map_bool(&m, "mutating", x->mutating);
	wire_map_strz(&m, "mode", mode_name(x->a->mode));
	wire_map_u64(&m, "uid", x->uid);
	if (x->session) {
		item_put_id(&m, "session", ID_SESSION, &x->session->s.r.id);
		wire_map_strz(&m, "ceiling", mode_name(x->session->s.r.ceiling));
	}
	wire_map_str(&m, "cwd", x->cwd);
	wire_map_str(&m, "workspace", x->workspace);
	paths_put(&m, x);
	wire_map_bool(&m, "timed_out", x->timed_out);
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
}
