/* SPDX-License-Identifier: MIT */
#include "broker/core/tool.h"

/*
 * Where the names and fields come from:
 *
 * Claude Code 2.1: its "Tools reference" (code.claude.com/docs/en/tools-reference)
 * and inputs captured from its hooks. MultiEdit, LS, TodoRead, Task, BashOutput and
 * KillShell are names of earlier versions. approvalctl's own calls are its Bash.
 * Codex 0.171: the tools that codex-rs/core gives the model, and inputs captured
 * from its hooks, which call the shell Bash too. apply_patch is a function with the
 * field `input`, or a free text without a map, or in hooks the field `command`.
 * Gemini CLI 0.61: packages/core/src/tools/definitions, and the field names of
 * earlier versions (absolute_path, path, directory).
 * OpenCode 1.18: opencode.ai/docs/tools, of V1 and V2 (which renames bash to shell
 * and filePath to path).
 * Agent Client Protocol 1: where an agent gives a tool call no name of its own, the
 * kind stands for it; so these know the fields of all the others.
 *
 * A tool that is not here is `other` and mutating, so whatever only a person should
 * let pass (sub-agents by other names, skills, schedules, memories, PowerShell,
 * everything of an MCP server) needs no line.
 *
 * The lists of fields are the same for all tools that take a path, or a command:
 * an input can then hold nothing beside the field that its agent reads which is
 * taken for it here.
 */
#define FIELD(text, role_)                                                                     \
	{                                                                                      \
		.name = (text), .len = sizeof(text) - 1, .role = TOOL_##role_                  \
	}
#define END                                                                                    \
	{                                                                                      \
		.len = 0                                                                       \
	}

/* clang-format off */
#define PATH_FIELDS FIELD("file_path", PATH), FIELD("filePath", PATH),                         \
	FIELD("path", PATH), FIELD("absolute_path", PATH), FIELD("notebook_path", PATH),       \
	FIELD("dir_path", PATH), FIELD("directory", PATH), FIELD("file", PATH)

static const struct tool_field nothing[] = {END};

static const struct tool_field command[] = {
	FIELD("command", COMMAND), FIELD("cmd", COMMAND),
	/* where it runs */
	FIELD("workdir", PATH), FIELD("cwd", PATH), FIELD("directory", PATH),
	FIELD("dir_path", PATH), FIELD("working_directory", PATH),
	/* what runs it, and with what */
	FIELD("shell", OPAQUE), FIELD("env", OPAQUE), END};

static const struct tool_field path[] = {PATH_FIELDS, FIELD("paths", PATH), END};

static const struct tool_field two_paths[] = {PATH_FIELDS, FIELD("paths", PATH),
	FIELD("source", PATH), FIELD("destination", PATH), FIELD("from", PATH),
	FIELD("to", PATH), FIELD("old_path", PATH), FIELD("new_path", PATH), END};

/* finds names: the pattern is a glob */
static const struct tool_field names[] = {PATH_FIELDS, FIELD("paths", PATH),
	FIELD("pattern", PATTERN), FIELD("glob", PATTERN), FIELD("include", PATTERN),
	FIELD("include_pattern", PATTERN), END};

/* finds content: the pattern is a regular expression, a glob only chooses the files */
static const struct tool_field content[] = {PATH_FIELDS, FIELD("paths", PATH),
	FIELD("glob", PATTERN), FIELD("include", PATTERN), FIELD("include_pattern", PATTERN),
	END};

static const struct tool_field files[] = {PATH_FIELDS, FIELD("paths", FILES),
	FIELD("include", FILES), END};

static const struct tool_field patch[] = {FIELD("input", PATCH), FIELD("patch", PATCH),
	FIELD("patchText", PATCH), FIELD("command", PATCH), FIELD("workdir", PATH), END};

static const struct tool_field url[] = {FIELD("url", URL), END};

