/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/harness/packing.h"

#include <errno.h>
#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

int packing_hex(const char *hex, unsigned char **out, size_t *len)
{
	size_t n = hex ? strlen(hex) : 0;

	if (!hex || n % 2)
		return -EINVAL;
	*out = malloc(n / 2 + 1);
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0; i < n; i += 2) {
		int high = digit(hex[i]), low = digit(hex[i + 1]);

		if (high < 0 || low < 0) {
			free(*out);
			*out = NULL;
			return -EINVAL;
		}
		(*out)[i / 2] = (unsigned char)(high << 4 | low);
	}
	*len = n / 2;
	return 0;
}

/* The only member of an object, if it is called so. */
static struct json_object *only(struct json_object *j, const char *key)
{
	struct json_object *v = NULL;

	if (json_object_object_length(j) == 1)
		json_object_object_get_ex(j, key, &v);
	return v;
}

static int map_add(struct approval_pack *p, struct json_object *j)
{
	struct json_object *special;
	unsigned char *bytes;
	size_t len;
	int r;

	special = only(j, "$bin");
	if (special) {
		r = packing_hex(json_object_get_string(special), &bytes, &len);
		if (!r) {
			r = approval_pack_bin(p, bytes, len);
			free(bytes);
		}
		return r;
	}
	special = only(j, "$fill");
	if (special) {
		len = (size_t)json_object_get_int64(special);
		bytes = malloc(len + 1);
		if (!bytes)
			return -ENOMEM;
		memset(bytes, 'x', len);
		r = approval_pack_strn(p, bytes, len);
		free(bytes);
		return r;
	}
	r = approval_pack_map(p, (size_t)json_object_object_length(j));
	json_object_object_foreach(j, key, value)
	{
		if (!r)
			r = approval_pack_str(p, key);
		if (!r)
			r = packing_add(p, value);
	}
	return r;
}

int packing_add(struct approval_pack *p, struct json_object *j)
{
	int r;

	if (json_object_is_type(j, json_type_object))
		return map_add(p, j);
	if (!json_object_is_type(j, json_type_array))
		return json_to_pack(j, p);
	r = approval_pack_array(p, json_object_array_length(j));
	for (size_t i = 0; !r && i < json_object_array_length(j); i++)
		r = packing_add(p, json_object_array_get_idx(j, i));
	return r;
}
