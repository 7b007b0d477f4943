/* SPDX-License-Identifier: MIT */
/* Runs a configured hook as an agent would, to see what it does. */
#ifndef HOOK_PROBE_H
#define HOOK_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#define PROBE_OUTPUT_MAX 65536

struct probe {
	const char *const *argv; /* ends with NULL; argv[0] is what is executed */
	const char *const *env;	 /* NAME=VALUE added to ours; ends with NULL */
	const char *input;
	int timeout_ms;

	int status; /* exit status; -1: it did not exit by itself */
	int signal; /* that ended it; 0: none */
	bool late;  /* it was ended by us */
	char out[PROBE_OUTPUT_MAX + 1], err[PROBE_OUTPUT_MAX + 1];
	size_t out_len, err_len;
};

/* 0 when it ran, however it ended; a negative errno when it could not be run. */
int probe_run(struct probe *p);

#endif
