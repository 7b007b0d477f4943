/* SPDX-License-Identifier: MIT */
/* git: which subcommands run others, and which only read. */
#include "broker/core/shell/runner.h"

/* Others are aliases, programs of their own, or run what they are given. */
static const char known[] =
	"add am annotate apply archive blame branch bundle cat-file check-attr check-ignore "
	"check-ref-format checkout cherry cherry-pick clean clone commit count-objects "
	"describe "
	"diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep "
	"hash-object help init log ls-files ls-remote ls-tree merge merge-base mv name-rev "
	"notes pull push range-diff read-tree rebase reflog remote reset restore rev-list "
	"rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status "
	"switch symbolic-ref tag update-index update-ref verify-commit verify-tag version "
	"whatchanged worktree write-tree config submodule bisect ";

/* Options of any subcommand that run something or write to a file. */
static const char running[] =
	"exec x upload-pack receive-pack ext-diff textconv output open-files-in-pager O "
	"template config web man info edit-todo interactive ";

static const char letters_of_clone[] = "u c ";

/* Options that are no shorter form of one of those, though they begin like it. */
static const char whole[] = "text edit ";

/* git takes the beginning of a long option for it. */
static bool runs_shortened(struct bytes name)
{
	const char *p = running;

	if (words_have(whole, name))
		return false;
	while ((p = memmem(p, strlen(p), name.data, name.len)) != NULL) {
		if (p == running || p[-1] == ' ')
			return true;
		p += name.len;
	}
	return false;
}

static bool option_runs(struct bytes subcommand, const struct shell_arg *arg)
{
	const bool letter = arg->name.len == 1;

	if (bytes_is(subcommand, "clone") && words_have(letters_of_clone, arg->name))
		return true;
	if (letter && (*(const char *)arg->name.data == 'o'))
		return bytes_is(subcommand, "archive");
	/* -O orders a diff by a file, -x cleans or cherry-picks */
	if (letter && *(const char *)arg->name.data == 'O')
		return bytes_is(subcommand, "grep");
	if (letter && *(const char *)arg->name.data == 'x')
		return bytes_is(subcommand, "rebase");
	if (letter && *(const char *)arg->name.data == 'i')
		return bytes_is(subcommand, "rebase");
	return letter ? words_have(running, arg->name) : runs_shortened(arg->name);
}

static bool operand_runs(struct bytes subcommand, const struct shell_arg *arg)
{
	const struct bytes text = arg->value;

	if (bytes_is(subcommand, "submodule"))
		return bytes_is(text, "foreach");
	if (bytes_is(subcommand, "bisect"))
		return bytes_is(text, "run");
	/* a remote helper, `ext::COMMAND` */
	return text.len && memmem(text.data, text.len, "::", 2);
}

bool git_runs(const struct shell_command *command)
{
	struct bytes subcommand = {0};
	struct shell_args args;
	struct shell_arg arg;
	unsigned operands = 0;

	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		switch ((enum shell_arg_kind)arg.kind) {
		case SHELL_ARG_GLOBAL:
			if (!words_have("C P no-pager bare no-replace-objects "
					"literal-pathspecs no-optional-locks version v help h ",
				    arg.name))
				return true;
			break;
		case SHELL_ARG_SUBCOMMAND:
			subcommand = arg.value;
			if (arg.word->flags & SHELL_DYNAMIC || !words_have(known, subcommand))
				return true;
			break;
		case SHELL_ARG_OPTION:
			if (option_runs(subcommand, &arg))
				return true;
			break;
		case SHELL_ARG_OPERAND:
			operands++;
			if (operand_runs(subcommand, &arg))
				return true;
			break;
		case SHELL_ARG_END: break;
		}
	}
	/* what is set there can be a command that runs later */
	return bytes_is(subcommand, "config") && operands > 1;
}

/* ---- reading ---- */

#define DIFF                                                                                   \
	"p u U s w b B M C D R S G z r m L n i t g q v a c l "                                 \
	"patch no-patch unified stat name-only name-status cached staged color no-color "      \
	"word-diff color-words ignore-all-space ignore-space-change ignore-blank-lines "       \
	"ignore-space-at-eol diff-filter numstat shortstat dirstat summary raw minimal check " \
	"exit-code quiet find-renames find-copies relative abbrev full-index binary "          \
	"no-renames no-ext-diff no-textconv histogram patience diff-algorithm merge-base "     \
	"I X O no-prefix ignore-matching-lines anchored word-diff-regex "                      \
	"function-context W pickaxe-regex pickaxe-all inter-hunk-context src-prefix "          \
	"dst-prefix "