#define NEEDS(role) (1u << TOOL_##role)
#define RUNS        KIND_EXECUTE, TOOL_MUTATES, NEEDS(COMMAND), command
#define READS       KIND_READ, 0, NEEDS(PATH), path
#define READS_MANY  KIND_READ, 0, NEEDS(FILES), files
#define LISTS       KIND_SEARCH, 0, NEEDS(PATH), path
#define LISTS_CWD   KIND_SEARCH, TOOL_CWD, 0, path
#define FINDS       KIND_SEARCH, TOOL_CWD, NEEDS(PATTERN), names
#define GREPS       KIND_SEARCH, TOOL_CWD | TOOL_CONTENT, 0, content
#define EDITS       KIND_EDIT, TOOL_MUTATES, NEEDS(PATH), path
#define PATCHES     KIND_EDIT, TOOL_MUTATES, NEEDS(PATCH), patch
#define FETCHES     KIND_FETCH, 0, NEEDS(URL), url
#define ASKS_WEB    KIND_FETCH, 0, 0, url
/* stops or feeds what was approved when it started */
#define STEERS      KIND_EXECUTE, TOOL_MUTATES, 0, nothing
/* changes only the agent's own notes, or shows what an approved command printed */
#define HARMLESS    KIND_THINK, TOOL_HARMLESS, 0, nothing
/* its own calls are asked one by one */
#define SUB_AGENT   KIND_THINK, 0, 0, nothing
/* for a person to answer, in plan mode too */
#define TALKS       KIND_OTHER, 0, 0, nothing

/* Sorted by strcmp. */
static const struct tool tools[] = {
	{"Agent", SUB_AGENT},                /* Claude Code */
	{"AskUserQuestion", TALKS},          /* Claude Code */
	{"Bash", RUNS},                      /* Claude Code, Codex's hooks, approvalctl */
	{"BashOutput", HARMLESS},            /* Claude Code */
	{"Edit", EDITS},                     /* Claude Code */
	{"EnterPlanMode", TALKS},            /* Claude Code */
	{"ExitPlanMode", TALKS},             /* Claude Code */
	{"Glob", FINDS},                     /* Claude Code */
	{"Grep", GREPS},                     /* Claude Code */
	{"KillShell", STEERS},               /* Claude Code */
	{"LS", LISTS},                       /* Claude Code */
	{"LSP", READS},                      /* Claude Code */
	{"Monitor", RUNS},                   /* Claude Code */
	{"MultiEdit", EDITS},                /* Claude Code */
	{"NotebookEdit", EDITS},             /* Claude Code */
	{"NotebookRead", READS},             /* Claude Code */
	{"Read", READS},                     /* Claude Code */
	{"Task", SUB_AGENT},                 /* Claude Code */
	{"TaskCreate", HARMLESS},            /* Claude Code */
	{"TaskGet", HARMLESS},               /* Claude Code */
	{"TaskList", HARMLESS},              /* Claude Code */
	{"TaskOutput", HARMLESS},            /* Claude Code */
	{"TaskStop", STEERS},                /* Claude Code */
	{"TaskUpdate", HARMLESS},            /* Claude Code */
	{"TodoRead", HARMLESS},              /* Claude Code */
	{"TodoWrite", HARMLESS},             /* Claude Code */
	{"ToolSearch", HARMLESS},            /* Claude Code: looks among its own tools */
	{"WebFetch", FETCHES},               /* Claude Code */
	{"WebSearch", ASKS_WEB},             /* Claude Code */
	{"Write", EDITS},                    /* Claude Code */
	{"apply_patch", PATCHES},            /* Codex, OpenCode */
	{"ask_user", TALKS},                 /* Gemini CLI */
	{"bash", RUNS},                      /* OpenCode */
	{"codesearch", ASKS_WEB},            /* OpenCode */
	{"delete", KIND_DELETE, TOOL_MUTATES, NEEDS(PATH), path}, /* ACP */
	{"edit", EDITS},                     /* OpenCode, ACP */
	{"enter_plan_mode", TALKS},          /* Gemini CLI */
	{"exec_command", RUNS},              /* Codex */
	{"execute", RUNS},                   /* ACP */
	{"exit_plan_mode", TALKS},           /* Gemini CLI */
	{"fetch", ASKS_WEB},                 /* ACP */
	{"glob", FINDS},                     /* Gemini CLI, OpenCode */
	{"google_web_search", ASKS_WEB},     /* Gemini CLI */
	{"grep", GREPS},                     /* OpenCode */
	{"grep_files", GREPS},               /* Codex */
	{"grep_search", GREPS},              /* Gemini CLI */
	{"list", LISTS_CWD},                 /* OpenCode */
	{"list_dir", LISTS},                 /* Codex */
	{"list_directory", LISTS},           /* Gemini CLI */
	{"local_shell", RUNS},               /* Codex */
	{"lsp", READS},                      /* OpenCode */
	{"move", KIND_MOVE, TOOL_MUTATES, NEEDS(PATH), two_paths}, /* ACP */
	{"multiedit", EDITS},                /* OpenCode */
	{"patch", PATCHES},                  /* OpenCode */
	{"plan_enter", TALKS},               /* OpenCode */
	{"plan_exit", TALKS},                /* OpenCode */
	{"question", TALKS},                 /* OpenCode */
	{"read", READS},                     /* OpenCode, ACP */
	{"read_file", READS},                /* Gemini CLI, Codex */
	{"read_many_files", READS_MANY},     /* Gemini CLI */
	{"replace", EDITS},                  /* Gemini CLI */
	{"request_user_input", TALKS},       /* Codex */
	{"run_shell_command", RUNS},         /* Gemini CLI */
	{"save_memory", KIND_OTHER, TOOL_MUTATES, 0, nothing}, /* Gemini CLI: outlives the session */
	{"search", KIND_SEARCH, TOOL_CONTENT, NEEDS(PATH), content}, /* ACP: of an unknown tool, so no cwd */
	{"search_file_content", GREPS},      /* Gemini CLI */
	{"shell", RUNS},                     /* Codex, OpenCode */
	{"shell_command", RUNS},             /* Codex */
	{"switch_mode", TALKS},              /* ACP */
	{"task", SUB_AGENT},                 /* OpenCode */
	{"think", HARMLESS},                 /* ACP, and the tool that only thinks */
	{"todoread", HARMLESS},              /* OpenCode */
	{"todowrite", HARMLESS},             /* OpenCode */
	{"update_plan", HARMLESS},           /* Codex */
	{"update_topic", HARMLESS},          /* Gemini CLI */
	{"view_image", READS},               /* Codex */
	{"web_fetch", ASKS_WEB},             /* Gemini CLI: the URL is within its prompt */
	{"web_search", ASKS_WEB},            /* Codex */
	{"webfetch", FETCHES},               /* OpenCode */
	{"websearch", ASKS_WEB},             /* OpenCode */
	{"write", EDITS},                    /* OpenCode */
	{"write_file", EDITS},               /* Gemini CLI */
	{"write_stdin", STEERS},             /* Codex */
	{"write_todos", HARMLESS},           /* Gemini CLI */
};
/* clang-format on */

