/* SPDX-License-Identifier: MIT */
/*
 * Between the values of the protocol and JSON.
 *   str    a string; bytes that are no UTF-8 stand in it as \x9f
 *   bin    a string of lower-case hexadecimal digits
 *   map    an object. One with keys that are no strings, or the same key more
 *          than once, is {"$map": [[key, value], …]}, so that nothing is hidden
 *   ext    {"$ext": "…"}, its MessagePack bytes in hexadecimal
 *   float  a number; NaN and the infinities are null
 */
#ifndef FCOMMON_JSON_H
#define FCOMMON_JSON_H

#include <json-c/json_object.h>

#include "frontends/common/output.h"
#include "libapproval/approval.h"

/* A new object in *out, to be released with json_object_put. -ENOMEM. v NULL: null. */
int json_from_value(const struct approval_value *v, struct json_object **out);
/* Strict JSON, valid UTF-8, nothing after it. -EINVAL, -ENOMEM; *why (static) tells what is
 * wrong. */
int json_parse(const char *s, struct json_object **out, const char **why);
/* As the pack functions. */
int json_to_pack(struct json_object *j, struct approval_pack *p);

/* Members that need no failure handling of their own: the first failure stays in *r. */
void json_add(struct json_object *map, const char *key, struct json_object *value, int *r);
void json_add_text(struct json_object *map, const char *key, const char *text, int *r);
void json_add_value(
	struct json_object *map, const char *key, const struct approval_value *v, int *r);

/* One line for programs, safe to be looked at too; -ENOMEM. */
int json_write(const struct output *o, struct json_object *j);
int json_write_value(const struct output *o, const struct approval_value *v);
/* Indented, for people: the whole value below a label (see output_block). */
int json_block(const struct output *o, const char *label, const struct approval_value *v);

#endif
