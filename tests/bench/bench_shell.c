/* SPDX-License-Identifier: MIT */
/*
 * The time that reading a command of 200 bytes takes, at the median, against splitting
 * the same bytes at blanks in the same run. Fails never by them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "broker/core/shell/shell.h"

#define ROUNDS	2001
#define REPEATS 50

static const char *const commands[] = {
	"cd src && grep -rn 'struct shell_word' --include='*.c' . | head -20 && git log "
	"--oneline -5 -- broker/core/shell.c > /dev/null 2>&1 || echo \"nothing found in "
	"$PWD\"; timeout 60 make -j2 check TESTS=t1 | tail",
	"for f in src/*.c tests/*.c; do gcc -std=gnu11 -Wall -Wextra -O2 -c \"$f\" -o "
	"\"/tmp/$(basename \"$f\" .c).o\" || exit 1; done; ls -la /tmp/*.o | wc -l; if [ -f "
	"Makefile ]; then make -s all 2>&1 | head; fi",
	"git add -A && git commit -m \"$(cat <<'EOF'\nfix: the reader takes a joined line for "
	"a blank\n\nIt ended the word before, so that a command could be cut in two.\nEOF\n)\" "
	"&& git push -u origin feature && echo done 12345",
	"ls -la src/broker/core/shell tests/unit tests/fuzz doc/hacking.md doc/security.md "
	"libapproval/limits.h libapproval/bytes.h broker/local.mk broker/core/local.mk "
	"README.md NEWS LICENSE Makefile.am a.c",
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Words at blanks, copied: the least that anything which looks at commands does. */
static size_t split(struct bytes text, char *to)
{
	const char *p = text.data, *const end = p + text.len;
	size_t n = 0;

	while (p < end) {
		while (p < end && (*p == ' ' || *p == '\n'))
			p++;
		while (p < end && *p != ' ' && *p != '\n')
			*to++ = *p++;
		*to++ = '\0';
		n++;
	}
	return n;
}

/* Nanoseconds of one reading, at the median. */
static double measure(struct bytes text, const struct shell_arena *arena, bool reading)
{
	const struct shell_context context = {
		.cwd = bytes_of("/home/u/project"), .home = bytes_of("/home/u")};
	static double times[ROUNDS];
	static char copy[1024];
	struct shell shell;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const int64_t start = now();

		for (unsigned k = 0; k < REPEATS; k++) {
			if (reading)
				shell_read(text, &context, arena, &shell);
			else
				split(text, copy);
			__asm__ volatile("" ::: "memory");
		}
		times[i] = (double)(now() - start) / REPEATS;
	}
	if (reading && shell.flags & SHELL_UNREAD) {
		fprintf(stderr, "unread: %s\n", shell.reason);
		exit(1);
	}
	qsort(times, ROUNDS, sizeof(*times), compare);
	return times[ROUNDS / 2];
}

int main(void)
{
	struct shell_arena arena;
	double worst = 0;

	if (shell_arena_init(&arena))
		return 1;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const struct bytes text = bytes_of(commands[i]);
		const double base = measure(text, &arena, false);
		const double read = measure(text, &arena, true) * 200 / (double)text.len;

		printf("%.*s…: %zu bytes, split %.0f ns, read %.0f ns for 200 bytes, ratio "
		       "%.1f\n",
			24, commands[i], text.len, base, read, read / base);
		worst = read > worst ? read : worst;
	}
	printf("reading a 200-byte command, the slowest kind: %.2f us at the median "
	       "(at most 2)\n",
		worst / 1000);
	shell_arena_free(&arena);
	return 0;
}
