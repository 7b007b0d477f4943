/* SPDX-License-Identifier: MIT */
/*
 * The published table of commands that run others, or write, by their options or by
 * code that they are given; and of those that bring data from elsewhere.
 */
#include <stdlib.h>

#include "broker/core/shell/runner.h"

enum runner_kind {
	RUNNER_ALWAYS,	/* whatever it is given */
	RUNNER_OPERAND, /* a script: with an operand, code, or nothing at all */
	RUNNER_PYTHON,
	RUNNER_OPTION, /* with one of these options */
	RUNNER_PAGER,  /* the same, or with a command of its own: +!ls */
	RUNNER_SED,
	RUNNER_AWK,
	RUNNER_GIT,
	RUNNER_SHELL,
	RUNNER_NONE,
};

struct runner {
	const char *name;
	uint8_t kind;
	uint8_t traits;	     /* in any case: SHELL_FETCHES, SHELL_INTERPRETS */
	const char *options; /* "-x --long ": each with a space */
};

#define FETCHES	   SHELL_FETCHES
#define INTERPRETS SHELL_INTERPRETS

static const struct runner runners[] = {
	{".", RUNNER_ALWAYS, INTERPRETS, ""},
	{"R", RUNNER_ALWAYS, INTERPRETS, ""},
	{"Rscript", RUNNER_OPERAND, INTERPRETS, ""},
	{"ack", RUNNER_OPTION, 0, "pager "},
	{"ag", RUNNER_OPTION, 0, "pager "},
	{"ansible", RUNNER_ALWAYS, 0, ""},
	{"aria2c", RUNNER_OPTION, FETCHES,
		"on-download-complete on-download-error d o dir out "},
	{"ash", RUNNER_SHELL, INTERPRETS, ""},
	{"at", RUNNER_ALWAYS, INTERPRETS, ""},
	{"awk", RUNNER_AWK, 0, ""},
	{"base32", RUNNER_OPTION, 0, ""},
	{"base64", RUNNER_OPTION, 0, ""},
	{"bash", RUNNER_SHELL, INTERPRETS, ""},
	{"bat", RUNNER_OPTION, 0, "pager "},
	{"batcat", RUNNER_OPTION, 0, "pager "},
	{"batch", RUNNER_ALWAYS, INTERPRETS, ""},
	{"bun", RUNNER_OPERAND, INTERPRETS, ""},
	{"bunzip2", RUNNER_OPTION, FETCHES, ""},
	{"cargo", RUNNER_OPTION, 0, "config "},
	{"code", RUNNER_ALWAYS, 0, ""},
	{"crontab", RUNNER_ALWAYS, 0, ""},
	{"csh", RUNNER_ALWAYS, INTERPRETS, ""},
	{"curl", RUNNER_OPTION, FETCHES,
		"o O K T c D output remote-name config upload-file cookie-jar dump-header "
		"trace "
		"trace-ascii output-dir stderr remote-name-all engine etag-save libcurl hsts "
		"alt-svc "},
	{"dash", RUNNER_SHELL, INTERPRETS, ""},
	{"date", RUNNER_OPTION, 0, "s "},
	{"dc", RUNNER_ALWAYS, INTERPRETS, ""},
	{"deno", RUNNER_OPERAND, INTERPRETS, ""},
	{"diff", RUNNER_OPTION, 0, "l paginate "},
	{"ed", RUNNER_ALWAYS, INTERPRETS, ""},
	{"egrep", RUNNER_NONE, 0, ""},
	{"emacs", RUNNER_ALWAYS, 0, ""},
	{"emacsclient", RUNNER_ALWAYS, 0, ""},
	{"entr", RUNNER_ALWAYS, 0, ""},
	{"ex", RUNNER_ALWAYS, INTERPRETS, ""},
	{"expect", RUNNER_ALWAYS, INTERPRETS, ""},
	{"fd", RUNNER_OPTION, 0, "x X exec exec-batch "},
	{"fdfind", RUNNER_OPTION, 0, "x X exec exec-batch "},
	{"fetch", RUNNER_OPTION, FETCHES, "o output "},
	{"file", RUNNER_OPTION, 0, "C compile "},
	{"find", RUNNER_OPTION, 0, "exec execdir ok okdir delete fprint fprint0 fprintf fls "},
	{"fish", RUNNER_ALWAYS, INTERPRETS, ""},
	{"ftp", RUNNER_ALWAYS, FETCHES, ""},
	{"gawk", RUNNER_AWK, 0, ""},
	{"gdb", RUNNER_ALWAYS, INTERPRETS, ""},
	{"ghci", RUNNER_ALWAYS, INTERPRETS, ""},
	{"git", RUNNER_GIT, 0, ""},
	{"gnuplot", RUNNER_ALWAYS, INTERPRETS, ""},
	{"go", RUNNER_OPTION, 0, "exec toolexec vettool overlay "},
	{"gpg", RUNNER_OPTION, 0, "o output "},
	{"gsed", RUNNER_SED, 0, ""},
	{"gunzip", RUNNER_NONE, FETCHES, ""},
	{"http", RUNNER_OPTION, FETCHES, "o d output download "},
	{"https", RUNNER_OPTION, FETCHES, "o d output download "},
	{"hyperfine", RUNNER_ALWAYS, 0, ""},
	{"ipython", RUNNER_OPERAND, INTERPRETS, ""},
	{"irb", RUNNER_ALWAYS, INTERPRETS, ""},
	{"jshell", RUNNER_ALWAYS, INTERPRETS, ""},
	{"julia", RUNNER_OPERAND, INTERPRETS, ""},
	{"ksh", RUNNER_ALWAYS, INTERPRETS, ""},
	{"less", RUNNER_PAGER, 0,
		"o O k log-file LOG-FILE lesskey-file lesskey-src lesskey-content "},
	{"lftp", RUNNER_ALWAYS, FETCHES, ""},
	{"lldb", RUNNER_ALWAYS, INTERPRETS, ""},
	{"lua", RUNNER_OPERAND, INTERPRETS, ""},
	{"luajit", RUNNER_OPERAND, INTERPRETS, ""},
	{"m4", RUNNER_ALWAYS, INTERPRETS, ""},
	{"make", RUNNER_OPTION, 0, "E eval "},
	{"man", RUNNER_OPTION, 0, "P H X C pager html config-file "},
	{"mariadb", RUNNER_ALWAYS, INTERPRETS, ""},
	{"mawk", RUNNER_AWK, 0, ""},
	{"mksh", RUNNER_ALWAYS, INTERPRETS, ""},
	{"mysql", RUNNER_ALWAYS, INTERPRETS, ""},
	{"nano", RUNNER_ALWAYS, 0, ""},
	{"nawk", RUNNER_AWK, 0, ""},
	{"nc", RUNNER_OPTION, FETCHES, "e c "},
	{"ncat", RUNNER_OPTION, FETCHES, "e c o exec sh-exec lua-exec output "},
	{"netcat", RUNNER_OPTION, FETCHES, "e c "},
	{"node", RUNNER_OPERAND, INTERPRETS, ""},
	{"nodejs", RUNNER_OPERAND, INTERPRETS, ""},
	{"nvim", RUNNER_ALWAYS, 0, ""},
	{"octave", RUNNER_ALWAYS, INTERPRETS, ""},
	{"openssl", RUNNER_OPTION, FETCHES, "out keyout engine provider config writerand "},
	{"original-awk", RUNNER_AWK, 0, ""},
	{"osascript", RUNNER_ALWAYS, INTERPRETS, ""},
	{"parallel", RUNNER_ALWAYS, INTERPRETS, ""},
	{"perl", RUNNER_OPERAND, INTERPRETS, ""},
	{"php", RUNNER_OPERAND, INTERPRETS, ""},
	{"pico", RUNNER_ALWAYS, 0, ""},
	{"psql", RUNNER_ALWAYS, INTERPRETS, ""},
	{"pwsh", RUNNER_ALWAYS, INTERPRETS, ""},
	{"pypy", RUNNER_PYTHON, INTERPRETS, ""},
	{"pypy3", RUNNER_PYTHON, INTERPRETS, ""},
	{"python", RUNNER_PYTHON, INTERPRETS, ""},
	{"python2", RUNNER_PYTHON, INTERPRETS, ""},
	{"python3", RUNNER_PYTHON, INTERPRETS, ""},
	{"rbash", RUNNER_SHELL, INTERPRETS, ""},
	{"rg", RUNNER_OPTION, 0, "pre hostname-bin "},
	{"rsync", RUNNER_OPTION, 0,
		"e rsh rsync-path M remote-option log-file write-batch only-write-batch "
		"config "},
	{"ruby", RUNNER_OPERAND, INTERPRETS, ""},
	{"rview", RUNNER_ALWAYS, 0, ""},
	{"scp", RUNNER_OPTION, 0, "S o F D "},
	{"sed", RUNNER_SED, 0, ""},
	{"sftp", RUNNER_OPTION, FETCHES, "S D o F b "},
	{"sh", RUNNER_SHELL, INTERPRETS, ""},
	{"socat", RUNNER_ALWAYS, FETCHES, ""},
	{"sort", RUNNER_OPTION, 0, "o output compress-program "},
	{"source", RUNNER_ALWAYS, INTERPRETS, ""},
	{"split", RUNNER_OPTION, 0, "filter "},
	{"sqlite3", RUNNER_ALWAYS, INTERPRETS, ""},
	{"ssh", RUNNER_ALWAYS, 0, ""},
	{"subl", RUNNER_ALWAYS, 0, ""},
	{"tar", RUNNER_OPTION, 0,
		"I F T files-from to-command use-compress-program checkpoint-action "
		"info-script "
		"index-file "
		"new-volume-script rsh-command rmt-command "},
	{"tclsh", RUNNER_OPERAND, INTERPRETS, ""},
	{"tcsh", RUNNER_ALWAYS, INTERPRETS, ""},
	{"telnet", RUNNER_NONE, FETCHES, ""},
	{"tree", RUNNER_OPTION, 0, "o R "},
	{"ts-node", RUNNER_OPERAND, INTERPRETS, ""},
	{"tsx", RUNNER_OPERAND, INTERPRETS, ""},
	{"unxz", RUNNER_NONE, FETCHES, ""},
	{"uudecode", RUNNER_ALWAYS, FETCHES, ""},
	{"vi", RUNNER_ALWAYS, 0, ""},
	{"view", RUNNER_ALWAYS, 0, ""},
	{"vim", RUNNER_ALWAYS, 0, ""},
	{"vimdiff", RUNNER_ALWAYS, 0, ""},
	{"wget", RUNNER_OPTION, FETCHES,
		"O o a e i execute output-document output-file append-output use-askpass "
		"config input-file P directory-prefix save-cookies hsts-file rejected-log "
		"warc-file "},
	{"xxd", RUNNER_OPTION, 0, ""},
	{"xzcat", RUNNER_NONE, FETCHES, ""},
	{"yq", RUNNER_OPTION, 0, "i in-place inplace s split-exp "},
	{"zcat", RUNNER_NONE, FETCHES, ""},
	{"zip", RUNNER_OPTION, 0, "T TT unzip-command "},
	{"zsh", RUNNER_ALWAYS, INTERPRETS, ""},
	{"zstdcat", RUNNER_NONE, FETCHES, ""},
};

