/* SPDX-License-Identifier: MIT */
/*
 * The boundary scan on any bytes: its answer does not depend on how they are cut
 * into pieces, agrees with the readers and with msgpack-c, and what a message is
 * decoded into lies inside it. See driver.c for how to run it.
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <msgpack.h>
#include "libapproval/wire/frame.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

/* msgpack-c's own bound on nesting */
#define UNPACKER_DEPTH 31

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct answer {
	int rc;
	size_t used;
	uint32_t values;
	uint8_t deepest;
};

/* Fed in pieces of 1 to `most` bytes; 0: in one. */
static struct answer scan_pieces(struct bytes in, bool any, size_t most)
{
	const uint8_t *const data = in.data;
	struct wire_scan s;
	size_t at = 0, used, n;
	uint32_t noise = (uint32_t)(in.len + most);
	int rc;

	if (any)
		wire_scan_init_any(&s);
	else
		wire_scan_init(&s);
	do {
		noise = noise * 1664525 + 1013904223;
		n = most ? 1 + (noise >> 16) % most : in.len;
		n = n < in.len - at ? n : in.len - at;
		rc = wire_scan_feed(&s, data + at, n, &used);
		assert(used <= n);
		assert(rc != WIRE_SCAN_MORE || used == n);
		at += used;
	} while (rc == WIRE_SCAN_MORE && at < in.len);
	assert(rc < 0 || s.size == at);
	assert(s.values <= LIMIT_ELEMENTS && s.deepest <= LIMIT_DEPTH && s.size <= LIMIT_FRAME);
	return (struct answer){.rc = rc, .used = at, .values = s.values, .deepest = s.deepest};
}

static struct answer scan(struct bytes in, bool any)
{
	const struct answer whole = scan_pieces(in, any, 0);
	static const size_t mosts[] = {1, 2, 5, 64};

	for (size_t i = 0; i < sizeof(mosts) / sizeof(*mosts); i++) {
		const struct answer a = scan_pieces(in, any, mosts[i]);

		assert(a.rc == whole.rc && a.used == whole.used);
		assert(a.values == whole.values && a.deepest == whole.deepest);
	}
	return whole;
}

static void check_inside(struct bytes outer, struct bytes inner)
{
	const char *const from = outer.data, *const at = inner.data;

	assert(!at || (at >= from && at + inner.len <= from + outer.len));
}

/* What else reads MessagePack must see the object as the scan does. */
static void check_readers(struct bytes in, struct answer a)
{
	struct bytes cursor = in, value;
	const int rc = wire_skip(&cursor, &value);

	assert(rc == 0 || rc == -EBADMSG);
	if (a.rc == WIRE_SCAN_DONE) {
		struct wire_measure m;

		assert(rc == 0 && value.data == in.data && value.len == a.used);
		assert(wire_measure(value, &m) == 0 && wire_scan_value(value) == 0);
		assert(m.depth == a.deepest && m.values == a.values);
	} else if (a.rc != -EMSGSIZE) {
		assert(rc == -EBADMSG);
	}
}

static void check_unpacker(struct bytes in, struct answer a)
{
	msgpack_unpacked unpacked;
	size_t at = 0;
	msgpack_unpack_return rc;

	if (a.rc != WIRE_SCAN_DONE || a.deepest > UNPACKER_DEPTH)
		return;
	msgpack_unpacked_init(&unpacked);
	rc = msgpack_unpack_next(&unpacked, in.data, a.used, &at);
	assert(rc == MSGPACK_UNPACK_SUCCESS && at == a.used);
	msgpack_unpacked_destroy(&unpacked);
}

/* Every value of the object, one after another, without its structure. */
static void read_all(struct bytes in)
{
	struct bytes cursor = in;
	struct wire_value v;

	while (cursor.len > 0 && wire_read(&cursor, &v) == 0) {
		if (v.kind == WIRE_KIND_STR || v.kind == WIRE_KIND_BIN ||
			v.kind == WIRE_KIND_EXT)
			check_inside(in, v.bytes);
		check_inside(in, cursor);
	}
}

static void check_frame(struct bytes in, bool scanned)
{
	struct wire_frame f;
	const int rc = wire_frame_decode(in, &f);

	assert(rc == 0 || rc == WIRE_INVALID || rc == -EBADMSG);
	check_inside(in, f.method);
	check_inside(in, f.params);
	check_inside(in, f.error);
	check_inside(in, f.result);
	if (rc != 0)
		return;
	assert(f.type <= WIRE_NOTIFY);
	if (f.type == WIRE_REPLY)
		assert(!f.method.data && !f.params.data && !f.error.data != !f.result.data);
	else
		assert(f.method.data && f.params.data && !f.error.data && !f.result.data);
	if (scanned && f.params.data)
		assert(wire_scan_value(f.params) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes in = {data, size};
	const struct answer message = scan(in, false), any = scan(in, true);

	if (size == 0)
		return 0;
	check_readers(in, any);
	check_unpacker(in, any);
	read_all(in);
	check_frame(in, false);
	if (message.rc == WIRE_SCAN_DONE) {
		assert(any.rc == WIRE_SCAN_DONE && any.used == message.used);
		check_frame((struct bytes){data, message.used}, true);
	}
	return 0;
}
