/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <msgpack/pack.h>
#include <stdlib.h>
#include "libapproval/wire/frame.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/value.h"

#define BUFFER_FIRST 256u

/* ---- the buffer ---- */

void wire_buffer_init(struct wire_buffer *b, size_t max)
{
	*b = (struct wire_buffer){.max = max};
}

void wire_buffer_free(struct wire_buffer *b)
{
	free(b->data);
	wire_buffer_init(b, b->max);
}

void wire_buffer_reset(struct wire_buffer *b, size_t keep)
{
	if (b->cap > keep) {
		wire_buffer_free(b);
		return;
	}
	b->len = 0;
	b->values = 0;
	b->error = 0;
}

void wire_buffer_fail(struct wire_buffer *b, int error)
{
	if (!b->error)
		b->error = error;
}

/* cap never exceeds max, so that what fits into cap needs no other test. */
static int grow(struct wire_buffer *b, size_t len)
{
	size_t cap = b->cap ? b->cap : BUFFER_FIRST;
	uint8_t *data;

	if (len > b->max - b->len)
		return b->error = -EMSGSIZE;
	while (cap - b->len < len)
		cap = cap > b->max / 2 ? b->max : cap * 2;
	if (cap > b->max)
		cap = b->max;
	data = realloc(b->data, cap);
	if (!data)
		return b->error = -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

static inline int reserve(struct wire_buffer *b, size_t len)
{
	if (b->error)
		return b->error;
	return len <= b->cap - b->len ? 0 : grow(b, len);
}

int wire_buffer_reserve(struct wire_buffer *b, size_t len)
{
	return reserve(b, len);
}

static inline void append(struct wire_buffer *b, const void *data, size_t len)
{
	if (len == 0 || reserve(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

void wire_buffer_append(struct wire_buffer *b, const void *data, size_t len)
{
	append(b, data, len);
}

uint8_t *wire_buffer_take(struct wire_buffer *b, size_t *len)
{
	uint8_t *const data = b->data;

	*len = b->len;
	wire_buffer_init(b, b->max);
	return data;
}

struct wire_mark wire_buffer_mark(const struct wire_buffer *b)
{
	return (struct wire_mark){.len = b->len, .values = b->values, .error = b->error};
}

void wire_buffer_rewind(struct wire_buffer *b, struct wire_mark mark)
{
	b->len = mark.len;
	b->values = mark.values;
	if (b->error == -EMSGSIZE)
		b->error = mark.error;
}

/* ---- values, through msgpack-c ---- */

static int write_bytes(void *buffer, const char *data, size_t len)
{
	struct wire_buffer *const b = buffer;

	append(b, data, len);
	return b->error ? -1 : 0;
}

/* One more value. The buffer's error says what a packing function's result would. */
static msgpack_packer packer(struct wire_buffer *b)
{
	b->values++;
	return (msgpack_packer){.data = b, .callback = write_bytes};
}

void wire_pack_nil(struct wire_buffer *b)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_nil(&pk);
}

void wire_pack_bool(struct wire_buffer *b, bool v)
{
	msgpack_packer pk = packer(b);

	if (v)
		msgpack_pack_true(&pk);
	else
		msgpack_pack_false(&pk);
}

void wire_pack_u64(struct wire_buffer *b, uint64_t v)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_uint64(&pk, v);
}

void wire_pack_i64(struct wire_buffer *b, int64_t v)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_int64(&pk, v);
}

void wire_pack_f64(struct wire_buffer *b, double v)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_double(&pk, v);
}

void wire_pack_str(struct wire_buffer *b, struct bytes v)
{
	if (!v.data) {
		wire_pack_nil(b);
	} else if (v.len < 32) { /* most are, and their head is one byte */
		if (reserve(b, v.len + 1))
			return;
		b->data[b->len] = (uint8_t)(0xa0 | v.len);
		memcpy(b->data + b->len + 1, v.data, v.len);
		b->len += v.len + 1;
		b->values++;
	} else if (v.len > UINT32_MAX) {
		wire_buffer_fail(b, -EMSGSIZE);
	} else {
		msgpack_packer pk = packer(b);

		msgpack_pack_str(&pk, v.len);
		append(b, v.data, v.len);
	}
}

