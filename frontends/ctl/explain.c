/* SPDX-License-Identifier: MIT */
/* explain: what would be said of a call, and why */
#include "config.h"

#include "frontends/ctl/explain.h"
#include "frontends/ctl/item.h"
#include "frontends/ctl/request.h"

enum {
	OPTION_OFFLINE = OPTION_OTHER,
	OPTION_STDIN,
	OPTION_REQUEST,
	OPTION_MODE,
	OPTION_KIND,
	OPTION_INPUT,
	OPTION_CWD,
	OPTION_WORKSPACE,
	OPTION_UID,
};

const struct option_def ctl_explain_options[] = {
	{OPTION_SESSION, "session", "SESSION", "as a call of this session"},
	{OPTION_MODE, "mode", "MODE", "as if this were the mode"},
	{OPTION_TOOL, "tool", "NAME", "the tool (default: " REQUEST_TOOL ")"},
	{OPTION_INPUT, "input", "JSON", "its input, instead of a command line"},
	{OPTION_KIND, "kind", "KIND", "what the agent would say that it is"},
	{OPTION_CWD, "cwd", "FOLDER",
		"where it would run (default: here; of a session: its own)"},
	{OPTION_WORKSPACE, "workspace", "FOLDER",
		"without a session: the workspace (default: as a session would have it)"},
	{OPTION_UID, "uid", "UID", "without a session: whose call (default: one's own)"},
	{OPTION_REQUEST, "request", "ID", "a request that waits, as it was shown"},
	{OPTION_OFFLINE, "offline", NULL,
		"without a broker, with the rules that the input names"},
	{OPTION_STDIN, "stdin", NULL,
		"read JSON lines {rules, mode, tool, input, cwd, workspace, home}"},
	OPTION_DEF_JSON,
	{0},
};

/* What does not go together; NULL: nothing. */
static const char *given_wrong(const struct explain_given *g)
{
	if (g->request)
		return g->session || g->mode || g->tool || g->kind || g->input || g->cwd ||
				       g->workspace || g->uid >= 0 || g->n_words
			       ? "--request goes alone"
			       : NULL;
	if (g->session && (g->workspace || g->uid >= 0))
		return "a session has its own workspace and user";
	if (!g->input == !g->n_words)
		return g->input ? "either --input or a command line"
				: "a command line, --input or --request is missing";
	return NULL;
}

int ctl_explain(void *ctl, struct options *o)
{
	static const char *const kinds[] = {"read", "edit", "delete", "move", "search",
		"execute", "fetch", "think", "other", NULL};
	struct explain_given g = {.uid = -1};
	bool offline = false, lines = false;
	const char *wrong;
	uint64_t uid;
	int key;

	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_SESSION: g.session = o->value; break;
		case OPTION_MODE:
			g.mode = o->value;
			if (options_word(o, g.mode, item_modes))
				return STATUS_USAGE;
			break;
		case OPTION_TOOL: g.tool = o->value; break;
		case OPTION_INPUT: g.input = o->value; break;
		case OPTION_KIND:
			g.kind = o->value;
			if (options_word(o, g.kind, kinds))
				return STATUS_USAGE;
			break;
		case OPTION_CWD: g.cwd = o->value; break;
		case OPTION_WORKSPACE: g.workspace = o->value; break;
		case OPTION_REQUEST: g.request = o->value; break;
		case OPTION_UID:
			if (options_number(o, o->value, UINT32_MAX - 1, &uid))
				return STATUS_USAGE;
			g.uid = (int64_t)uid;
			break;
		case OPTION_OFFLINE: offline = true; break;
		case OPTION_STDIN: lines = true; break;
		default: ctl_option(ctl, o, key);
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	g.words = o->operands;
	g.n_words = o->n_operands;
	if (offline || lines) {
		if (!offline || !lines || o->n_operands)
			return options_wrong(o, "--offline and --stdin go together, alone");
		return explain_offline(ctl);
	}
	wrong = given_wrong(&g);
	return wrong ? options_wrong(o, "%s", wrong) : explain_live(ctl, o, &g);
}
