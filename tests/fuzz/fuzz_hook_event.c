/* SPDX-License-Identifier: MIT */
/* A hook event as it comes in: read, converted, and back; and the same bytes as settings. */
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/hook/claude_event.h"
#include "frontends/hook/claude_settings.h"
#include "frontends/hook/convert.h"
#include "frontends/hook/stream.h"
#include "libapproval/approval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

static void there_and_back(struct json_object *input)
{
	struct json_object *again = NULL;
	struct approval_pack *p = NULL;
	struct approval_value *v = NULL;
	const void *bytes;
	size_t len;

	check(approval_pack_new(&p) == 0);
	if (convert_pack(p, input) == 0) {
		bytes = approval_pack_data(p, &len);
		check(approval_value_parse(bytes, len, &v) == 0);
		/* text that is no UTF-8 does not come back; what does is the same */
		if (convert_json(v, &again) == 0)
			check(json_object_is_type(again, json_object_get_type(input)));
	}
	json_object_put(again);
	approval_value_free(v);
	approval_pack_free(p);
}

static void settings(const char *text, size_t size)
{
	struct text with = {0}, twice = {0}, without = {0}, why = {0};

	if (claude_settings_add(&with, text, size, "/usr/bin/approval-hook", &why) == 0) {
		check(claude_settings_add(&twice, with.data, with.len, "/usr/bin/approval-hook",
			      &why) == 0);
		check(strcmp(twice.data, with.data) == 0);
		check(claude_settings_remove(&without, with.data, with.len, &why) == 0);
		check(strstr(text_string(&without), "/usr/bin/approval-hook\", \"args\": "
						    "[\"claude\", \"--hook-timeout\"") == NULL);
	}
	text_free(&with);
	text_free(&twice);
	text_free(&without);
	text_free(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *root = NULL;
	struct claude_event e;
	const char *why;
	char *text = malloc(size + 1);

	check(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	if (stream_parse(text, size, &root) == 0) {
		if (claude_event_read(&e, root, "cli", &why) == 0) {
			check(e.key[0] && e.session_id);
			check(!e.decides || e.tool);
			if (e.input)
				there_and_back(e.input);
		}
		claude_event_free(&e);
	}
	settings(text, strlen(text));
	free(text);
	return 0;
}
