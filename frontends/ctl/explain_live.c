/* SPDX-License-Identifier: MIT */
/* explain with a broker: all its rules, sessions and policies as they are now. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"
#include "frontends/ctl/explain.h"
#include "frontends/ctl/request.h"

/* ---- for people ---- */

static const char *text_of(const struct approval_value *map, const char *key)
{
	return approval_value_text(map, key);
}

static void add(struct text *t, const struct approval_value *map, const char *key)
{
	size_t len;
	const char *s = approval_value_str(approval_value_get(map, key), &len);

	text_addn(t, s, len);
}

static int field(const struct output *o, const char *label, struct text *t)
{
	int r = t->failed ? -ENOMEM : output_field(o, label, text_string(t), t->len);

	text_free(t);
	return r;
}

static int member(const struct output *o, const char *label, const struct approval_value *map,
	const char *key)
{
	struct text t = {0};

	add(&t, map, key);
	return field(o, label, &t);
}

/* No person could be asked, which denies what nothing else allows. */
static bool nobody_there(const struct approval_value *r)
{
	const struct approval_value *const path = approval_value_get(r, "path");

	for (size_t i = 0; i < approval_value_count(path); i++) {
		const struct approval_value *const step = approval_value_at(path, i);

		if (strcmp(text_of(step, "step"), "human") == 0)
			return strcmp(text_of(step, "answer"), "deny") == 0;
	}
	return false;
}

/* What policies answer is not foretold: what follows if they do not. */
static void why_add(struct text *t, const struct approval_value *r)
{
	if (strcmp(text_of(r, "step"), "policy") != 0 ||
		!approval_value_count(approval_value_get(r, "policies")))
		add(t, r, "why");
	else if (nobody_there(r))
		text_add(t, "a policy is asked; what it does not allow is denied, since no "
			    "person can be asked");
	else
		text_add(t, "a policy is asked; what it leaves open a person is asked about");
}

static int verdict_show(const struct output *o, const struct approval_value *r)
{
	const char *const verdict = text_of(r, "verdict");
	struct text t = {0};

	output_styled(o,
		strcmp(verdict, "allow") == 0  ? STYLE_GREEN
		: strcmp(verdict, "deny") == 0 ? STYLE_RED
					       : STYLE_YELLOW,
		strcmp(verdict, "allow") == 0  ? "allow"
		: strcmp(verdict, "deny") == 0 ? "deny"
					       : "ask");
	output_printf(o, "\n");
	add(&t, r, "step");
	text_add(&t, ": ");
	why_add(&t, r);
	return field(o, "Why", &t);
}

/* A rule and where it comes from. */
static int rule_show(const struct output *o, const struct approval_value *rule)
{
	const struct approval_value *const id = approval_value_get(rule, "id");
	struct text t = {0};
	int r = member(o, "Rule", rule, "rule");

	if (r)
		return r;
	if (*text_of(rule, "file")) {
		add(&t, rule, "file");
		text_printf(&t, ":%lld",
			(long long)approval_value_int(approval_value_get(rule, "line")));
	} else if (id) {
		text_printf(&t, "standing rule %lld", (long long)approval_value_int(id));
	}
	text_add(&t, ", for ");
	add(&t, rule, "scope");
	if (*text_of(rule, "by")) {
		text_add(&t, ", by ");
		add(&t, rule, "by");
	}
	return field(o, "From", &t);
}

static int rules_show(const struct output *o, const struct approval_value *r)
{
	const struct approval_value *const rules = approval_value_get(r, "rules");
	int err = 0;

	for (size_t i = 0; !err && i < approval_value_count(rules); i++)
		err = rule_show(o, approval_value_at(rules, i));
	return err;
}

static int floor_show(const struct output *o, const struct approval_value *r)
{
	struct text t = {0};

	if (!*text_of(r, "floor"))
		return 0;
	add(&t, r, "floor");
	text_add(&t, ": ");
	add(&t, r, "about");
	if (*text_of(r, "what")) {
		text_add(&t, ", hit by ");
		add(&t, r, "what");
	}
	return field(o, "Floor", &t);
}

static int mode_show(const struct output *o, const struct approval_value *r)
{
	struct text t = {0};

	add(&t, r, "mode");
	if (*text_of(r, "ceiling")) {
		text_add(&t, ", at most ");
		add(&t, r, "ceiling");
	}
	return field(o, "Mode", &t);
}

static int paths_show(const struct output *o, const struct approval_value *r)
{
	const struct approval_value *const paths = approval_value_get(r, "paths");
	int err = 0;

	for (size_t i = 0; !err && i < approval_value_count(paths); i++) {
		const struct approval_value *const p = approval_value_at(paths, i);
		const char *const resolved = text_of(p, "resolved");
		struct text t = {0};

		add(&t, p, "path");
		if (!*resolved)
			text_add(&t, " (it is not known where it leads)");
		else if (strcmp(resolved, text_of(p, "path")) != 0)
			text_printf(&t, " = %s", resolved);
		if (*resolved)
			text_add(&t, approval_value_bool(approval_value_get(p, "inside"))
					     ? " (in the workspace)"
					     : " (outside of the workspace)");
		err = field(o, "Path", &t);
	}
	if (!err && approval_value_bool(approval_value_get(r, "timed_out")))
		output_printf(o, "The paths could not be resolved in time; a request would "
				 "be judged in the same way.\n");
	return err;
}

static void policies_add(struct text *t, const struct approval_value *r)
{
	const struct approval_value *const names = approval_value_get(r, "policies");

	for (size_t i = 0; i < approval_value_count(names); i++) {
		size_t len;
		const char *s = approval_value_str(approval_value_at(names, i), &len);

		text_add(t, i ? ", " : " ");
		text_addn(t, s, len);
	}
	if (approval_value_bool(approval_value_get(r, "policy_missing")))
		text_add(t, " (one is missing, which counts as ask)");
}

