/* SPDX-License-Identifier: MIT */
/*
 * JSON as text: where each value stands, so that a file can be changed in one
 * place and keep every other byte. Strict: no comments, no trailing commas, no
 * name twice in one object.
 */
#ifndef HOOK_JSONTEXT_H
#define HOOK_JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#define JSONTEXT_SIZE_MAX (4u << 20)
#define JSONTEXT_NODES	  65536u
#define JSONTEXT_DEPTH	  64u

enum jsontext_type {
	JSONTEXT_OBJECT,
	JSONTEXT_ARRAY,
	JSONTEXT_STRING,
	JSONTEXT_NUMBER,
	JSONTEXT_LITERAL, /* true, false, null */
};

struct jsontext_node {
	enum jsontext_type type;
	size_t start, end; /* of the value, quotes and brackets included */
	size_t item;	   /* where its name begins, in an object; else start */
	char *name;	   /* decoded; NULL outside of objects */
	struct jsontext_node *first, *last; /* of a container */
	struct jsontext_node *previous, *next, *parent;
	struct jsontext_node *made; /* all of them, to be freed */
};

struct jsontext {
	const char *text; /* the caller's */
	size_t len;
	struct jsontext_node *root;
	struct jsontext_node *made;
	unsigned nodes;
	size_t at;	   /* where it failed */
	const char *error; /* static, for people */
};

/* -EBADMSG with error and at; -ENOMEM. jsontext_free in any case. */
int jsontext_parse(struct jsontext *t, const char *text, size_t len);
void jsontext_free(struct jsontext *t);
/* The line of a place, from 1. */
unsigned jsontext_line(const struct jsontext *t, size_t at);

const struct jsontext_node *jsontext_member(
	const struct jsontext_node *object, const char *name);
/* The decoded text of a string, to be freed; NULL for other types and without memory. */
char *jsontext_string(const struct jsontext *t, const struct jsontext_node *node);
bool jsontext_is(const struct jsontext *t, const struct jsontext_node *node, const char *text);

#endif