#define LOG                                                                                    \
	DIFF "oneline max-count author committer grep since until after before format pretty " \
	     "graph "                                                                          \
	     "all branches tags remotes follow date decorate no-decorate reverse merges "      \
	     "no-merges skip "                                                                 \
	     "first-parent topo-order date-order E F P full-history simplify-merges "          \
	     "ancestry-path "                                                                  \
	     "abbrev-commit no-abbrev-commit cherry left-right cherry-pick cherry-mark "       \
	     "invert-grep "                                                                    \
	     "all-match notes no-notes source boundary parents children "                      \
	     "count no-walk name-only walk-reflogs "

struct reading {
	const char *name;
	const char *options;
	const char *first; /* what the first operand has to be; NULL: anything, "": none */
};

static const struct reading readings[] = {
	{"blame",
		"L l t f n s e w p M C c show-name show-number show-email porcelain date "
		"color-lines "
		"abbrev root since incremental line-porcelain ",
		NULL},
	{"cat-file", "t s p e ", NULL},
	{"check-ignore", "v q n verbose quiet non-matching no-index ", NULL},
	{"count-objects", "v H verbose human-readable ", NULL},
	{"describe",
		"tags all long always abbrev contains match exact-match first-parent dirty "
		"candidates ",
		NULL},
	{"diff", DIFF, NULL},
	{"diff-tree", DIFF, NULL},
	{"for-each-ref", "count sort format points-at merged no-merged contains no-contains ",
		NULL},
	{"grep",
		"n i w v l L c h H e E F P G o A B C p W q a I m r f heading break cached "
		"untracked "
		"max-depth max-count name-only files-with-matches line-number ignore-case "
		"count "
		"and or not color no-color column show-function all-match ",
		NULL},
	{"log", LOG, NULL},
	{"ls-files",
		"c d m o i s t u k v z x X cached deleted modified others ignored stage "
		"unmerged killed exclude exclude-standard full-name error-unmatch eol "
		"directory ",
		NULL},
	{"ls-tree", "d r t l z name-only name-status full-name full-tree abbrev long format ",
		NULL},
	{"merge-base", "a all octopus independent is-ancestor fork-point ", NULL},
	{"name-rev", "all tags refs name-only always ", NULL},
	{"reflog", LOG, "show"},
	{"rev-list", LOG "objects ", NULL},
	{"rev-parse",
		"q verify short abbrev-ref symbolic symbolic-full-name show-toplevel git-dir "
		"is-inside-work-tree is-inside-git-dir is-bare-repository show-prefix "
		"show-cdup absolute-git-dir git-common-dir all branches tags remotes quiet ",
		NULL},
	{"shortlog", "n s e c w numbered summary email group ", NULL},
	{"show", LOG, NULL},
	{"show-ref", "d s q verify tags heads head hash abbrev dereference quiet exists ",
		NULL},
	{"stash", LOG, "list"},
	{"status",
		"s b v u z long short branch porcelain show-stash verbose untracked-files "
		"ignored "
		"ignore-submodules column no-column ahead-behind no-ahead-behind renames "
		"no-renames find-renames ",
		NULL},
	{"tag",
		"l n list sort contains no-contains merged no-merged points-at format column i "
		"ignore-case color ",
		""},
	{"version", "build-options ", ""},
	{"whatchanged", LOG, NULL},
	{"worktree", "v z porcelain verbose ", "list"},
};

static const struct reading *reading_find(struct bytes name)
{
	for (size_t i = 0; i < sizeof(readings) / sizeof(*readings); i++)
		if (bytes_is(name, readings[i].name))
			return &readings[i];
	return NULL;
}

/* What a format or an order asks gpg about: a program that the configuration names. */
static bool verifies(struct bytes value)
{
	const char *p = value.data;
	const char *const end = p + value.len;

	if (value.len == 0)
		return false;
	if (memmem(p, value.len, "signature", 9))
		return true;
	while ((p = memchr(p, '%', (size_t)(end - p))) != NULL) {
		p++;
		while (p < end && strchr("+- ", *p) && *p)
			p++;
		if (p < end && *p == 'G')
			return true;
	}
	return false;
}

