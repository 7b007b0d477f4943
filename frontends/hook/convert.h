/* SPDX-License-Identifier: MIT */
/* JSON to MessagePack and back. */
#ifndef HOOK_CONVERT_H
#define HOOK_CONVERT_H

#include <stddef.h>

struct approval_pack;
struct approval_value;
struct json_object;

/*
 * Packs a JSON value, keys in their order. -E2BIG when it is larger, deeper or has
 * more values than the broker takes, so that a call with it must be denied.
 */
int convert_pack(struct approval_pack *p, struct json_object *value);

/*
 * -EINVAL for what JSON can't say (binary, extensions, keys that are no strings,
 * text that is no UTF-8, infinities). *out may be NULL for nil.
 */
int convert_json(const struct approval_value *v, struct json_object **out);

#endif
