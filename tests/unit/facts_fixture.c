/* SPDX-License-Identifier: MIT */
#include "tests/unit/facts_fixture.h"

#include <check.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

static void pack(struct wire_buffer *b, struct json_object *o)
{
	switch (json_object_get_type(o)) {
	case json_type_null: wire_pack_nil(b); break;
	case json_type_boolean: wire_pack_bool(b, json_object_get_boolean(o)); break;
	case json_type_double: wire_pack_f64(b, json_object_get_double(o)); break;
	case json_type_int: wire_pack_i64(b, json_object_get_int64(o)); break;
	case json_type_object:
		wire_pack_map(b, (uint32_t)json_object_object_length(o));
		json_object_object_foreach(o, key, value)
		{
			wire_pack_strz(b, key);
			pack(b, value);
		}
		break;
	case json_type_array:
		wire_pack_array(b, (uint32_t)json_object_array_length(o));
		for (size_t i = 0; i < json_object_array_length(o); i++)
			pack(b, json_object_array_get_idx(o, i));
		break;
	case json_type_string:
		wire_pack_str(b, (struct bytes){json_object_get_string(o),
					 (size_t)json_object_get_string_len(o)});
		break;
	}
}

static void pack_json(struct wire_buffer *b, const char *json)
{
	struct json_object *o = json_tokener_parse(json);

	ck_assert_msg(o || strcmp(json, "null") == 0, "no JSON: %s", json);
	wire_buffer_init(b, LIMIT_INPUT);
	pack(b, o);
	ck_assert_int_eq(b->error, 0);
	json_object_put(o);
}

const struct facts_input usual = {
	.claimed_kind = -1,
	.cwd = {CWD, sizeof(CWD) - 1},
	.workspace = {CWD, sizeof(CWD) - 1},
	.home = {HOME, sizeof(HOME) - 1},
};

void collect_with(
	struct call *c, const struct facts_input *with, const char *tool, struct bytes input)
{
	struct facts_input in = *with;

	in.tool = bytes_of(tool);
	in.input = input;
	ck_assert_int_eq(facts_collect(NULL, &in, &c->draft), 0);
}

void collect(struct call *c, const char *tool, const char *json)
{
	memset(c, 0, sizeof(*c));
	pack_json(&c->buffer, json);
	collect_with(c, &usual, tool, wire_buffer_bytes(&c->buffer));
}

void finish(struct call *c)
{
	for (unsigned i = 0; i < c->draft.n_paths; i++) {
		const struct bytes given = c->draft.paths[i];
		const char *text = given.data;
		char full[2 * LIMIT_TEXT + 2];

		if (given.len > 0 && text[0] == '/')
			snprintf(full, sizeof(full), "%.*s", (int)given.len, text);
		else
			snprintf(full, sizeof(full), CWD "/%.*s", (int)given.len, text);
		c->paths[i].given = str_new(text, given.len);
		c->paths[i].resolved = str_new(full, strlen(full));
		c->paths[i].inside =
			strcmp(full, CWD) == 0 ||
			(strncmp(full, CWD "/", sizeof(CWD)) == 0 && !strstr(full, "/.."));
	}
	ck_assert_int_eq(facts_finish(&c->draft, c->paths, c->draft.n_paths, &c->facts), 0);
}

void done(struct call *c)
{
	for (unsigned i = 0; i < LIMIT_PATHS; i++) {
		str_unref(c->paths[i].given);
		str_unref(c->paths[i].resolved);
	}
	facts_release(&c->draft);
	wire_buffer_free(&c->buffer);
	memset(c, 0, sizeof(*c));
}
