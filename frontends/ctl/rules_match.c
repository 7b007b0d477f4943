/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/ctl/rules_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"
#include "frontends/common/table.h"
#include "libapproval/limits.h"

int match_open(struct match *m, struct ctl *c)
{
	int r;

	m->c = c;
	r = explainer_new(&m->x);
	if (!r)
		r = explain_rules_new(&m->one);
	if (!r)
		r = explain_rules_new(&m->all);
	return ctl_own(c, r);
}

void match_close(struct match *m)
{
	explain_rules_free(m->one);
	explain_rules_free(m->all);
	explainer_free(m->x);
	free(m->paths);
	free(m->rules);
	text_free(&m->whole);
	approval_value_free(m->live);
	items_free(&m->items);
}

/* ---- which rules ---- */

static int rule_add(struct match *m, const struct match_rule *rule)
{
	if (m->n == m->size) {
		const size_t size = m->size ? 2 * m->size : 64;
		struct match_rule *const rules = reallocarray(m->rules, size, sizeof(*rules));

		if (!rules)
			return -ENOMEM;
		m->rules = rules;
		m->size = size;
	}
	m->rules[m->n++] = *rule;
	return 0;
}

static int all_load(struct match *m)
{
	struct explain_problem problem;
	const struct bytes text = {text_string(&m->whole), m->whole.len};
	const int r = m->whole.failed ? -ENOMEM : explain_rules_load(m->all, text, &problem);

	if (r <= 0)
		return ctl_own(m->c, r);
	if (problem.line)
		ctl_say(m->c, "%s:%u:%u: %s", m->file, problem.line, problem.column,
			problem.text);
	else
		ctl_say(m->c, "%s: %s", m->file, problem.text);
	return STATUS_DATA;
}