#undef FETCHES
#undef INTERPRETS

static int compare(const void *key, const void *entry)
{
	const struct runner *const e = entry;

	return bytes_compare(*(const struct bytes *)key, bytes_of(e->name));
}

/* python3.11 and the like are what they are without their version. */
static const struct runner *runner_find(struct bytes name)
{
	const char *const p = name.data;
	size_t len = name.len;
	const struct runner *found;

	found = bsearch(
		&name, runners, sizeof(runners) / sizeof(*runners), sizeof(*runners), compare);
	while (!found && len &&
		((p[len - 1] >= '0' && p[len - 1] <= '9') || p[len - 1] == '.' ||
			p[len - 1] == '-')) {
		const struct bytes shorter = {p, --len};

		found = len ? bsearch(&shorter, runners, sizeof(runners) / sizeof(*runners),
				      sizeof(*runners), compare)
			    : NULL;
	}
	return found;
}

bool words_have(const char *list, struct bytes name)
{
	const char *p = list;

	while (name.len && (p = memmem(p, strlen(p), name.data, name.len)) != NULL) {
		if ((p == list || p[-1] == ' ') && p[name.len] == ' ')
			return true;
		p += name.len;
	}
	return false;
}

/* A long option may be cut short. */
static bool words_begin(const char *list, struct bytes name)
{
	const char *p = list;

	while (name.len > 1 && (p = memmem(p, strlen(p), name.data, name.len)) != NULL) {
		if (p == list || p[-1] == ' ')
			return true;
		p += name.len;
	}
	return false;
}

