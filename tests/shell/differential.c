/* SPDX-License-Identifier: MIT */
/*
 * Compares the reader with Bash itself over random texts.
 *
 * Syntax: what we read, Bash accepts. What it accepts and we call unread is counted.
 * Runs: each text that we read runs in an empty folder with nothing in its PATH but
 * harmless programs, and every call of `p` that Bash makes must be among the commands
 * that we read, with the same words as far as they are known, and in a directory where
 * we said that it may run. Nothing may run unseen.
 *
 *	differential [NUMBER [SEED]]	(default: 10500 texts)
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/core/shell/shell.h"
#include "tests/shell/generate.h"

#define SKIP 77

static const char driver[] =
	"exec 8>syntax 2>/dev/null </dev/null\n"
	"export N_RUNS=$PWD/runs N_=\n"
	"i=0\n"
	"while IFS= read -r -d '' -u 7 __text; do\n"
	"	if (eval \"__f() { :\n$__text\n}\"); then echo 1 >&8; else echo 0 >&8; fi\n"
	"	if IFS= read -r -d '' -u 7 __run && [[ $__run == 1 ]]; then\n"
	"		cd ../work\n"
	"		(ulimit -t 1; N_=$i; unset OLDPWD __run; eval \"unset __text i; "
	"$__text\") 8>&- "
	"7<&- >/dev/null\n"
	"		wait\n"
	"		cd ../files\n"
	"	fi\n"
	"	i=$((i+1))\n"
	"done 7<texts\n";

static char top[] = "/tmp/approvald-shell-XXXXXX";
static char work[64];
static unsigned failures;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- texts ---- */

struct text {
	char *data;
	size_t len;
	bool read;     /* by us */
	bool accepted; /* by Bash */
	const char *reason;
};

static struct shell_context context(void)
{
	return (struct shell_context){.cwd = bytes_of(work), .home = bytes_of("/home/u")};
}

static struct text *texts_make(size_t n, uint64_t seed, const struct shell_arena *arena)
{
	struct text *const texts = calloc(n, sizeof(*texts));
	struct generator *const g = calloc(1, sizeof(*g));
	const struct shell_context c = context();

	need(texts && g, "calloc");
	g->seed = seed;
	for (size_t i = 0; i < n; i++) {
		struct shell shell;

		generate_text(g, i % 4 == 3);
		texts[i].data = malloc(g->len + 1);
		need(texts[i].data, "malloc");
		memcpy(texts[i].data, g->text, g->len);
		texts[i].data[g->len] = '\0';
		texts[i].len = strlen(texts[i].data);
		shell_read((struct bytes){texts[i].data, texts[i].len}, &c, arena, &shell);
		texts[i].read = !(shell.flags & SHELL_UNREAD);
		texts[i].reason = shell.reason;
	}
	free(g);
	return texts;
}

static void texts_write(const struct text *texts, size_t n)
{
	FILE *const f = fopen("texts", "w");

	need(f, "texts");
	for (size_t i = 0; i < n; i++) {
		fwrite(texts[i].data, 1, texts[i].len + 1, f);
		fputs(texts[i].read ? "1" : "0", f);
		fputc('\0', f);
	}
	need(fclose(f) == 0, "texts");
}

/* ---- running ---- */

static void program(const char *name, const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/bin/%s", top, name);
	need(symlink(target, path) == 0, path);
}

/*
 * The program `p` writes one record of the text's number, the folder and the arguments,
 * in a single write, so that those of concurrent calls don't mix: dash does.
 */
static void script_make(const char *path)
{
	FILE *const f = fopen(path, "w");

	need(f, path);
	fputs("#!/bin/dash\nprintf '%s\\0' \"$N_\" \"$PWD\" $# \"$@\" >>\"$N_RUNS\"\nexit 0\n",
		f);
	need(fclose(f) == 0 && chmod(path, 0700) == 0, path);
}

