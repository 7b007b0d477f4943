/* SPDX-License-Identifier: MIT */
/* What the readers of JSON, TOML and Starlark have in common: values with their places. */
#ifndef CTL_IMPORT_NODE_H
#define CTL_IMPORT_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontends/common/text.h"

/* Memory that is freed as a whole. Once there was none, `failed` stays set. */
struct memory {
	struct memory_block *blocks;
	size_t nodes;
	bool failed;
};

void *memory_get(struct memory *m, size_t size); /* zeroed; NULL */
/* A copy with a NUL behind it. */
char *memory_copy(struct memory *m, const char *s, size_t len);
/* What was built, which is freed. */
char *memory_take(struct memory *m, struct text *t);
char *memory_printf(struct memory *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void memory_free(struct memory *m);

enum node_type {
	NODE_NULL,
	NODE_BOOL,
	NODE_INT,
	NODE_NUMBER, /* any other, or a date: its value is not kept */
	NODE_STRING,
	NODE_ARRAY,
	NODE_TABLE,
	NODE_CALL, /* of a function, `text` its name; its arguments are members */
};

struct node {
	enum node_type type;
	unsigned line, column;
	struct node *parent, *next, *first, *last;
	const char *key;  /* of a member of a table or call; NULL: none */
	const char *text; /* holds no NUL */
	size_t len;
	int64_t number; /* a bool, too */
	uint32_t n;	/* of members */
	uint32_t index; /* among those of the parent */
	uint8_t mark;	/* the reader's own */
};

/* Why a reader stopped. */
struct reader_error {
	unsigned line, column;
	const char *text; /* static */
};

/* NULL without memory, or over LIMIT_IMPORT_NODES: see node_why. */
struct node *node_new(struct memory *m, enum node_type type, unsigned line, unsigned column);
const char *node_why(const struct memory *m);
void node_add(struct node *parent, const char *key, struct node *child);
/* NULL: none, or node is NULL or has no members. */
struct node *node_get(const struct node *node, const char *key);
bool node_is(const struct node *node, const char *text); /* a string of this text */
/* "a.b[3]"; NULL: the top, or no memory. */
const char *node_path(struct memory *m, const struct node *node);

/*
 * Each reads a whole text: the top, a table (of import_starlark_read an array of calls);
 * NULL: *error says why.
 */
struct node *import_json_read(struct memory *m, const char *text, size_t len, bool comments,
	struct reader_error *error);
struct node *import_toml_read(
	struct memory *m, const char *text, size_t len, struct reader_error *error);
struct node *import_starlark_read(
	struct memory *m, const char *text, size_t len, struct reader_error *error);

#endif
