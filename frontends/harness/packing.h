/* SPDX-License-Identifier: MIT */
/* JSON of scenarios as MessagePack: {"$bin": "6162"} is a bin, {"$fill": n} a str of n bytes.
 */
#ifndef HARNESS_PACKING_H
#define HARNESS_PACKING_H

#include <json-c/json_object.h>

#include "libapproval/approval.h"

int packing_add(struct approval_pack *p, struct json_object *j);
/* Hexadecimal digits, in pairs; *out to be freed. -EINVAL. */
int packing_hex(const char *hex, unsigned char **out, size_t *len);

#endif
