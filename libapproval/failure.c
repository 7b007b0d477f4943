/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libapproval/client.h"
#include "libapproval/wire/message.h"

void failure_clear(struct failure *f)
{
	approval_value_free(f->map);
	f->map = NULL;
	f->text[0] = '\0';
	f->view = (struct approval_error){.code = "", .message = f->text};
}

void failure_text(struct failure *f, const char *text)
{
	failure_clear(f);
	snprintf(f->text, sizeof(f->text), "%s", text);
}

int failure_view(const struct approval_value *map, struct approval_error *e)
{
	struct wire_error w;

	if (wire_decode(&wire_error_spec, value_raw(map), &w, NULL) != 0)
		return -EPROTO;
	e->code = approval_value_text(map, "code");
	e->message = approval_value_text(map, "message");
	e->data = approval_value_get(map, "data");
	/* "" stands for what is not the broker's answer */
	return *e->code ? 0 : -EPROTO;
}

void failure_set(struct failure *f, const struct approval_error *e)
{
	struct failure new = {.map = NULL};
	const struct approval_value *data = e->data;
	struct wire_buffer b;
	struct wire_open m;

	/* e may be f's own view: everything is copied before anything is freed */
	snprintf(new.text, sizeof(new.text), "%s", e->message);
	if (*e->code) {
		wire_buffer_init(&b, LIMIT_FRAME);
		wire_map_open(&m, &b);
		wire_map_strz(&m, "code", e->code);
		wire_map_strz(&m, "message", e->message);
		wire_map_raw(&m, "data", value_raw(data));
		wire_close(&m);
		if (!b.error)
			value_decode(wire_buffer_bytes(&b), &new.map);
		wire_buffer_free(&b);
	}
	failure_clear(f);
	*f = new;
	f->view = (struct approval_error){.code = "", .message = f->text};
	if (f->map)
		failure_view(f->map, &f->view);
}
