/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz_import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check(int ok)
{
	if (!ok)
		abort();
}

/* One line of printable ASCII that begins with its verdict and is in balance. */
static void check_line(const struct import_line *l)
{
	const char *const verdict = import_verdict_name(l->verdict);
	const size_t n = strlen(verdict);
	const char *const open = strchr(l->text, '(');

	check(!strncmp(l->text, verdict, n) && l->text[n] == ' ' && l->text[n + 1]);
	check(l->place.line > 0 && l->place.column > 0);
	for (const char *p = l->text; *p; p++)
		check(*p >= ' ' && *p < 0x7f && *p != '#');
	check(!open || (l->text[strlen(l->text) - 1] == ')' && strlen(open) > 2));
}

static void check_import(const struct import *im, int r)
{
	const struct import_warning *warnings;
	const struct import_line *lines;
	const size_t n = import_lines(im, &lines), m = import_warnings(im, &warnings);

	check(r == 0 || (r == -EINVAL && n == 0 && m == 1));
	for (size_t i = 0; i < n; i++) {
		check_line(&lines[i]);
		check(i == 0 || strcmp(lines[i - 1].text, lines[i].text) != 0);
	}
	for (size_t i = 0; i < m; i++)
		check(warnings[i].text && *warnings[i].text);
}

void fuzz_import(enum import_source source, const uint8_t *data, size_t size)
{
	for (int rest = 0; rest < 2; rest++) {
		const struct import_options options = {.source = source, .drop_rest = rest};
		struct import *im;
		const int r = import_run(&im, &options, (const char *)data, size);

		if (r != -ENOMEM)
			check_import(im, r);
		import_free(im);
	}
}
