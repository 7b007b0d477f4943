/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "frontends/common/output.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_MAX	10000
#define LABEL_COLUMNS	12

static const char *const styles[STYLE_N] = {
	[STYLE_PLAIN] = "",
	[STYLE_BOLD] = "\033[1m",
	[STYLE_FAINT] = "\033[2m",
	[STYLE_RED] = "\033[31m",
	[STYLE_GREEN] = "\033[32m",
	[STYLE_YELLOW] = "\033[33m",
};

void output_locale(void)
{
	/*
	 * On a terminal of another character set the bytes of UTF-8 would be read
	 * as something else, some of them as control characters.
	 */
	if (!setlocale(LC_CTYPE, "") || strcasecmp(nl_langinfo(CODESET), "UTF-8"))
		setlocale(LC_CTYPE, "C");
}

static size_t terminal_columns(int fd)
{
	struct winsize w;
	const char *env = getenv("COLUMNS");
	unsigned long n = env ? strtoul(env, NULL, 10) : 0;

	if (n > 0 && n <= COLUMNS_MAX)
		return n;
	if (!ioctl(fd, TIOCGWINSZ, &w) && w.ws_col > 0)
		return w.ws_col;
	return COLUMNS_DEFAULT;
}

void output_init(struct output *o, FILE *file)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	int fd = fileno(file);

	*o = (struct output){.file = file, .terminal = fd >= 0 && isatty(fd)};
	if (!o->terminal)
		return;
	o->colour = !(no_color && *no_color) && term && strcmp(term, "dumb");
	o->columns = terminal_columns(fd);
}

const char *output_style(const struct output *o, enum output_style style)
{
	return o->colour ? styles[style] : "";
}

const char *output_plain(const struct output *o, enum output_style style)
{
	return o->colour && style != STYLE_PLAIN ? "\033[0m" : "";
}

void output_printf(const struct output *o, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(o->file, format, ap);
	va_end(ap);
}

void output_styled(const struct output *o, enum output_style style, const char *s)
{
	fprintf(o->file, "%s%s%s", output_style(o, style), s, output_plain(o, style));
}

int output_text(const struct output *o, struct text *t)
{
	int r = t->failed ? -ENOMEM : 0;

	if (!r)
		fwrite(text_string(t), 1, t->len, o->file);
	text_free(t);
	return r;
}

static void label_write(const struct output *o, const char *label)
{
	size_t len = strlen(label);
	int pad = len < LABEL_COLUMNS ? (int)(LABEL_COLUMNS - len) : 0;

	fprintf(o->file, "%s%s:%s%*s", output_style(o, STYLE_BOLD), label,
		output_plain(o, STYLE_BOLD), pad, "");
}

int output_field(const struct output *o, const char *label, const char *text, size_t len)
{
	struct text t = {0};

	if (!text || !len)
		return 0;
	/* the terminal's own wrapping would let the text begin a line */
	if (o->columns && text_columns(text, len) + LABEL_COLUMNS + 2 > o->columns)
		return output_block(o, label, text, len);
	label_write(o, label);
	text_add(&t, " ");
	text_terminal(&t, text, len, 0);
	text_add(&t, "\n");
	return output_text(o, &t);
}

int output_block(const struct output *o, const char *label, const char *text, size_t len)
{
	struct text t = {0};

	if (!text || !len)
		return 0;
	fprintf(o->file, "%s%s:%s\n", output_style(o, STYLE_BOLD), label,
		output_plain(o, STYLE_BOLD));
	text_block(&t, text, len, o->columns);
	return output_text(o, &t);
}

int output_finish(struct output *o)
{
	int r = 0;

	errno = 0;
	if (fflush(o->file) || ferror(o->file))
		r = errno ? -errno : -EIO;
	return r;
}