/* Whether an option in the list, or one that could be one, is given. */
static bool has_option(const struct shell_command *c, const char *list)
{
	struct shell_args args;
	struct shell_arg arg;

	shell_args_begin(&args, c->words, c->nwords);
	while (shell_args_next(&args, &arg))
		if ((arg.kind == SHELL_ARG_OPTION || arg.kind == SHELL_ARG_GLOBAL) &&
			(words_have(list, arg.name) ||
				(arg.word->text.len > 3 &&
					memcmp(arg.word->text.data, "--", 2) == 0 &&
					words_begin(list, arg.name))))
			return true;
	return false;
}

static bool pager_runs(const struct shell_command *c, const char *list)
{
	for (uint32_t i = 1; i < c->nwords; i++)
		if (c->words[i].text.len && *(const char *)c->words[i].text.data == '+')
			return true;
	return has_option(c, list);
}

/* With nothing but questions about itself an interpreter runs nothing. */
static bool asks_only(const struct shell_command *c)
{
	static const char *const asks[] = {"--version", "-V", "-v", "--help", "-h", NULL};

	if (c->nwords != 2 || c->words[1].flags & SHELL_DYNAMIC)
		return false;
	for (const char *const *a = asks; *a; a++)
		if (bytes_is(c->words[1].text, *a))
			return true;
	return false;
}

