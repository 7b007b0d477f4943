/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "libapproval/limits.h"
#include "libapproval/wire/frame.h"
#include "libapproval/wire/value.h"

static int take_u32(struct bytes *cursor, uint32_t *out)
{
	struct wire_value v;

	if (wire_read(cursor, &v) || v.kind != WIRE_KIND_UINT || v.u64 > UINT32_MAX)
		return -EBADMSG;
	*out = (uint32_t)v.u64;
	return 0;
}

/* Method and params are all that is left of the object. */
static int take_method(struct bytes *cursor, struct wire_frame *f)
{
	struct wire_value method, params, map;

	if (wire_read(cursor, &method))
		return -EBADMSG;
	if (method.kind != WIRE_KIND_STR && method.kind != WIRE_KIND_BIN)
		return -EBADMSG;
	if (wire_read(cursor, &params) || params.kind != WIRE_KIND_ARRAY)
		return -EBADMSG;
	f->method = method.bytes;
	if (params.count != 1 || method.bytes.len > LIMIT_NAME)
		return WIRE_INVALID;
	/* the scan proved that the object ends with this value, so there is no need to pass
	 * over it */
	f->params = *cursor;
	if (wire_read(cursor, &map))
		return -EBADMSG;
	if (map.kind != WIRE_KIND_MAP) {
		f->params = (struct bytes){NULL, 0};
		return WIRE_INVALID;
	}
	return 0;
}

/* Error and result are all that is left. */
static int take_reply(struct bytes *cursor, struct wire_frame *f)
{
	struct bytes error, result;
	struct wire_value v;

	if (wire_skip(cursor, &error) || wire_skip(cursor, &result) || cursor->len > 0)
		return -EBADMSG;
	*cursor = error;
	if (wire_read(cursor, &v))
		return -EBADMSG;
	switch (v.kind) {
	case WIRE_KIND_NIL: f->result = result; return 0;
	case WIRE_KIND_MAP: f->error = error; return 0;
	default: return -EBADMSG;
	}
}

int wire_frame_decode(struct bytes object, struct wire_frame *f)
{
	struct wire_value top;
	uint32_t type;

	*f = (struct wire_frame){0};
	if (wire_read(&object, &top) || top.kind != WIRE_KIND_ARRAY || take_u32(&object, &type))
		return -EBADMSG;
	if (type > WIRE_NOTIFY || top.count != (type == WIRE_NOTIFY ? 3 : 4))
		return -EBADMSG;
	f->type = type;
	if (type != WIRE_NOTIFY && take_u32(&object, &f->id))
		return -EBADMSG;
	return type == WIRE_REPLY ? take_reply(&object, f) : take_method(&object, f);
}
