/* SPDX-License-Identifier: MIT */
/*
 * The published table of commands that only read, with the options that do. Whatever
 * is not named here makes a command one that changes something.
 */
#include <stdlib.h>
#include <string.h>

#include "broker/core/shell/runner.h"

enum readonly_flag {
	READONLY_ANY = 1,     /* whatever its options */
	READONLY_NUMBERS = 2, /* -20 is an option, too */
	READONLY_NO_OPERAND = 4,
	READONLY_ONE_OPERAND = 8, /* a second would be written to */
	READONLY_CHECKED = 16,	  /* by the list of those that run others: the rest reads */
	READONLY_JQ = 32,	  /* its program may read files that are no operands */
	READONLY_FORMAT = 64,	  /* an operand begins with +: another would be set */
	READONLY_NAMES = 128,	  /* a text operand may be any names of files: echo * */
	READONLY_RESPONSE = 256,  /* an operand @FILE would be read as arguments */
	READONLY_ASKS = 512,	  /* nothing but with one of its options */
};

struct readonly {
	const char *name;
	const char *options; /* as shell_args gives them, each with a space */
	uint16_t flags;	     /* enum readonly_flag */
};

#define GREP                                                                                   \
	"e f i v w x c L l m o q s b H h n T Z A B C a D d r U z E F G P color colour "        \
	"include exclude exclude-dir exclude-from binary-files line-buffered "                 \
	"no-ignore-case label "

