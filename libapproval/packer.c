/* SPDX-License-Identifier: MIT */
/* The builder of values of approval.h, on the writer of the wire. */
#include <errno.h>
#include <stdlib.h>

#include "libapproval/approval.h"
#include "libapproval/limits.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/scan.h"

#define KEEP_BYTES 65536 /* memory that a reset keeps */

struct approval_pack {
	struct wire_buffer b;
};

int approval_pack_new(struct approval_pack **out)
{
	struct approval_pack *p = malloc(sizeof(*p));

	*out = p;
	if (!p)
		return -ENOMEM;
	wire_buffer_init(&p->b, LIMIT_FRAME);
	return 0;
}

void approval_pack_free(struct approval_pack *p)
{
	if (!p)
		return;
	wire_buffer_free(&p->b);
	free(p);
}

void approval_pack_reset(struct approval_pack *p)
{
	wire_buffer_reset(&p->b, KEEP_BYTES);
}

static int fail(struct approval_pack *p, int error)
{
	if (!p->b.error)
		p->b.error = error;
	return p->b.error;
}

int approval_pack_nil(struct approval_pack *p)
{
	wire_pack_nil(&p->b);
	return p->b.error;
}

int approval_pack_bool(struct approval_pack *p, bool v)
{
	wire_pack_bool(&p->b, v);
	return p->b.error;
}

int approval_pack_int(struct approval_pack *p, int64_t v)
{
	wire_pack_i64(&p->b, v);
	return p->b.error;
}

int approval_pack_uint(struct approval_pack *p, uint64_t v)
{
	wire_pack_u64(&p->b, v);
	return p->b.error;
}

int approval_pack_float(struct approval_pack *p, double v)
{
	wire_pack_f64(&p->b, v);
	return p->b.error;
}

int approval_pack_str(struct approval_pack *p, const char *s)
{
	wire_pack_strz(&p->b, s);
	return p->b.error;
}

/* The wire writes nil for NULL; here NULL is only the empty text, or a mistake. */
static int checked(struct approval_pack *p, const void *s, size_t len, struct bytes *out)
{
	if (!s && len)
		return fail(p, -EINVAL);
	if (len > LIMIT_FRAME)
		return fail(p, -EMSGSIZE);
	*out = (struct bytes){s ? s : "", len};
	return 0;
}

int approval_pack_strn(struct approval_pack *p, const void *s, size_t len)
{
	struct bytes v;

	if (checked(p, s, len, &v) == 0)
		wire_pack_str(&p->b, v);
	return p->b.error;
}

int approval_pack_bin(struct approval_pack *p, const void *s, size_t len)
{
	struct bytes v;

	if (checked(p, s, len, &v) == 0)
		wire_pack_bin(&p->b, v);
	return p->b.error;
}

int approval_pack_array(struct approval_pack *p, size_t n)
{
	if (n > LIMIT_ELEMENTS)
		return fail(p, -EMSGSIZE);
	wire_pack_array(&p->b, (uint32_t)n);
	return p->b.error;
}

int approval_pack_map(struct approval_pack *p, size_t n)
{
	if (n > LIMIT_ELEMENTS / 2)
		return fail(p, -EMSGSIZE);
	wire_pack_map(&p->b, (uint32_t)n);
	return p->b.error;
}

int approval_pack_raw(struct approval_pack *p, const void *msgpack, size_t len)
{
	struct bytes v = {msgpack, len};
	int rc;

	if (!msgpack)
		return fail(p, -EINVAL);
	rc = wire_scan_value(v);
	if (rc < 0)
		return fail(p, rc == -EBADMSG ? -EINVAL : rc);
	wire_pack_raw(&p->b, v);
	return p->b.error;
}

const void *approval_pack_data(const struct approval_pack *p, size_t *len)
{
	if (len)
		*len = p->b.error ? 0 : p->b.len;
	return p->b.error ? NULL : p->b.data;
}
