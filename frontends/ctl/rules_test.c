/* SPDX-License-Identifier: MIT */
/* rules test: what each rule says of one call, of a file or of those in force */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/json.h"
#include "frontends/ctl/explain.h"
#include "frontends/ctl/rules_match.h"
#include "frontends/ctl/trust.h"
#include "libapproval/limits.h"

enum {
	OPTION_RULES = OPTION_OTHER,
	OPTION_PATH,
	OPTION_URL,
	OPTION_INPUT,
	OPTION_CWD,
	OPTION_WORKSPACE,
};

const struct option_def ctl_rules_test_options[] = {
	{OPTION_RULES, "rules", "FILE", "the rules of a file, without a broker; - reads them"},
	{OPTION_TOOL, "tool", "NAME",
		"the tool (default: as the rest says, or " REQUEST_TOOL ")"},
	{OPTION_PATH, "path", "PATH", "the file that it is for (default tool: Read)"},
	{OPTION_URL, "url", "URL", "what it fetches (default tool: WebFetch)"},
	{OPTION_INPUT, "input", "JSON", "its whole input"},
	{OPTION_SESSION, "session", "SESSION", "as a call of this session"},
	{OPTION_CWD, "cwd", "FOLDER", "where it would run (default: here)"},
	{OPTION_WORKSPACE, "workspace", "FOLDER",
		"the workspace (default: as of an agent there)"},
	OPTION_DEF_SOCKET,
	OPTION_DEF_JSON,
	{0},
};

struct test {
	struct ctl *c;
	struct options *o;
	const char *rules, *tool, *path, *url, *input, *session, *cwd, *workspace;
	struct ctl_request q;
	struct text input_json;
	char *folder, *project, *home; /* of a file's rules; absolute */
	struct match m;
};

/* ---- the call ---- */

/* Of agents' tools, the member that holds what is read or changed. */
static const char *path_member(const char *tool)
{
	static const char *const others[][2] = {{"Grep", "path"}, {"Glob", "path"},
		{"LS", "path"}, {"NotebookEdit", "notebook_path"},
		{"NotebookRead", "notebook_path"}};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(tool, others[i][0]) == 0)
			return others[i][1];
	return "file_path";
}

static int one_member(struct test *t, const char *key, const char *value)
{
	struct json_object *map = json_object_new_object();
	const char *why;
	int r = map ? 0 : -ENOMEM;

	json_add_text(map, key, value, &r);
	if (!r)
		text_add(&t->input_json,
			json_object_to_json_string_ext(map, JSON_C_TO_STRING_PLAIN));
	json_object_put(map);
	if (!r)
		r = t->input_json.failed ? -ENOMEM : 0;
	return r ? r : request_json(&t->q, text_string(&t->input_json), &why);
}

static int call_make(struct test *t)
{
	const char *why = "it is none";
	int r;

	if (!t->tool)
		t->tool = t->path ? "Read" : t->url ? "WebFetch" : REQUEST_TOOL;
	if (t->path)
		r = one_member(t, path_member(t->tool), t->path);
	else if (t->url)
		r = one_member(t, "url", t->url);
	else if (t->input)
		r = request_json(&t->q, t->input, &why);
	else
		r = explain_line(&t->q, t->o->operands, t->o->n_operands);
	if (r == -EINVAL)
		return options_wrong(t->o, "the input is no JSON: %s", why);
	return ctl_own(t->c, r);
}

/* ---- of a file ---- */