static const struct readonly commands[] = {
	{"[", "", READONLY_ANY},
	{"arch", "", READONLY_ANY},
	{"awk", "", READONLY_CHECKED},
	{"basename", "a s z ", 0},
	{"cat", "A b e E n s t T u v show-all ", 0},
	{"cd", "", READONLY_ANY},
	{"cksum", "a l untagged tag ", 0},
	{"cmp", "b i l n s ", READONLY_NUMBERS},
	{"column", "t s x c o N R J ", 0},
	{"comm", "1 2 3 12 13 23 123 check-order nocheck-order output-delimiter total z ",
		READONLY_NUMBERS},
	{"command", "v V ", READONLY_ASKS},
	{"cut", "b c d f n s complement output-delimiter z ", 0},
	{"date", "d u R I f r rfc-3339 ", READONLY_FORMAT},
	{"df", "a B h H i k l P t T x total output no-sync ", 0},
	{"diff",
		"q u U c C i w b B N a y x W s E Z d t T e n p F I L "
		"color strip-trailing-cr suppress-common-lines normal left-column "
		"no-dereference tabsize ",
		READONLY_NUMBERS},
	{"dirname", "z zero ", 0},
	{"du", "a B b c d h k l m P s S x t 0 apparent-size si time time-style exclude inodes ",
		0},
	{"echo", "", READONLY_ANY | READONLY_NAMES},
	{"egrep", GREP, READONLY_NUMBERS},
	{"expand", "i t ", READONLY_NUMBERS},
	{"expr", "", READONLY_ANY | READONLY_NAMES},
	{"false", "", READONLY_ANY},
	{"fgrep", GREP, READONLY_NUMBERS},
	{"file", "b F i k L h n N r s 0 mime-type mime-encoding extension exclude ", 0},
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
	{"hexdump", "b c C d n o s v x e L ", 0},
	{"hostname", "I s ", READONLY_NO_OPERAND},
	{"id", "a g G n r u z ", 0},
	{"jq",
		"r c e s n S R j a C M tab indent arg argjson args jsonargs stream seq "
		"unbuffered ",
		READONLY_JQ},
	{"ls",
		"a A b B c C d f F g G h i I k l m n N o p q Q r R s S t T u U v w x X Z 1 "
		"author block-size color full-time group-directories-first hide "
		"si sort time time-style format zero indicator-style file-type "
		"quoting-style hyperlink hide-control-chars show-control-chars ",
		READONLY_NUMBERS},
	{"lscpu", "a b c e p J ", 0},
	{"mawk", "", READONLY_CHECKED},
	{"md5sum", "b t z tag ", 0},
	{"nawk", "", READONLY_CHECKED},
	{"nl", "b d f h i l n p s v w ", 0},
	{"nproc", "all ignore ", 0},
	{"od", "A a b c d f i j l N o s S t v w x ", 0},
	{"paste", "d s z ", 0},
	{"pgrep", "a c d f g G l n o O P r s t u U v x i ", 0},
	{"printenv", "0 null ", 0},
	{"printf", "", READONLY_CHECKED | READONLY_NAMES},
	{"ps", "", READONLY_CHECKED},
	{"pwd", "L P ", 0},
	{"readlink", "e f m n q s v z ", 0},
	{"realpath", "e m L P q s z relative-to relative-base ", 0},
	{"rev", "", 0},
	{"rg",
		"e f g t T m A B C j r M E d i S s w n N l c o u v F U P a q I 0 H x p b "
		"glob iglob files-without-match hidden no-ignore files color colors heading "
		"no-heading sort sortr json vimgrep max-filesize stats trim type-list "
		"no-ignore-vcs no-ignore-parent no-messages count-matches passthru column "
		"ignore-file multiline-dotall no-config context-separator engine null-data "
		"max-columns-preview ",
		READONLY_NUMBERS},
	{"sed", "", READONLY_CHECKED},
	{"seq", "f s w ", READONLY_NUMBERS},
	{"sha1sum", "b t z tag ", 0},
	{"sha256sum", "b t z tag ", 0},
	{"sha512sum", "b t z tag ", 0},
	{"sleep", "", READONLY_ANY},
	{"sort", "b d f g i M h n R r V c C k m s t u z S parallel ", 0},
	{"stat", "c f L t printf ", 0},
	{"strings", "a f n t e o d w s U ", READONLY_NUMBERS | READONLY_RESPONSE},
	{"tac", "b r s ", 0},
	{"tail", "c f F n q s v z pid retry max-unchanged-stats ", READONLY_NUMBERS},
	{"test", "", READONLY_ANY},
	{"tr", "c C d s t ", READONLY_NAMES},
	{"tree",
		"a d f i L P I s h u g p D F C n x J N noreport dirsfirst prune filelimit "
		"sort timefmt charset gitignore ",
		0},
	{"true", "", READONLY_ANY},
	{"tty", "s ", 0},
	{"type", "a f p P t ", 0},
	{"uname", "", READONLY_ANY},
	{"uniq", "c d D u i f s w z group ", READONLY_NUMBERS | READONLY_ONE_OPERAND},
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

static bool begins(struct bytes text, char c)
{
	return text.len && *(const char *)text.data == c;
}

/*
 * What a text stands for is known: file names that it may be expanded to aren't, so that
 * there could be more words than one, and the next of them a file that is read.
 */
static bool text_known(const struct readonly *entry, const struct shell_arg *arg)
{
	const struct shell_word *const word =
		arg->kind == SHELL_ARG_OPERAND ? arg->word : arg->value_word;

	if (!arg->is_text || !word || !(word->flags & (SHELL_GLOB | SHELL_PLACE)))
		return true;
	return entry->flags & READONLY_NAMES && !memchr(word->text.data, '/', word->text.len) &&
	       !begins(word->text, '.');
}

/* Of any command: its options are named whole, and its words are what they seem to be. */
static bool words_known(const struct readonly *entry, const struct shell_command *command)
{
	struct shell_args args;
	struct shell_arg arg;

	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg))
		if (arg.shortened || !text_known(entry, &arg))
			return false;
	return true;
}

static bool options_read_only(const struct readonly *entry, const struct shell_command *command)
{
	unsigned operands = 0, options = 0;
	struct shell_args args;
	struct shell_arg arg;

	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		if (arg.kind == SHELL_ARG_OPERAND) {
			operands++;
			if ((entry->flags & READONLY_FORMAT && !begins(arg.word->text, '+')) ||
				(entry->flags & READONLY_RESPONSE &&
					begins(arg.word->text, '@')))
				return false;
		}
		if (arg.kind != SHELL_ARG_OPTION)
			continue;
		options++;
		if (words_have(entry->options, arg.name))
			continue;
		if (!(entry->flags & READONLY_NUMBERS) || arg.name.len == 0 ||
			*(const char *)arg.name.data < '0' ||
			*(const char *)arg.name.data > '9')
			return false;
	}
	if (entry->flags & READONLY_NO_OPERAND && operands)
		return false;
	if (entry->flags & READONLY_ASKS && !options)
		return false;
	if (entry->flags & READONLY_JQ && jq_loads(command))
		return false;
	return !(entry->flags & READONLY_ONE_OPERAND && operands > 1);
}

