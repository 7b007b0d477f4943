/* SPDX-License-Identifier: MIT */
/* explain --offline: what rules, floor and mode say of calls, without a broker. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/io/explain.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/explain.h"
#include "libapproval/limits.h"

#define LINE_MAX_BYTES (2u * LIMIT_INPUT + LIMIT_RULE_FILE)

struct explain_run {
	struct ctl *c;
	struct explainer *x;
	struct approval_pack *pack;
	struct text rules; /* that are in force; see rules_set */
	bool loaded;
};

/* ---- one line in ---- */

static struct bytes member(struct json_object *map, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(map, key, &v) ||
		json_object_get_type(v) != json_type_string)
		return (struct bytes){NULL, 0};
	return (struct bytes){json_object_get_string(v), (size_t)json_object_get_string_len(v)};
}

/* The text that is to be loaded: an array of lines, or one text; 1: neither. */
static int rules_text(struct json_object *map, struct text *out)
{
	struct json_object *v;

	if (!json_object_object_get_ex(map, "rules", &v) || !v)
		return 0;
	if (json_object_get_type(v) == json_type_string) {
		text_addn(
			out, json_object_get_string(v), (size_t)json_object_get_string_len(v));
		return out->failed ? -ENOMEM : 0;
	}
	if (json_object_get_type(v) != json_type_array)
		return 1;
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		struct json_object *line = json_object_array_get_idx(v, i);

		if (json_object_get_type(line) != json_type_string)
			return 1;
		text_addn(out, json_object_get_string(line),
			(size_t)json_object_get_string_len(line));
		text_add(out, "\n");
	}
	return out->failed ? -ENOMEM : 0;
}

/* Rules that stay the same are not loaded again. 1: they do not load. */
static int rules_set(
	struct explain_run *r, struct json_object *map, struct explain_problem *problem)
{
	struct text text = {0};
	int err = rules_text(map, &text);

	if (err == 1)
		*problem = (struct explain_problem){
			0, 0, "rules is an array of lines, or one text"};
	if (err == 0 && r->loaded && text.len == r->rules.len &&
		memcmp(text_string(&text), text_string(&r->rules), text.len) == 0)
		goto out;
	if (err == 0)
		err = explainer_rules(
			r->x, (struct bytes){text_string(&text), text.len}, problem);
	if (err == 0) {
		text_free(&r->rules);
		r->rules = text;
		r->loaded = true;
		return 0;
	}
out:
	text_free(&text);
	return err;
}

static int call_read(struct explain_run *r, struct json_object *map, struct explain_call *call)
{
	struct json_object *input;
	size_t len = 0;
	int err;

	*call = (struct explain_call){.tool = member(map, "tool"),
		.cwd = member(map, "cwd"),
		.workspace = member(map, "workspace"),
		.home = member(map, "home"),
		.mode = member(map, "mode")};
	if (!json_object_object_get_ex(map, "input", &input) || !input)
		return 0;
	approval_pack_reset(r->pack);
	err = json_to_pack(input, r->pack);
	if (err)
		return err;
	call->input.data = approval_pack_data(r->pack, &len);
	call->input.len = len;
	return 0;
}

/* ---- one line out ---- */

static int text_put(struct json_object *map, const char *key, struct bytes text)
{
	struct text visible = {0};
	int r = 0;

	if (!text.data) {
		json_add(map, key, NULL, &r);
		return r;
	}
	text_terminal(&visible, text.data, text.len, 0);
	json_add_text(map, key, text_string(&visible), &r);
	text_free(&visible);
	return r;
}

static int answer_write(const struct ctl *c, const struct explanation *e)
{
	struct json_object *map = json_object_new_object(), *path = json_object_new_array();
	int r = map && path ? 0 : -ENOMEM;

	for (unsigned i = 0; !r && i < e->n; i++) {
		struct json_object *step = json_object_new_object();

		if (!step || json_object_array_add(path, step))
			r = -ENOMEM;
		json_add_text(step, "step", e->path[i].step, &r);
		json_add_text(step, "answer", e->path[i].answer, &r);
	}
	json_add_text(map, "verdict", e->verdict, &r);
	json_add_text(map, "source", e->source, &r);
	if (!r)
		r = text_put(map, "rule", bytes_of(e->rule));
	json_add_text(map, "step", e->step, &r);
	json_add_text(map, "floor", e->floor, &r);
	json_add_text(map, "about", e->about, &r);
	if (!r)
		r = text_put(map, "what", e->what);
	json_add_text(map, "message", e->message, &r);
	json_add(map, "path", path, &r);
	if (!r)
		r = json_write(&c->out, map);
	json_object_put(map);
	return r;
}

static int problem_write(const struct ctl *c, const struct explain_problem *p)
{
	struct explanation e = {.verdict = "error"};
	struct text text = {0};
	int r;

	if (p->line)
		text_printf(&text, "rule %u, column %u: ", p->line, p->column);
	text_add(&text, p->text);
	e.message = text_string(&text);
	r = text.failed ? -ENOMEM : answer_write(c, &e);
	text_free(&text);
	return r;
}

static int line_explain(struct explain_run *r, const char *line)
{
	struct explain_problem problem = {0, 0, "no JSON object"};
	struct json_object *map = NULL;
	struct explain_call call;
	struct explanation e;
	int err = json_parse(line, &map, &problem.text);

	if (err == 0 && json_object_get_type(map) != json_type_object)
		err = -EINVAL;
	if (err == 0)
		err = rules_set(r, map, &problem);
	if (err == 0)
		err = call_read(r, map, &call);
	if (err == 0) {
		err = explain(r->x, &call, &e);
		problem.text =
			"cwd, workspace or home is no absolute path, or there is no such mode";
	}
	if (err == 0)
		err = answer_write(r->c, &e);
	else if (err == 1 || err == -EINVAL)
		err = problem_write(r->c, &problem);
	json_object_put(map);
	return err;
}

static int lines_explain(struct explain_run *r)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = getline(&line, &size, stdin)) >= 0) {
		if ((size_t)n > LINE_MAX_BYTES) {
			const struct explain_problem p = {0, 0, "the line is too long"};

			err = problem_write(r->c, &p);
		} else if (strspn(line, " \t\r\n") != (size_t)n) {
			err = line_explain(r, line);
		}
	}
	free(line);
	return err ? err : ferror(stdin) ? -EIO : 0;
}

int explain_offline(struct ctl *c)
{
	struct explain_run r = {.c = c};
	int err = explainer_new(&r.x);

	/* whoever asks line by line waits for each answer before it asks again */
	setvbuf(c->out.file, NULL, _IOLBF, 0);
	if (!err)
		err = approval_pack_new(&r.pack);
	if (!err)
		err = lines_explain(&r);
	explainer_free(r.x);
	approval_pack_free(r.pack);
	text_free(&r.rules);
	return ctl_own(c, err);
}