/* Modules that are tools of their own; others can run code that follows, or the folder's. */
static bool python_runs(const struct shell_command *c)
{
	static const char modules[] =
		"pytest unittest json.tool venv pip mypy black ruff flake8 "
		"isort pylint compileall py_compile tabnanny zipfile tarfile "
		"build ";

	if (asks_only(c))
		return false;
	return !(c->nwords > 2 && bytes_is(c->words[1].text, "-m") &&
		 !(c->words[2].flags & SHELL_DYNAMIC) && words_have(modules, c->words[2].text));
}

/* A shell with a script or nothing; -c and here-documents are seen through. */
static bool shell_runs(const struct shell_command *c)
{
	return !(c->flags & SHELL_WRAPS) && !asks_only(c);
}

unsigned shell_traits(const struct shell_command *command)
{
	const struct bytes name = shell_name(command);
	const struct runner *runner;
	unsigned traits = 0;
	bool runs = false;

	if (name.len == 0 || command->flags & SHELL_KEYWORD)
		return 0;
	if (command_reads_only(command, name))
		traits |= SHELL_READS_ONLY;
	runner = runner_find(name);
	if (!runner)
		return traits;
	traits |= runner->traits;
	switch ((enum runner_kind)runner->kind) {
	case RUNNER_ALWAYS: runs = true; break;
	case RUNNER_OPERAND: runs = !asks_only(command); break;
	case RUNNER_PYTHON: runs = python_runs(command); break;
	case RUNNER_OPTION: runs = has_option(command, runner->options); break;
	case RUNNER_PAGER: runs = pager_runs(command, runner->options); break;
	case RUNNER_SED: runs = sed_runs(command); break;
	case RUNNER_AWK: runs = awk_runs(command); break;
	case RUNNER_GIT: runs = git_runs(command); break;
	case RUNNER_SHELL: runs = shell_runs(command); break;
	case RUNNER_NONE: break;
	}
	/* what decodes only when it is told to */
	if ((strncmp(runner->name, "base", 4) == 0 && has_option(command, "d D decode ")) ||
		(bytes_is(name, "xxd") && has_option(command, "r revert ")) ||
		(bytes_is(name, "gpg") && has_option(command, "d decrypt ")))
		traits |= SHELL_FETCHES;
	if (runs)
		traits = (traits | SHELL_RUNS_OTHERS) & ~(unsigned)SHELL_READS_ONLY;
	return traits;
}