/* Each step on a line of its own. */
static int steps_show(const struct output *o, const struct approval_value *r)
{
	const struct approval_value *const path = approval_value_get(r, "path");
	struct text shown = {0};

	output_styled(o, STYLE_BOLD, "Steps:");
	output_printf(o, "\n");
	for (size_t i = 0; i < approval_value_count(path); i++) {
		const struct approval_value *const step = approval_value_at(path, i);
		struct text t = {0};

		text_printf(&t, "%-12s %s", text_of(step, "step"), text_of(step, "answer"));
		if (strcmp(text_of(step, "step"), "policy") == 0)
			policies_add(&t, r);
		text_add(&shown, "  ");
		text_terminal(&shown, text_string(&t), t.len, 0);
		text_add(&shown, "\n");
		shown.failed |= t.failed;
		text_free(&t);
	}
	return output_text(o, &shown);
}

static int answer_show(const struct ctl *c, const struct approval_value *r)
{
	const struct output *const o = &c->out;
	int err;

	if (c->json)
		return json_write_value(o, r);
	err = verdict_show(o, r);
	err = err ? err : rules_show(o, r);
	err = err ? err : floor_show(o, r);
	err = err ? err : member(o, "Message", r, "message");
	err = err ? err : mode_show(o, r);
	err = err ? err : member(o, "Directory", r, "cwd");
	err = err ? err : member(o, "Workspace", r, "workspace");
	err = err ? err : paths_show(o, r);
	return err ? err : steps_show(o, r);
}

/* ---- asking ---- */

static int explain_ask(struct ctl *c, const struct param *params, size_t n)
{
	struct approval_value *result = NULL;
	const char *verdict;
	int status = ctl_call(c, "explain", params, n, &result);

	if (status)
		return status;
	status = ctl_own(c, answer_show(c, result));
	verdict = text_of(result, "verdict");
	if (!status && strcmp(verdict, "allow") != 0)
		status = strcmp(verdict, "deny") == 0  ? STATUS_DENIED
			 : strcmp(verdict, "ask") == 0 ? STATUS_ASK
						       : ctl_broke(c, -EPROTO, NULL);
	approval_value_free(result);
	return status;
}

static int request_explain(struct ctl *c, const char *word)
{
	char *id = NULL;
	int status = ctl_resolve(c, word, "request", &id);

	if (!status) {
		const struct param params[] = {PARAM_TEXT("request", id)};

		status = explain_ask(c, params, 1);
	}
	free(id);
	return status;
}

/* A path of this process as the broker would have it. */
static int absolute(const char *cwd, const char *path, struct text *out)
{
	if (path && *path != '/')
		text_printf(out, "%s/", cwd);
	if (path)
		text_add(out, path);
	return out->failed ? -ENOMEM : 0;
}

static int call_explain(
	struct ctl *c, const struct explain_given *g, const struct ctl_request *q)
{
	struct text cwd = {0}, workspace = {0};
	struct approval_value *input = NULL;
	char *session = NULL;
	int status;

	/* a session's calls run where it is unless they say otherwise */
	status = ctl_own(c, absolute(q->cwd,
				    g->cwd	 ? g->cwd
				    : g->session ? NULL
						 : q->cwd,
				    &cwd));
	if (!status)
		status = ctl_own(c, absolute(q->cwd, g->workspace, &workspace));
	if (!status)
		status = ctl_own(c, approval_value_parse(q->r.input, q->r.input_len, &input));
	if (!status && g->session)
		status = ctl_resolve(c, g->session, "session", &session);
	if (!status) {
		const struct param params[] = {
			PARAM_TEXT("tool", g->tool ? g->tool : REQUEST_TOOL),
			PARAM_RAW("input", input),
			PARAM_TEXT("kind", g->kind),
			PARAM_TEXT("cwd", cwd.len ? text_string(&cwd) : NULL),
			PARAM_TEXT("workspace", workspace.len ? text_string(&workspace) : NULL),
			PARAM_TEXT("session", session),
			PARAM_TEXT("mode", g->mode),
			PARAM_INT("uid", g->uid),
		};

		status = explain_ask(c, params, sizeof(params) / sizeof(params[0]));
	}
	free(session);
	approval_value_free(input);
	text_free(&cwd);
	text_free(&workspace);
	return status;
}

int explain_line(struct ctl_request *q, char **words, int n)
{
	int r = request_words(q, words, n);

	if (r || n != 1)
		return r;
	approval_pack_reset(q->input);
	r = approval_pack_map(q->input, 1);
	r = r ? r : approval_pack_str(q->input, "command");
	r = r ? r : approval_pack_str(q->input, words[0]);
	q->r.input = approval_pack_data(q->input, &q->r.input_len);
	return r;
}

int explain_live(struct ctl *c, struct options *o, const struct explain_given *g)
{
	struct ctl_request q = {.cwd = NULL};
	const char *why = "";
	int status, r;

	if (g->request) {
		status = ctl_open_frontend(c);
		return status ? status : request_explain(c, g->request);
	}
	r = g->input ? request_json(&q, g->input, &why)
		     : explain_line(&q, g->words, g->n_words);
	if (r == -EINVAL && g->input)
		status = options_wrong(o, "the input is no JSON: %s", why);
	else
		status = ctl_own(c, r);
	if (!status)
		status = ctl_open_frontend(c);
	if (!status)
		status = call_explain(c, g, &q);
	request_free(&q);
	return status;
}
