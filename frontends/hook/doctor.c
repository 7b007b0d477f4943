/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "frontends/common/exit.h"
#include "frontends/common/json.h"
#include "frontends/common/output.h"
#include "frontends/hook/doctor.h"

static const char *const state_names[] = {"ok", "warning", "failed"};

void finding_add(
	struct findings *f, enum finding_state state, const char *name, const char *format, ...)
{
	struct finding *grown = reallocarray(f->items, f->n + 1, sizeof(*grown));
	char *text = NULL;
	va_list ap;
	int n;

	f->failed |= state == FINDING_FAILED;
	if (grown)
		f->items = grown;
	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (!grown || n < 0) {
		f->no_memory = true;
		free(n < 0 ? NULL : text);
		return;
	}
	f->items[f->n++] = (struct finding){state, name, text};
}

char *finding_clean(const char *s)
{
	struct text t = {0};

	text_terminal(&t, s ? s : "", s ? strlen(s) : 0, 400);
	if (t.failed || !t.data) {
		text_free(&t);
		return strdup("");
	}
	return t.data;
}

static int findings_json(const struct findings *f, const struct output *out)
{
	struct json_object *list = json_object_new_array(), *map = NULL, *item;
	int r = 0;
	size_t i;

	for (i = 0; list && i < f->n; i++) {
		item = json_object_new_object();
		json_add_text(item, "check", f->items[i].name, &r);
		json_add_text(item, "state", state_names[f->items[i].state], &r);
		json_add_text(item, "text", f->items[i].text, &r);
		json_object_array_add(list, item);
	}
	map = json_object_new_object();
	json_add(map, "ok", json_object_new_boolean(!f->failed && !f->no_memory), &r);
	json_add(map, "checks", list, &r);
	if (r == 0)
		r = json_write(out, map);
	json_object_put(map);
	return r;
}

int findings_print(const struct findings *f, bool json)
{
	static const enum output_style styles[] = {STYLE_GREEN, STYLE_YELLOW, STYLE_RED};
	struct output out;
	int r = 0;
	size_t i;

	output_init(&out, stdout);
	if (json)
		r = findings_json(f, &out);
	for (i = 0; !json && i < f->n; i++) {
		output_styled(&out, styles[f->items[i].state], state_names[f->items[i].state]);
		output_printf(&out, "%*s%s: %s\n",
			(int)(9 - strlen(state_names[f->items[i].state])), "", f->items[i].name,
			f->items[i].text);
	}
	if (output_finish(&out) < 0 || r < 0 || f->no_memory)
		return STATUS_INTERNAL;
	return f->failed ? STATUS_FAILED : STATUS_OK;
}

void findings_free(struct findings *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free(f->items[i].text);
	free(f->items);
	memset(f, 0, sizeof(*f));
}