static void folders_make(void)
{
	static const char *const folders[] = {
		"", "/bin", "/files", "/work", "/work/a", "/work/b", "/work/a/b", "/home"};
	static const char *const programs[] = {
		"bash", "env", "timeout", "nice", "nohup", "xargs", "find"};
	char path[128];

	need(mkdtemp(top), top);
	for (size_t i = 1; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s%s", top, folders[i]);
		need(mkdir(path, 0700) == 0, path);
	}
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		snprintf(path, sizeof(path), "/usr/bin/%s", programs[i]);
		program(programs[i], path);
	}
	program("sh", "/bin/dash");
	snprintf(path, sizeof(path), "%s/bin/p", top);
	script_make(path);
	snprintf(path, sizeof(path), "%s/files", top);
	need(chdir(path) == 0, path);
	snprintf(work, sizeof(work), "%s/work", top);
}

static void bash_run(void)
{
	char path[128];
	const char *const environment[] = {path, "HOME=/home/u", "LC_ALL=C", NULL};
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "PATH=%s/bin", top);
	pid = fork();
	need(pid >= 0, "fork");
	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execle("/bin/bash", "bash", "--norc", "--noprofile", "-c", driver, (char *)NULL,
			environment);
		_exit(127);
	}
	need(waitpid(pid, &status, 0) == pid, "waitpid");
	kill(-pid, SIGKILL); /* what is left in the background */
	need(WIFEXITED(status) && WEXITSTATUS(status) != 127, "bash");
}

/* ---- comparing ---- */

struct call {
	const char *folder;
	const char *const *words;
	size_t n;
};