static int rules_read(struct test *t, struct text *out)
{
	const bool standard = strcmp(t->rules, "-") == 0;
	const int fd =
		standard ? STDIN_FILENO : open(t->rules, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char buffer[8192];
	ssize_t n = -1;

	if (fd >= 0)
		while ((n = read(fd, buffer, sizeof(buffer))) > 0 &&
			out->len <= LIMIT_RULE_FILE)
			text_addn(out, buffer, (size_t)n);
	if (n < 0)
		ctl_say(t->c, "%s: %s", t->rules, strerror(errno));
	if (fd >= 0 && !standard)
		close(fd);
	return n < 0 ? STATUS_NO_INPUT : ctl_own(t->c, out->failed ? -ENOMEM : 0);
}

static int place_find(struct test *t)
{
	const char *const home = getenv("HOME");
	int r = 0;

	t->folder = realpath(t->cwd ? t->cwd : ".", NULL);
	if (!t->folder)
		r = -errno;
	if (!r && t->workspace) {
		t->project = realpath(t->workspace, NULL);
		r = t->project ? 0 : -errno;
	} else if (!r) {
		r = trust_project(t->folder, &t->project);
		if (r == 1) {
			free(t->project);
			t->project = NULL;
			r = 0;
		}
	}
	t->home = home && *home == '/' ? strdup(home) : NULL;
	if (r)
		ctl_say(t->c, "%s: %s",
			t->workspace && t->folder ? t->workspace
			: t->cwd		  ? t->cwd
						  : ".",
			strerror(-r));
	return r == -ENOMEM ? STATUS_INTERNAL : r ? STATUS_NO_INPUT : STATUS_OK;
}

static int file_test(struct test *t)
{
	struct text text = {0};
	int status = rules_read(t, &text);

	if (!status)
		status = place_find(t);
	if (!status)
		status = match_open(&t->m, t->c);
	if (!status)
		status = match_file(&t->m, t->rules, text_string(&text), text.len);
	if (!status) {
		match_call(&t->m, t->tool, t->q.r.input, t->q.r.input_len);
		match_place(&t->m, t->folder, t->project, t->home);
		status = match_run(&t->m);
	}
	text_free(&text);
	return status;
}

/* ---- of those in force ---- */

/* A path of this process as the broker would have it. */
static int absolute(const struct test *t, const char *path, struct text *out)
{
	if (path && *path != '/')
		text_printf(out, "%s/", t->q.cwd);
	if (path)
		text_add(out, path);
	return out->failed ? -ENOMEM : 0;
}

static int live_explain(struct test *t, const char *session)
{
	struct text cwd = {0}, workspace = {0};
	struct approval_value *input = NULL;
	int status;

	status = ctl_own(t->c, absolute(t, t->cwd ? t->cwd : session ? NULL : t->q.cwd, &cwd));
	if (!status)
		status = ctl_own(t->c, absolute(t, t->workspace, &workspace));
	if (!status)
		status = ctl_own(
			t->c, approval_value_parse(t->q.r.input, t->q.r.input_len, &input));
	if (!status) {
		const struct param params[] = {
			PARAM_TEXT("tool", t->tool),
			PARAM_RAW("input", input),
			PARAM_TEXT("cwd", cwd.len ? text_string(&cwd) : NULL),
			PARAM_TEXT("workspace", workspace.len ? text_string(&workspace) : NULL),
			PARAM_TEXT("session", session),
		};

		status = ctl_call(t->c, "explain", params, sizeof(params) / sizeof(params[0]),
			&t->m.live);
	}
	approval_value_free(input);
	text_free(&cwd);
	text_free(&workspace);
	return status;
}

static int session_find(struct test *t, char **id, struct approval_value **item)
{
	int status;

	if (!t->session)
		return STATUS_OK;
	status = ctl_resolve(t->c, t->session, "session", id);
	if (!status) {
		const struct param params[] = {PARAM_TEXT("id", *id)};

		status = ctl_call(t->c, "get", params, 1, item);
	}
	return status;
}

static int live_test(struct test *t)
{
	struct approval_value *session = NULL;
	char *id = NULL;
	int status = ctl_open_frontend(t->c);

	if (!status)
		status = session_find(t, &id, &session);
	if (!status)
		status = live_explain(t, id);
	if (!status)
		status = match_open(&t->m, t->c);
	if (!status)
		status = match_in_force(&t->m, approval_value_get(session, "item"));
	if (!status) {
		match_call(&t->m, t->tool, t->q.r.input, t->q.r.input_len);
		status = match_place_live(&t->m);
	}
	if (!status)
		status = match_run(&t->m);
	approval_value_free(session);
	free(id);
	return status;
}

/* ---- options ---- */

static const char *given_wrong(const struct test *t)
{
	const bool command = t->o->n_operands > 0;
	const int n = command + (t->path != NULL) + (t->url != NULL) + (t->input != NULL);

	if (n != 1)
		return n ? "one of a command line, --path, --url and --input"
			 : "a command line, --path, --url or --input is missing";
	if (t->session && t->workspace)
		return "a session has its own workspace";
	if (t->session && t->rules)
		return "--session is of a broker, --rules of a file";
	return NULL;
}

static int test_run(struct test *t)
{
	int status = call_make(t);

	if (!status)
		status = t->rules ? file_test(t) : live_test(t);
	if (!status)
		status = match_show(&t->m);
	match_close(&t->m);
	request_free(&t->q);
	text_free(&t->input_json);
	free(t->folder);
	free(t->project);
	free(t->home);
	return status;
}

int ctl_rules_test(void *ctl, struct options *o)
{
	struct test t = {.c = ctl, .o = o};
	const char *wrong;
	int key;

	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_RULES: t.rules = o->value; break;
		case OPTION_TOOL: t.tool = o->value; break;
		case OPTION_PATH: t.path = o->value; break;
		case OPTION_URL: t.url = o->value; break;
		case OPTION_INPUT: t.input = o->value; break;
		case OPTION_SESSION: t.session = o->value; break;
		case OPTION_CWD: t.cwd = o->value; break;
		case OPTION_WORKSPACE: t.workspace = o->value; break;
		default: ctl_option(t.c, o, key);
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	wrong = given_wrong(&t);
	return wrong ? options_wrong(o, "%s", wrong) : test_run(&t);
}
