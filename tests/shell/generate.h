/* SPDX-License-Identifier: MIT */
/* Random command texts, the same for the same seed. They can do no harm: see generate.c. */
#ifndef TEST_SHELL_GENERATE_H
#define TEST_SHELL_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GENERATE_MAX 4000

struct generator {
	uint64_t seed;
	char text[GENERATE_MAX + 64];
	size_t len;
	unsigned depth;
	/* here-documents whose bodies are due after the next newline */
	unsigned docs;
	bool quoted[8];
	bool sh; /* nothing that only Bash reads */
};

uint64_t generate_random(struct generator *g);
/* A text in g->text; mutated: a few of its characters changed. */
void generate_text(struct generator *g, bool mutated);

#endif
