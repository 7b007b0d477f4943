/* SPDX-License-Identifier: MIT */
/* Structures of the caller's that may be older or newer than the library. */
#include <errno.h>
#include <string.h>

#include "libapproval/client.h"

int struct_take(void *dst, size_t dst_size, const void *src, size_t src_size)
{
	const unsigned char *p = src;
	size_t i;

	if (src_size < sizeof(size_t))
		return -EINVAL;
	for (i = dst_size; i < src_size; i++) {
		if (p[i])
			return -E2BIG;
	}
	memset(dst, 0, dst_size);
	memcpy(dst, src, src_size < dst_size ? src_size : dst_size);
	return 0;
}

void approval_options_init(struct approval_options *o, enum approval_side side)
{
	*o = (struct approval_options){
		.size = sizeof(*o),
		.side = side,
		.subject_pidfd = -1,
	};
}
