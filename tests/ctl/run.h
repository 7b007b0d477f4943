/* SPDX-License-Identifier: MIT */
/* Runs approvalctl and talks with it. Whatever fails ends the test (ck_abort). */
#ifndef TEST_CTL_RUN_H
#define TEST_CTL_RUN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RUN_ARGS 24

struct run {
	pid_t pid;
	int in, out, err;   /* our ends; in is -1 once closed */
	char *text, *error; /* what came so far, NUL-terminated */
	size_t len, error_len;
	size_t taken; /* of text, by run_line and run_next */
	int status;   /* exit status, or -signal; once it has ended */
};

/* $APPROVALCTL, else ./approvalctl, with these words; ends with NULL. */
void run_start(struct run *r, const char *const *words);
#define RUN(r, ...) run_start((r), (const char *const[]){__VA_ARGS__, NULL})
/* Another program in its place. */
void run_program(struct run *r, const char *program, const char *const *words);
/* The same on a terminal of its own: in, out and err are that one. */
void run_start_tty(struct run *r, const char *const *words);
/* The same on one of so many columns: libtool's wrapper lets COLUMNS follow that. */
void run_start_tty_of(struct run *r, unsigned short columns, const char *const *words);

/* The next line of standard output, without its end; valid until the next call. */
const char *run_line(struct run *r);
/* Reads until standard output (or standard error) has that in it. */
void run_until(struct run *r, const char *what);
void run_until_error(struct run *r, const char *what);
/* The same, behind what run_line or an earlier one has taken; takes it. */
void run_next(struct run *r, const char *what);
void run_write(struct run *r, const char *s);
void run_close_in(struct run *r);
/* Reads all until it ends; the exit status. */
int run_wait(struct run *r);
void run_free(struct run *r);

/* Starts, closes its input, waits; the exit status. To be freed. */
int run_whole(struct run *r, const char *const *words);
#define RUN_WHOLE(r, ...) run_whole((r), (const char *const[]){__VA_ARGS__, NULL})

/* A `watch --json` that is past its snapshot. */
void watch_start(struct run *r);
/* Skips events up to one of that name; to be released with json_object_put. */
struct json_object *watch_event(struct run *r, const char *name);
/* The request of the next "offered", copied. */
void watch_offered(struct run *r, char id[64]);

/* A member by its path of keys; "" where there is none. */
const char *json_text(struct json_object *j, const char *key);
const char *json_item_text(struct json_object *event, const char *key);

#endif