/* The tests of find, and the actions that print. -L and -follow lead through links. */
static const char find_options[] =
	"H P O0 O1 O2 O3 amin anewer atime cmin cnewer ctime empty executable false fstype gid "
	"group ilname iname inum ipath iregex iwholename links lname mmin mtime name newer "
	"nogroup nouser path perm readable regex samefile size true type uid used user "
	"wholename writable xtype a and o or not daystart depth d ignore_readdir_race "
	"noignore_readdir_race maxdepth mindepth mount noleaf nowarn regextype warn xdev ls "
	"print print0 printf prune quit version help newermt newerat newerct newermm neweram "
	"newercm ";

#define PS_VALUED "oOpqsuUgGtCn"

static bool ps_long(struct bytes text)
{
	static const char names[] = "sort no-headers no-heading headers header forest cols "
				    "columns width rows lines "
				    "pid ppid quick-pid format deselect version ";
	const char *const p = (const char *)text.data + 2;
	const char *const equal = memchr(p, '=', text.len - 2);

	return words_have(names, (struct bytes){p, equal ? (size_t)(equal - p) : text.len - 2});
}

/* `-ef`, `-eo`, `-opid,comm`: letters, the last with a value. */
static bool ps_letters(struct bytes text, bool *every, bool *other)
{
	const char *const p = text.data;

	if (bytes_is(text, "-aux") || bytes_is(text, "-auxw") || bytes_is(text, "-auxww")) {
		*other = true;
		return true;
	}
	for (size_t i = 1; i < text.len; i++) {
		if (p[i] == 'o')
			return true;
		if (!p[i] || !strchr("AaCdeFfGgHjlLMNPpTtuUwxyZcq", p[i]) ||
			(strchr(PS_VALUED, p[i]) && i + 1 < text.len))
			return false;
		*every |= p[i] == 'e';
		*other |= strchr("AadFfHjlLMNPTwyZc", p[i]) == NULL && p[i] != 'e';
	}
	return true;
}

/*
 * ps: every process (-e) is listed, but the environment (e without a dash, and the column
 * environ) holds secrets. Where ps does not understand what has a dash, it may read all of
 * it as without, so -e goes with few others.
 */
static bool ps_reads_only(const struct shell_command *command)
{
	bool every = false, other = false, value = false;

	for (uint32_t i = 1; i < command->nwords; i++) {
		const struct bytes text = command->words[i].text;
		const bool was_value = value;
		const char last = text.len ? ((const char *)text.data)[text.len - 1] : ' ';

		value = false;
		if (text.len == 0 || command->words[i].flags & (SHELL_DYNAMIC | SHELL_GLOB) ||
			memmem(text.data, text.len, "environ", 7))
			return false;
		if (was_value)
			continue;
		if (begins(text, '-')) {
			if (text.len > 2 && memcmp(text.data, "--", 2) == 0) {
				if (!ps_long(text))
					return false;
				continue;
			}
			if (!ps_letters(text, &every, &other))
				return false;
			value = strchr(PS_VALUED, last) != NULL &&
				!(last == 'o' && memchr(text.data, 'o', text.len - 1));
			continue;
		}
		if (memchr(text.data, 'e', text.len) || memchr(text.data, 'E', text.len))
			return false;
		value = last == 'o';
		other = true;
	}
	return !(every && other);
}

/* Those that read unless an option or a program says otherwise. */
static bool checked(const struct shell_command *command, struct bytes name)
{
	const bool find = bytes_is(name, "find");
	struct shell_args args;
	struct shell_arg arg;

	if (bytes_is(name, "git"))
		return git_reads_only(command);
	if (bytes_is(name, "sed"))
		return !sed_runs(command);
	if (bytes_is(name, "ps"))
		return ps_reads_only(command);
	if (!find && !bytes_is(name, "printf"))
		return !awk_runs(command);
	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg))
		if (arg.kind == SHELL_ARG_OPTION &&
			(find ? !words_have(find_options, arg.name) : bytes_is(arg.name, "v")))
			return false;
	return true;
}

bool command_reads_only(const struct shell_command *command, struct bytes name)
{
	const struct readonly *const entry = bsearch(&name, commands,
		sizeof(commands) / sizeof(*commands), sizeof(*commands), compare);

	/* by a path it is another program */
	if (!entry || name.len != command->words[0].text.len || !words_known(entry, command))
		return false;
	if (entry->flags & READONLY_ANY)
		return true;
	if (entry->flags & READONLY_CHECKED)
		return checked(command, name);
	return options_read_only(entry, command);
}
