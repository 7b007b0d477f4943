/* SPDX-License-Identifier: MIT */
/* approvalctl with the real broker, while a `watch --json` looks on. Whatever fails ends the
 * test (ck_abort). */
#ifndef TEST_CTL_LIVE_H
#define TEST_CTL_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"

struct live {
	struct broker broker;
	struct run watch;
	char witness[128]; /* a file that only a command that runs makes */
};

/* Starts both; the environment leads to the broker. */
void live_init(struct live *l);
/* Ends both: the watch with SIGINT, as a person does, and the broker with SIGTERM. */
void live_fini(struct live *l);
bool live_witnessed(const struct live *l);

/* Runs a command to its end and gives back its whole output, to be freed. */
char *live_output(int status, const char *const *words);
#define OUTPUT(status, ...) live_output(status, (const char *const[]){__VA_ARGS__, NULL})
#define EXPECT(status, ...) free(OUTPUT(status, __VA_ARGS__))

/* The text has that in it. */
void live_has(const char *text, const char *what);
/* Plain text for programs: no escape sequence, every line of n cells. */
void live_plain(const char *text, size_t cells);

#endif
