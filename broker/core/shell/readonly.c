/* SPDX-License-Identifier: MIT */
/*
 * The published table of commands that only read, with the options that do. Whatever
 * is not named here makes a command one that changes something.
 */
#include <stdlib.h>

#include "broker/core/shell/runner.h"

enum readonly_flag {
	READONLY_ANY = 1,     /* whatever its options */
	READONLY_NUMBERS = 2, /* -20 is an option, too */
	READONLY_NO_OPERAND = 4,
	READONLY_ONE_OPERAND = 8, /* a second would be written to */
	READONLY_CHECKED = 16,	  /* by the list of those that run others: the rest reads */
	READONLY_JQ = 32,	  /* its program may read files that are no operands */
	READONLY_FORMAT = 64,	  /* an operand begins with +: another would be set */
};

struct readonly {
	const char *name;
	const char *options; /* as shell_args gives them, each with a space */
	uint8_t flags;	     /* enum readonly_flag */
};

#define GREP                                                                                   \
	"e f i v w x c L l m o q s b H h n T Z A B C a D d r R U z E F G P color colour "      \
	"include exclude exclude-dir exclude-from binary-files line-buffered "                 \
	"no-ignore-case label "

static const struct readonly commands[] = {
	{"[", "", READONLY_ANY},
	{"arch", "", READONLY_ANY},
	{"awk", "", READONLY_CHECKED},
	{"basename", "a s z multiple suffix zero ", 0},
	{"cat", "A b e E n s t T u v show-all ", 0},
	{"cd", "", READONLY_ANY},
	{"cksum", "a algorithm ", 0},
	{"cmp", "b i l n s print-bytes ", READONLY_NUMBERS},
	{"column", "t s n x c o N ", 0},
	{"comm", "1 2 3 12 13 23 123 check-order nocheck-order output-delimiter total z ",
		READONLY_NUMBERS},
	{"cut", "b c d f n s complement output-delimiter z ", 0},
	{"date", "d u R I f r iso-8601 rfc-3339 rfc-email ", READONLY_FORMAT},
	{"df", "a B h H i k l P t T x total output ", 0},
	{"diff",
		"q r u U c C i w b B N a y x W s E Z d t T e f n p F "
		"label color strip-trailing-cr suppress-common-lines ",
		READONLY_NUMBERS},
	{"dirname", "z zero ", 0},
	{"du", "a B b c d D h H k l L m P s S x t apparent-size si time exclude max-depth ", 0},
	{"echo", "", READONLY_ANY},
	{"egrep", GREP, READONLY_NUMBERS},
	{"expand", "i t ", READONLY_NUMBERS},
	{"expr", "", READONLY_ANY},
	{"false", "", READONLY_ANY},
	{"fgrep", GREP, READONLY_NUMBERS},
	{"file", "b i k L h s z mime mime-type mime-encoding brief dereference ", 0},
	{"find", "", READONLY_CHECKED},
	{"fmt", "c s t u w g ", READONLY_NUMBERS},
	{"fold", "b s w ", READONLY_NUMBERS},
	{"free", "b k m g h t s c w si ", 0},
	{"gawk", "", READONLY_CHECKED},
	{"getconf", "a ", 0},
	{"git", "", READONLY_CHECKED},
	{"grep", GREP, READONLY_NUMBERS},
	{"groups", "", 0},
	{"head", "c n q v z ", READONLY_NUMBERS},
	{"hexdump", "b c C d n o s v x e ", 0},
	{"hostname", "f i I s d A ", READONLY_NO_OPERAND},
	{"id", "a g G n r u z ", 0},
	{"jq", "r c e s n S R j a C M tab indent arg argjson args jsonargs stream seq ",
		READONLY_JQ},
	{"ls",
		"a A b B c C d f F g G h H i I k l L m n N o p q Q r R s S t T u U v w x X Z 1 "
		"author block-size color full-time group-directories-first hide "
		"si sort time time-style format zero indicator-style file-type ",
		READONLY_NUMBERS},
	{"lscpu", "a b c e p J ", 0},
	{"mawk", "", READONLY_CHECKED},
	{"md5sum", "b c t z tag quiet status strict w ignore-missing ", 0},
	{"nawk", "", READONLY_CHECKED},
	{"nl", "b d f h i l n p s v w ", 0},
	{"nproc", "all ignore ", 0},
	{"od", "A a b c d f i j l N o s S t v w x ", 0},
	{"paste", "d s z ", 0},
	{"pgrep", "a c d f g G l n o P s t u U v x i ", 0},
	{"printenv", "0 null ", 0},
	{"printf", "", READONLY_CHECKED},
	{"ps", "", READONLY_ANY},
	{"pwd", "L P ", 0},
	{"readlink", "e f m n q s v z canonicalize ", 0},
	{"realpath", "e m L P q s z relative-to relative-base strip ", 0},
	{"rev", "", 0},
	{"rg",
		"e f g t T m A B C j r M E d i S s w n N l c o u v F U P a q I 0 L H x p b "
		"glob iglob files-without-match hidden no-ignore files color colors heading "
		"no-heading sort sortr json vimgrep max-filesize stats trim type-list "
		"no-ignore-vcs no-ignore-parent no-messages count-matches passthru column "
		"ignore-file multiline-dotall no-config ",
		READONLY_NUMBERS},
	{"sed", "", READONLY_CHECKED},
	{"seq", "f s w ", READONLY_NUMBERS},
	{"sha1sum", "b c t z tag quiet status strict w ignore-missing ", 0},
	{"sha256sum", "b c t z tag quiet status strict w ignore-missing ", 0},
	{"sha512sum", "b c t z tag quiet status strict w ignore-missing ", 0},
	{"sleep", "", READONLY_ANY},
	{"sort", "b d f g i M h n R r V c C k m s t u z S parallel ", 0},
	{"stat", "c f L t printf ", 0},
	{"strings", "a f n t e o d ", READONLY_NUMBERS},
	{"tac", "b r s ", 0},
	{"tail", "c f F n q s v z pid retry ", READONLY_NUMBERS},
	{"test", "", READONLY_ANY},
	{"tr", "c C d s t ", 0},
	{"tree", "a d f i l L P I s h u g p D F C n x J N noreport dirsfirst prune ", 0},
	{"true", "", READONLY_ANY},
	{"tty", "s ", 0},
	{"type", "a f p P t ", 0},
	{"uname", "", READONLY_ANY},
	{"uniq", "c d D u i f s w z ", READONLY_NUMBERS | READONLY_ONE_OPERAND},
	{"uptime", "p s ", 0},
	{"wc", "c m l w L total ", 0},
	{"which", "a s ", 0},
	{"whoami", "", READONLY_ANY},
};