static bool says_nothing(const char *line, size_t len)
{
	size_t i = 0;

	while (i < len && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
		i++;
	return i == len || line[i] == '#';
}

int match_file(struct match *m, const char *name, const char *text, size_t len)
{
	const char *at, *end;
	int status;

	m->file = name;
	text_addn(&m->whole, text, len);
	status = all_load(m);
	at = text_string(&m->whole);
	end = at + m->whole.len;
	for (uint32_t line = 1; !status && at < end; line++) {
		const char *const eol = memchr(at, '\n', (size_t)(end - at));
		const size_t n = (size_t)((eol ? eol : end) - at);

		if (!says_nothing(at, n))
			status = ctl_own(
				m->c, rule_add(m, &(struct match_rule){
							  .text = at, .len = n, .line = line}));
		at += n + (eol != NULL);
	}
	return status;
}

static const char *word(const struct approval_value *v, const char *key)
{
	return approval_value_text(v, key);
}

static bool flag(const struct approval_value *v, const char *key)
{
	return approval_value_bool(approval_value_get(v, key));
}

static bool same(const struct approval_value *a, const char *ka, const struct approval_value *b,
	const char *kb)
{
	return *word(a, ka) && strcmp(word(a, ka), word(b, kb)) == 0;
}

/* Whether a rule is for calls as the one that was explained. */
static bool is_for(const struct match *m, const struct approval_value *rule,
	const struct approval_value *session)
{
	const char *const scope = word(rule, "scope");
	const uint64_t uid = approval_value_uint(approval_value_get(rule, "uid"));

	if (flag(rule, "broken") || flag(rule, "untrusted"))
		return false;
	if (uid != UINT32_MAX && uid != approval_value_uint(approval_value_get(m->live, "uid")))
		return false;
	if (strcmp(scope, "project") == 0)
		return same(rule, "project", m->live, "workspace");
	if (strcmp(scope, "session") == 0)
		return same(rule, "session", m->live, "session");
	if (strcmp(scope, "turn") == 0)
		return same(rule, "turn", session, "turn");
	return true;
}

int match_in_force(struct match *m, const struct approval_value *session)
{
	int status = items_fetch(m->c, "rules_list", NULL, 0, &m->items);

	m->file = "rules in force";
	for (size_t i = 0; !status && i < m->items.n; i++) {
		const struct approval_value *const item = m->items.items[i];
		struct match_rule rule = {.item = item, .line = (uint32_t)m->n + 1};

		if (!is_for(m, item, session))
			continue;
		rule.text = approval_value_str(approval_value_get(item, "rule"), &rule.len);
		text_addn(&m->whole, rule.text, rule.len);
		text_add(&m->whole, "\n");
		status = ctl_own(m->c, rule_add(m, &rule));
	}
	return status ? status : all_load(m);
}

/* ---- the call ---- */

static struct bytes bytes_or_none(const char *text)
{
	return text && *text ? bytes_of(text) : (struct bytes){NULL, 0};
}

void match_call(struct match *m, const char *tool, const void *input, size_t len)
{
	m->call.tool = bytes_of(tool);
	m->call.input = (struct bytes){input, len};
}

void match_place(struct match *m, const char *cwd, const char *workspace, const char *home)
{
	m->call.cwd = bytes_or_none(cwd);
	m->call.workspace = bytes_or_none(workspace);
	m->call.home = bytes_or_none(home);
}

static struct bytes bytes_of_value(const struct approval_value *map, const char *key)
{
	const struct approval_value *const v = approval_value_get(map, key);
	size_t len;
	const char *const text = approval_value_str(v, &len);

	return approval_value_type(v) == APPROVAL_NIL ? (struct bytes){NULL, 0}
						      : (struct bytes){text, len};
}

int match_place_live(struct match *m)
{
	const struct approval_value *const paths = approval_value_get(m->live, "paths");
	const size_t n = approval_value_count(paths);

	match_place(m, word(m->live, "cwd"), word(m->live, "workspace"), getenv("HOME"));
	m->paths = calloc(n + 1, sizeof(*m->paths));
	if (!m->paths)
		return ctl_own(m->c, -ENOMEM);
	for (size_t i = 0; i < n; i++) {
		const struct approval_value *const p = approval_value_at(paths, i);

		m->paths[i] = (struct explain_path){bytes_of_value(p, "path"),
			bytes_of_value(p, "resolved"), flag(p, "inside")};
	}
	m->call.paths = m->paths;
	m->call.n_paths = (unsigned)n;
	m->call.resolved = true;
	return STATUS_OK;
}

/* ---- the answer ---- */

static const char *verdict_of(const struct explain_match *r)
{
	return r->deny ? "deny" : r->ask || r->doubt ? "ask" : r->allow ? "allow" : NULL;
}

static int rule_try(struct match *m, struct match_rule *rule)
{
	struct explain_rules *const sets[] = {m->one};
	struct explain_problem problem;
	struct explain_match result;
	int r = explain_rules_load(m->one, (struct bytes){rule->text, rule->len}, &problem);

	/* it was part of all of them */
	if (r == 1)
		return -EINVAL;
	if (!r)
		r = explainer_match(m->x, &m->call, sets, 1, &result);
	if (!r)
		rule->verdict = result.doubt ? NULL : verdict_of(&result);
	return r;
}

int match_run(struct match *m)
{
	struct explain_rules *const sets[] = {m->all};
	int r = explainer_match(m->x, &m->call, sets, 1, &m->result);

	if (r == -EINVAL) {
		ctl_say(m->c, "the folder, the workspace or the home is no absolute path");
		return STATUS_USAGE;
	}
	for (size_t i = 0; !r && i < m->n; i++)
		r = rule_try(m, &m->rules[i]);
	return ctl_own(m->c, r);
}

/* The rule of all that decides; NULL: none, or nobody knows. */
static const struct match_rule *deciding(const struct match *m)
{
	const struct explain_match *const r = &m->result;
	const uint32_t line = r->deny ? r->deny : r->ask ? r->ask : r->doubt ? 0 : r->allow;

	for (size_t i = 0; line && i < m->n; i++)
		if (m->rules[i].line == line)
			return &m->rules[i];
	return NULL;
}

static void from_add(struct text *t, const struct match *m, const struct match_rule *rule)
{
	if (!rule->item)
		text_printf(t, "%s:%u", m->file, rule->line);
	else if (*word(rule->item, "file"))
		text_printf(t, "%s:%lld", word(rule->item, "file"),
			(long long)approval_value_int(approval_value_get(rule->item, "line")));
	else
		text_printf(t, "standing rule %lld",
			(long long)approval_value_int(approval_value_get(rule->item, "id")));
}

static void row(struct table *t, const struct match *m, const struct match_rule *rule)
{
	struct text from = {0};

	table_cell(t, rule->verdict);
	table_cell_styled(t, rule->text, rule->len, STYLE_PLAIN);
	from_add(&from, m, rule);
	table_cell_styled(t, text_string(&from), from.len, STYLE_PLAIN);
	text_free(&from);
}

static int table_show(const struct match *m)
{
	static const struct table_column columns[] = {
		{"SAYS", 0, 0, 0}, {"RULE", TABLE_SHRINK, 0, 24}, {"FROM", TABLE_SHRINK, 1, 0}};
	struct table *t;
	int r = table_new(&t, columns, sizeof(columns) / sizeof(columns[0]));

	if (r)
		return r;
	for (size_t i = 0; i < m->n; i++)
		if (m->rules[i].verdict)
			row(t, m, &m->rules[i]);
	if (table_rows(t))
		r = table_print(t, &m->c->out);
	table_free(t);
	return r;
}

static int summary_show(const struct match *m)
{
	const struct match_rule *const rule = deciding(m);
	const char *const verdict = verdict_of(&m->result);
	struct text raw = {0}, shown = {0};

	text_printf(&raw, "By the rules: %s", verdict ? verdict : "nothing is said");
	if (m->result.doubt && !m->result.deny)
		text_add(&raw, ", since it was too much to be compared");
	else if (rule && strcmp(verdict, "allow") == 0 && !rule->verdict)
		text_add(&raw, ", by several rules together");
	if (m->live)
		text_printf(&raw, ". With floor, mode and policies: %s (%s: %s)",
			word(m->live, "verdict"), word(m->live, "step"), word(m->live, "why"));
	text_terminal(&shown, text_string(&raw), raw.len, 0);
	text_add(&shown, "\n");
	shown.failed |= raw.failed;
	text_free(&raw);
	return output_text(&m->c->out, &shown);
}

static struct json_object *rule_json(
	const struct match *m, const struct match_rule *rule, int *r)
{
	struct json_object *const map = json_object_new_object();
	struct text line = {0};

	if (!map)
		*r = -ENOMEM;
	text_utf8(&line, rule->text, rule->len);
	json_add_text(map, "verdict", rule->verdict, r);
	json_add_text(map, "rule", text_string(&line), r);
	text_free(&line);
	if (rule->item) {
		json_add_value(map, "from", rule->item, r);
	} else {
		json_add_text(map, "file", m->file, r);
		json_add(map, "line", json_object_new_int64(rule->line), r);
	}
	return map;
}

static int json_show(const struct match *m)
{
	const struct match_rule *const rule = deciding(m);
	struct json_object *const map = json_object_new_object();
	struct json_object *const matches = json_object_new_array();
	int r = map && matches ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < m->n; i++)
		if (m->rules[i].verdict &&
			json_object_array_add(matches, rule_json(m, &m->rules[i], &r)))
			r = -ENOMEM;
	json_add_text(map, "verdict", verdict_of(&m->result), &r);
	json_add(map, "rule", rule ? rule_json(m, rule, &r) : NULL, &r);
	json_add(map, "doubt", json_object_new_boolean(m->result.doubt), &r);
	json_add(map, "matches", matches, &r);
	if (m->live)
		json_add_value(map, "explain", m->live, &r);
	if (!r)
		r = json_write(&m->c->out, map);
	json_object_put(map);
	return r;
}

int match_show(const struct match *m)
{
	const char *const verdict = verdict_of(&m->result);
	int r;

	if (m->c->json) {
		r = json_show(m);
	} else {
		r = table_show(m);
		r = r ? r : summary_show(m);
	}
	if (r)
		return ctl_own(m->c, r);
	return !verdict			       ? STATUS_FAILED
	       : strcmp(verdict, "allow") == 0 ? STATUS_OK
	       : strcmp(verdict, "deny") == 0  ? STATUS_DENIED
					       : STATUS_ASK;
}