#define N_TOOLS (sizeof(tools) / sizeof(tools[0]))

/* What is more dangerous; `other` claims nothing, and is not known to be less than an edit. */
static const uint8_t danger[KIND_N] = {
	[KIND_THINK] = 0,
	[KIND_READ] = 1,
	[KIND_SEARCH] = 1,
	[KIND_FETCH] = 2,
	[KIND_EDIT] = 3,
	[KIND_MOVE] = 4,
	[KIND_DELETE] = 5,
	[KIND_OTHER] = 5,
	[KIND_EXECUTE] = 6,
};

const struct tool *tool_find(struct bytes name)
{
	size_t low = 0, high = N_TOOLS;

	if (name.len == 0)
		return NULL;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int c = bytes_compare(name, bytes_of(tools[middle].name));

		if (c == 0)
			return &tools[middle];
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct tool_field *tool_field_find(const struct tool *tool, struct bytes name)
{
	for (const struct tool_field *f = tool->fields; f->len; f++)
		if (f->len == name.len && memcmp(f->name, name.data, name.len) == 0)
			return f;
	return NULL;
}

const struct tool *tool_at(size_t i)
{
	return i < N_TOOLS ? &tools[i] : NULL;
}

bool kind_mutates(enum kind kind)
{
	return kind == KIND_EDIT || kind == KIND_MOVE || kind == KIND_DELETE ||
	       kind == KIND_EXECUTE;
}

enum kind kind_tighten(enum kind ours, enum kind claimed)
{
	if (claimed == KIND_OTHER || (unsigned)claimed >= KIND_N)
		return ours;
	return danger[claimed] > danger[ours] ? claimed : ours;
}
