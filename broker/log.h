/* SPDX-License-Identifier: MIT */
/* The broker's log: lines on standard error, with priorities where the journal reads them. */
#ifndef BROKER_LOG_H
#define BROKER_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "libapproval/bytes.h"

/* syslog's numbers */
enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

/* What a log says, kept for somebody who asked: errors alone, one after another, each whole. */
struct log_copy {
	char text[1024];
	size_t len;
};

struct log {
	int fd;
	enum log_level level; /* what is above it is not written */
	bool prefixes;	      /* "<N>" before each line */
	const char *name;     /* "NAME: " before each line; NULL: none */
	struct log_copy *copy; /* where errors go, too; NULL: nowhere */
};

/* Standard error; prefixes when JOURNAL_STREAM names it. */
void log_init(struct log *log, enum log_level level);

/*
 * One line. Whatever the text holds, control characters, direction overrides and
 * broken UTF-8 come out visibly escaped, so nothing can forge a line. NULL: nothing.
 */
void log_write(const struct log *log, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(log, ...)   log_write(log, LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(log, ...) log_write(log, LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(log, ...)  log_write(log, LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(log, ...)    log_write(log, LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(log, ...)   log_write(log, LOG_LEVEL_DEBUG, __VA_ARGS__)

/*
 * Foreign text for use inside a line, quoted: "…" with backslash and quote escaped
 * too, cut to the buffer with "…" at the end. Returns out. size at least 8.
 */
const char *log_quote(char *out, size_t size, struct bytes text);

/* 0, or -EINVAL: "error", "warning", "notice", "info", "debug". */
int log_level_parse(const char *name, enum log_level *out);

#endif
