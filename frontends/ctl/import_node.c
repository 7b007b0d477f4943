/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/ctl/import_node.h"
#include "libapproval/limits.h"

struct memory_block {
	struct memory_block *next;
	max_align_t data[];
};

void *memory_get(struct memory *m, size_t size)
{
	struct memory_block *b = m->failed ? NULL : calloc(1, sizeof(*b) + size);

	if (!b) {
		m->failed = true;
		return NULL;
	}
	b->next = m->blocks;
	m->blocks = b;
	return b->data;
}

char *memory_copy(struct memory *m, const char *s, size_t len)
{
	char *const p = memory_get(m, len + 1);

	if (p && len)
		memcpy(p, s, len);
	return p;
}

char *memory_take(struct memory *m, struct text *t)
{
	char *p = NULL;

	if (t->failed)
		m->failed = true;
	else
		p = memory_copy(m, text_string(t), t->len);
	text_free(t);
	return p;
}

char *memory_printf(struct memory *m, const char *format, ...)
{
	struct text t = {0};
	va_list ap;

	va_start(ap, format);
	text_vprintf(&t, format, ap);
	va_end(ap);
	return memory_take(m, &t);
}

void memory_free(struct memory *m)
{
	while (m->blocks) {
		struct memory_block *const b = m->blocks;

		m->blocks = b->next;
		free(b);
	}
	*m = (struct memory){0};
}

struct node *node_new(struct memory *m, enum node_type type, unsigned line, unsigned column)
{
	struct node *n;

	if (m->nodes >= LIMIT_IMPORT_NODES)
		return NULL;
	n = memory_get(m, sizeof(*n));
	if (!n)
		return NULL;
	m->nodes++;
	n->type = type;
	n->line = line;
	n->column = column;
	n->text = "";
	return n;
}

const char *node_why(const struct memory *m)
{
	return m->failed ? "there is no memory" : "there are too many values";
}

void node_add(struct node *parent, const char *key, struct node *child)
{
	child->parent = parent;
	child->key = key;
	child->index = parent->n++;
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
}

struct node *node_get(const struct node *node, const char *key)
{
	if (!node || (node->type != NODE_TABLE && node->type != NODE_CALL))
		return NULL;
	for (struct node *n = node->first; n; n = n->next)
		if (n->key && !strcmp(n->key, key))
			return n;
	return NULL;
}

bool node_is(const struct node *node, const char *text)
{
	return node && node->type == NODE_STRING && !strcmp(node->text, text);
}

const char *node_path(struct memory *m, const struct node *node)
{
	const struct node *chain[LIMIT_IMPORT_DEPTH + 2];
	struct text t = {0};
	size_t n = 0;

	for (; node && node->parent && n < sizeof(chain) / sizeof(chain[0]);
		node = node->parent)
		chain[n++] = node;
	if (n == 0)
		return NULL;
	while (n > 0) {
		const struct node *const step = chain[--n];

		if (step->key)
			text_printf(&t, "%s%s", t.len ? "." : "", step->key);
		else
			text_printf(&t, "[%u]", step->index);
	}
	return memory_take(m, &t);
}