/* Whether a text is of the form of one with an unknown part for each NUL. */
static bool fits(const char *text, size_t len, const char *form, size_t n)
{
	size_t star = SIZE_MAX, mark = 0, i = 0, k = 0;

	while (i < len) {
		if (k < n && form[k] == '\0') {
			star = k++;
			mark = i;
		} else if (k < n && form[k] == text[i]) {
			i++;
			k++;
		} else if (star != SIZE_MAX) {
			k = star + 1;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (k < n && form[k] == '\0')
		k++;
	return k == n;
}

static bool words_fit(const struct shell_word *word, size_t nwords, const char *const *text,
	size_t n, bool more)
{
	if (nwords == 0)
		return n == 0 || more;
	if (word->flags & (SHELL_SPLITS | SHELL_GLOB)) {
		for (size_t k = 0; k <= n; k++)
			if (words_fit(word + 1, nwords - 1, text + k, n - k, more))
				return true;
		return false;
	}
	if (n == 0)
		return false;
	if (!(word->flags & SHELL_PLACE) &&
		!fits(*text, strlen(*text), word->text.data, word->text.len))
		return false;
	return words_fit(word + 1, nwords - 1, text + 1, n - 1, more);
}

static bool runs_there(const struct shell_cwd *cwd, const char *folder)
{
	for (uint32_t i = 0; i < cwd->n; i++)
		if (bytes_is(cwd->path[i], folder))
			return true;
	return cwd->n == 0;
}

static bool is_expected(const struct shell *shell, const struct call *call)
{
	for (uint32_t i = 0; i < shell->n; i++) {
		const struct shell_command *const c = &shell->commands[i];

		if (bytes_is(shell_name(c), "p") && !(c->flags & SHELL_KEYWORD) &&
			runs_there(c->cwd, call->folder) &&
			words_fit(c->words + 1, c->nwords - 1, call->words, call->n,
				c->flags & SHELL_MORE))
			return true;
	}
	return false;
}

static void show(const char *what, const struct text *text, const struct call *call)
{
	if (failures++ >= 20)
		return;
	printf("---- %s\n%.*s\n", what, (int)text->len, text->data);
	if (!call)
		return;
	printf("ran in %s: p", call->folder);
	for (size_t i = 0; i < call->n; i++)
		printf(" [%s]", call->words[i]);
	printf("\n");
}

static char *file_read(const char *name, size_t *len)
{
	struct stat st;
	const int fd = open(name, O_RDONLY | O_CLOEXEC);
	char *data;
	size_t n = 0;

	need(fd >= 0 && fstat(fd, &st) == 0, name);
	data = malloc((size_t)st.st_size + 1);
	need(data, "malloc");
	while (n < (size_t)st.st_size) {
		const ssize_t got = read(fd, data + n, (size_t)st.st_size - n);

		need(got > 0, name);
		n += (size_t)got;
	}
	close(fd);
	data[n] = '\0';
	*len = n;
	return data;
}

/* The calls that Bash made; their number. */
static size_t runs_check(struct text *texts, size_t n, const struct shell_arena *arena)
{
	const struct shell_context c = context();
	size_t len, calls = 0;
	char *const data = file_read("runs", &len);
	const char *p = data, *const end = data + len;
	const char **words = calloc(65536, sizeof(*words));
	struct text *text = NULL;
	struct shell shell;

	need(words, "calloc");
	while (p < end) {
		const bool unnumbered = *p == '\0';
		const size_t at = strtoul(p, NULL, 10);
		struct call call = {.folder = p + strlen(p) + 1, .words = words};

		need(at < n, "runs");
		if (text != &texts[at]) {
			text = &texts[at];
			shell_read((struct bytes){text->data, text->len}, &c, arena, &shell);
		}
		p = call.folder + strlen(call.folder) + 1;
		call.n = strtoul(p, NULL, 10);
		need(call.n < 65536, "runs");
		p += strlen(p) + 1;
		for (size_t i = 0; i < call.n; i++) {
			words[i] = p;
			p += strlen(p) + 1;
		}
		/* without a number: a text that we don't read left the function around it */
		if (unnumbered)
			continue;
		calls++;
		if (!is_expected(&shell, &call))
			show("ran unseen", text, &call);
	}
	free(words);
	free(data);
	return calls;
}

static void syntax_check(struct text *texts, size_t n)
{
	size_t len, read = 0, accepted = 0, unread = 0, rejected = 0;
	char *const data = file_read("syntax", &len);

	need(len == 2 * n, "syntax");
	for (size_t i = 0; i < n; i++) {
		texts[i].accepted = data[2 * i] == '1';
		accepted += texts[i].accepted;
		read += texts[i].read;
		unread += texts[i].accepted && !texts[i].read;
		rejected += !texts[i].accepted && !texts[i].read;
		if (texts[i].read && !texts[i].accepted)
			show("read, but not accepted by Bash", &texts[i], NULL);
	}
	printf("%zu texts: Bash accepts %zu, we read %zu; accepted but unread %zu; refused by "
	       "both %zu\n",
		n, accepted, read, unread, rejected);
	free(data);
}

static void unread_show(const struct text *texts, size_t n)
{
	const char *reasons[64] = {0};
	unsigned counts[64] = {0};

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		if (!texts[i].accepted || texts[i].read)
			continue;
		while (k < 63 && reasons[k] && reasons[k] != texts[i].reason)
			k++;
		reasons[k] = texts[i].reason;
		counts[k]++;
		if (getenv("SHOW_UNREAD") && strstr(texts[i].reason, getenv("SHOW_UNREAD")))
			printf("---- %s\n%s\n", texts[i].reason, texts[i].data);
	}
	for (size_t k = 0; k < 64 && reasons[k]; k++)
		printf("%8u %s\n", counts[k], reasons[k]);
}

int main(int argc, char **argv)
{
	const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 10500;
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct shell_arena arena;
	struct text *texts;
	char command[128];

	if (access("/bin/bash", X_OK) || access("/bin/dash", X_OK) ||
		access("/usr/bin/xargs", X_OK))
		return SKIP;
	need(shell_arena_init(&arena) == 0, "arena");
	folders_make();
	need(close(open("runs", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == 0, "runs");
	texts = texts_make(n, seed, &arena);
	texts_write(texts, n);
	bash_run();
	syntax_check(texts, n);
	unread_show(texts, n);
	printf("%zu calls compared\n", runs_check(texts, n, &arena));
	for (size_t i = 0; i < n; i++)
		free(texts[i].data);
	free(texts);
	shell_arena_free(&arena);
	snprintf(command, sizeof(command), "chmod -R u+rwx '%s' && rm -rf '%s'", top, top);
	need(chdir("/") == 0 && system(command) == 0, command);
	printf("%u differences\n", failures);
	return failures != 0;
}