void wire_pack_bin(struct wire_buffer *b, struct bytes v)
{
	if (!v.data) {
		wire_pack_nil(b);
	} else if (v.len > UINT32_MAX) {
		wire_buffer_fail(b, -EMSGSIZE);
	} else {
		msgpack_packer pk = packer(b);

		msgpack_pack_bin(&pk, v.len);
		append(b, v.data, v.len);
	}
}

void wire_pack_raw(struct wire_buffer *b, struct bytes raw)
{
	struct wire_measure m;

	if (!raw.data) {
		wire_pack_nil(b);
	} else if (wire_measure(raw, &m)) {
		wire_buffer_fail(b, -EINVAL);
	} else {
		b->values += m.values;
		append(b, raw.data, raw.len);
	}
}

void wire_pack_array(struct wire_buffer *b, uint32_t n)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_array(&pk, n);
}

void wire_pack_map(struct wire_buffer *b, uint32_t n)
{
	msgpack_packer pk = packer(b);

	msgpack_pack_map(&pk, n);
}

/* ---- containers that count for themselves ---- */

/* An array 16 or a map 16, whose count is put in when it is closed. */
static void open_at(struct wire_open *o, struct wire_buffer *b, uint8_t lead)
{
	const uint8_t head[3] = {lead, 0, 0};

	*o = (struct wire_open){.b = b, .at = b->len};
	b->values++;
	append(b, head, sizeof(head));
}

void wire_map_open(struct wire_open *m, struct wire_buffer *b)
{
	open_at(m, b, 0xde);
}

void wire_array_open(struct wire_open *a, struct wire_buffer *b)
{
	open_at(a, b, 0xdc);
}

void wire_array_item(struct wire_open *a)
{
	a->n++;
}

void wire_close(struct wire_open *o)
{
	if (o->n > UINT16_MAX)
		wire_buffer_fail(o->b, -EMSGSIZE);
	if (o->b->error)
		return;
	o->b->data[o->at + 1] = (uint8_t)(o->n >> 8);
	o->b->data[o->at + 2] = (uint8_t)o->n;
}

/* ---- messages ---- */

void wire_pack_reply_ok(struct wire_buffer *b, uint32_t id)
{
	wire_pack_array(b, 4);
	wire_pack_u64(b, WIRE_REPLY);
	wire_pack_u64(b, id);
	wire_pack_nil(b);
}

void wire_pack_reply_error(struct wire_buffer *b, uint32_t id, enum wire_code code,
	const char *message, const char *key, struct bytes value)
{
	wire_pack_array(b, 4);
	wire_pack_u64(b, WIRE_REPLY);
	wire_pack_u64(b, id);
	wire_pack_map(b, 3);
	wire_pack_strz(b, "code");
	wire_pack_strz(b, wire_code_name(code));
	wire_pack_strz(b, "message");
	wire_pack_strz(b, message);
	wire_pack_strz(b, "data");
	if (key) {
		wire_pack_map(b, 1);
		wire_pack_strz(b, key);
		wire_pack_str(b, value);
	} else {
		wire_pack_nil(b);
	}
	wire_pack_nil(b);
}

void wire_pack_call(struct wire_buffer *b, uint32_t id, struct bytes method)
{
	wire_pack_array(b, 4);
	wire_pack_u64(b, WIRE_CALL);
	wire_pack_u64(b, id);
	wire_pack_str(b, method);
	wire_pack_array(b, 1);
}

void wire_pack_notify(struct wire_buffer *b, struct bytes method)
{
	wire_pack_array(b, 3);
	wire_pack_u64(b, WIRE_NOTIFY);
	wire_pack_str(b, method);
	wire_pack_array(b, 1);
}