static int compare(const void *key, const void *entry)
{
	const struct readonly *const e = entry;

	return bytes_compare(*(const struct bytes *)key, bytes_of(e->name));
}

static bool options_read_only(const struct readonly *entry, const struct shell_command *command)
{
	struct shell_args args;
	struct shell_arg arg;
	unsigned operands = 0;

	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		if (arg.kind == SHELL_ARG_OPERAND) {
			const struct bytes text = arg.word->text;

			operands++;
			if (entry->flags & READONLY_FORMAT &&
				(text.len == 0 || *(const char *)text.data != '+'))
				return false;
		}
		if (arg.kind != SHELL_ARG_OPTION || words_have(entry->options, arg.name))
			continue;
		if (!(entry->flags & READONLY_NUMBERS) || arg.name.len == 0 ||
			*(const char *)arg.name.data < '0' ||
			*(const char *)arg.name.data > '9')
			return false;
	}
	if (entry->flags & READONLY_NO_OPERAND && operands)
		return false;
	if (entry->flags & READONLY_JQ && jq_loads(command))
		return false;
	return !(entry->flags & READONLY_ONE_OPERAND && operands > 1);
}

/* Those that read unless an option or a program says otherwise. */
static bool checked(const struct shell_command *command, struct bytes name)
{
	static const char actions[] =
		"exec execdir ok okdir delete fprint fprint0 fprintf fls files0-from ";
	const bool find = bytes_is(name, "find");
	struct shell_args args;
	struct shell_arg arg;

	if (bytes_is(name, "git"))
		return git_reads_only(command);
	if (bytes_is(name, "sed"))
		return !sed_runs(command);
	if (!find && !bytes_is(name, "printf"))
		return !awk_runs(command);
	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg))
		if (arg.kind == SHELL_ARG_OPTION &&
			(find ? words_have(actions, arg.name) : bytes_is(arg.name, "v")))
			return false;
	return true;
}

bool command_reads_only(const struct shell_command *command, struct bytes name)
{
	const struct readonly *const entry = bsearch(&name, commands,
		sizeof(commands) / sizeof(*commands), sizeof(*commands), compare);

	/* by a path it is another program */
	if (!entry || name.len != command->words[0].text.len)
		return false;
	if (entry->flags & READONLY_ANY)
		return true;
	if (entry->flags & READONLY_CHECKED)
		return checked(command, name);
	return options_read_only(entry, command);
}
