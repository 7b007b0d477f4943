/* SPDX-License-Identifier: MIT */
/*
 * Writing messages. A buffer's error is sticky: after the first failure every
 * call does nothing, so a message is written without a test on each line and
 * its error is asked once, at the end.
 */
#ifndef WIRE_PACK_H
#define WIRE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "libapproval/bytes.h"
#include "libapproval/wire/code.h"

struct wire_buffer {
	uint8_t *data;
	size_t len, cap;
	size_t max;	 /* bytes that it may hold; more is -EMSGSIZE */
	uint32_t values; /* MessagePack values written, for whoever fills a page */
	int error;	 /* 0, -ENOMEM, -EMSGSIZE, -EINVAL */
};

void wire_buffer_init(struct wire_buffer *b, size_t max);
void wire_buffer_free(struct wire_buffer *b);
/* Empties it and forgets the error, but keeps the memory up to `keep` bytes. */
void wire_buffer_reset(struct wire_buffer *b, size_t keep);
/* Appends bytes as they are; they do not count as values. */
void wire_buffer_append(struct wire_buffer *b, const void *data, size_t len);
/* Makes room for len more bytes. 0, or the buffer's error. */
int wire_buffer_reserve(struct wire_buffer *b, size_t len);
/* Sets the error, unless there is one. */
void wire_buffer_fail(struct wire_buffer *b, int error);
/* Hands the memory over, to be freed with free(); the buffer is empty after. */
uint8_t *wire_buffer_take(struct wire_buffer *b, size_t *len);

static inline struct bytes wire_buffer_bytes(const struct wire_buffer *b)
{
	return (struct bytes){b->data, b->len};
}

/* A place to go back to, for what turns out not to fit. Also takes back -EMSGSIZE. */
struct wire_mark {
	size_t len;
	uint32_t values;
	int error;
};
struct wire_mark wire_buffer_mark(const struct wire_buffer *b);
void wire_buffer_rewind(struct wire_buffer *b, struct wire_mark mark);

/* ---- values ---- */

void wire_pack_nil(struct wire_buffer *b);
void wire_pack_bool(struct wire_buffer *b, bool v);
void wire_pack_u64(struct wire_buffer *b, uint64_t v);
void wire_pack_i64(struct wire_buffer *b, int64_t v);
void wire_pack_f64(struct wire_buffer *b, double v);
void wire_pack_str(struct wire_buffer *b, struct bytes v);   /* data NULL: nil */
void wire_pack_bin(struct wire_buffer *b, struct bytes v);   /* data NULL: nil */
void wire_pack_raw(struct wire_buffer *b, struct bytes raw); /* one value; data NULL: nil */
void wire_pack_array(struct wire_buffer *b, uint32_t n);     /* n values follow */
void wire_pack_map(struct wire_buffer *b, uint32_t n);	     /* n keys and values follow */

/*
 * Containers that count for themselves, at most 65535 elements:
 *	struct wire_open m;
 *	wire_map_open(&m, buf);
 *	wire_map_str(&m, "tool", tool);
 *	wire_map_key(&m, "paths");	(then exactly one value)
 *	wire_close(&m);
 * and
 *	wire_array_open(&a, buf);
 *	wire_array_item(&a);		(then exactly one value)
 *	wire_close(&a);
 */
struct wire_open {
	struct wire_buffer *b;
	size_t at; /* where its head stands */
	uint32_t n;
};
void wire_map_open(struct wire_open *m, struct wire_buffer *b);
void wire_array_open(struct wire_open *a, struct wire_buffer *b);
void wire_array_item(struct wire_open *a);
void wire_close(struct wire_open *o);

/* Inline, so that the length of a constant key is no work. */
static inline void wire_pack_strz(struct wire_buffer *b, const char *v) /* NULL: nil */
{
	wire_pack_str(b, bytes_of(v));
}

static inline void wire_map_key(struct wire_open *m, const char *key)
{
	m->n++;
	wire_pack_strz(m->b, key);
}

static inline void wire_map_nil(struct wire_open *m, const char *key)
{
	wire_map_key(m, key);
	wire_pack_nil(m->b);
}

static inline void wire_map_bool(struct wire_open *m, const char *key, bool v)
{
	wire_map_key(m, key);
	wire_pack_bool(m->b, v);
}

static inline void wire_map_u64(struct wire_open *m, const char *key, uint64_t v)
{
	wire_map_key(m, key);
	wire_pack_u64(m->b, v);
}

static inline void wire_map_i64(struct wire_open *m, const char *key, int64_t v)
{
	wire_map_key(m, key);
	wire_pack_i64(m->b, v);
}

/* An absent value (data NULL, or NULL) is nil. */
static inline void wire_map_str(struct wire_open *m, const char *key, struct bytes v)
{
	wire_map_key(m, key);
	wire_pack_str(m->b, v);
}

static inline void wire_map_strz(struct wire_open *m, const char *key, const char *v)
{
	wire_map_key(m, key);
	wire_pack_strz(m->b, v);
}

static inline void wire_map_bin(struct wire_open *m, const char *key, struct bytes v)
{
	wire_map_key(m, key);
	wire_pack_bin(m->b, v);
}

static inline void wire_map_raw(struct wire_open *m, const char *key, struct bytes v)
{
	wire_map_key(m, key);
	wire_pack_raw(m->b, v);
}

/* ---- messages ---- */

/* Exactly one value follows: the result. */
void wire_pack_reply_ok(struct wire_buffer *b, uint32_t id);
/* Complete. data is {key: value}, or nil where key is NULL; message may be NULL. */
void wire_pack_reply_error(struct wire_buffer *b, uint32_t id, enum wire_code code,
	const char *message, const char *key, struct bytes value);
/* Exactly one map follows: the params. */
void wire_pack_call(struct wire_buffer *b, uint32_t id, struct bytes method);
void wire_pack_notify(struct wire_buffer *b, struct bytes method);

#endif