static bool is_number(struct bytes name)
{
	return name.len && *(const char *)name.data >= '0' && *(const char *)name.data <= '9';
}

/* Sections of the configuration that hold no credentials. */
static bool config_harmless(struct bytes key)
{
	static const char *const sections[] = {"user.", "core.", "branch.", "init.", "pull.",
		"push.", "merge.", "rebase.", "color.", "diff.", "log.", "status.", "commit.",
		"fetch.", "rerere.", "submodule.", "tag.", "gc.", "help.", "column.", "alias."};

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		const size_t n = strlen(sections[i]);

		if (key.len > n && memcmp(key.data, sections[i], n) == 0)
			return true;
	}
	return false;
}

/*
 * config: the workspace's own is read like any file of it. Others, and all of them
 * together, may hold credentials and lie elsewhere: of them only a key that holds none.
 */
static bool config_reads_only(const struct shell_command *command)
{
	bool get = false, list = false, own = false, harmless = true;
	struct shell_args args;
	struct shell_arg arg;
	unsigned operands = 0;

	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		if (arg.kind == SHELL_ARG_OPERAND) {
			harmless &= config_harmless(arg.value);
			operands++;
		}
		if (arg.kind != SHELL_ARG_OPTION)
			continue;
		if (!words_have("get get-all get-regexp l local global system show-origin "
				"show-scope z name-only type ",
			    arg.name))
			return false;
		get |= words_have("get get-all ", arg.name);
		list |= words_have("l get-regexp ", arg.name);
		own |= bytes_is(arg.name, "local");
	}
	return (get || list) && (own || (get && !list && operands == 1 && harmless));
}

/* branch and remote read when they are asked to list. */
static bool lists_only(struct bytes subcommand, const struct shell_command *command)
{
	const bool branch = bytes_is(subcommand, "branch");
	bool list = false, letter = false;
	struct shell_args args;
	struct shell_arg arg;
	unsigned operands = 0;

	if (bytes_is(subcommand, "config"))
		return config_reads_only(command);
	if (!branch && !bytes_is(subcommand, "remote"))
		return false;
	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		if (arg.kind == SHELL_ARG_OPERAND)
			operands++;
		if (arg.kind != SHELL_ARG_OPTION)
			continue;
		if (!words_have(
			    branch ? "a r l v all remotes verbose show-current contains "
				     "no-contains merged no-merged sort format points-at color "
				     "no-color column no-column i abbrev no-abbrev "
				   : "v verbose ",
			    arg.name))
			return false;
		/* before git 2.19 the letter made a log for a new branch */
		list |= bytes_is(arg.name, "l");
		letter |= bytes_is(arg.name, "l") && arg.word->text.len < 6;
	}
	return operands == 0 || (list && !letter);
}

static bool has_parent(struct bytes text)
{
	return text.len && memmem(text.data, text.len, "..", 2);
}

bool git_reads_only(const struct shell_command *command)
{
	const struct reading *reading = NULL;
	struct bytes subcommand = {0};
	struct shell_args args;
	struct shell_arg arg;
	bool first = true, elsewhere = false, parent = false, listed = false;

	if (git_runs(command))
		return false;
	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		switch ((enum shell_arg_kind)arg.kind) {
		case SHELL_ARG_GLOBAL:
			if (!words_have("C P no-pager no-optional-locks literal-pathspecs ",
				    arg.name))
				return false;
			elsewhere |= bytes_is(arg.name, "C");
			break;
		case SHELL_ARG_SUBCOMMAND:
			subcommand = arg.value;
			reading = reading_find(subcommand);
			break;
		case SHELL_ARG_OPTION:
			if (arg.has_value && verifies(arg.value))
				return false;
			if (reading && !is_number(arg.name) &&
				!words_have(reading->options, arg.name))
				return false;
			listed |= bytes_is(arg.name, "l");
			break;
		case SHELL_ARG_OPERAND:
			parent |= has_parent(arg.value);
			/* `tag -l` takes patterns, `tag` a new name */
			if (first && reading && reading->first &&
				!bytes_is(arg.value, reading->first) &&
				!(listed && !*reading->first))
				return false;
			first = false;
			break;
		case SHELL_ARG_END: break;
		}
	}
	/* relative to where -C leads, `..` could lead out again */
	if (elsewhere && parent)
		return false;
	if (!reading)
		return lists_only(subcommand, command);
	return !(reading->first && *reading->first && first);
}
