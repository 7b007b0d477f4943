/* SPDX-License-Identifier: MIT */
/* What the policy says of calls on standard input, without a broker. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"
#include "frontends/policy/main.h"

#define LINE_BYTES (2u * LIMIT_INPUT + LIMIT_FRAME)

static bool offline_done(void *arg, struct review *v)
{
	struct app *const a = arg;
	int err;

	/* as explain does: its error is the line's, not the policy's */
	if (v->wrong)
		a->status = STATUS_FAILED;
	err = review_tell(v, NULL);
	if (err)
		app_fail(a, err);
	return false;
}

/* The line has its answer, too, so that both can be read side by side. */
static void line_wrong(struct app *a, unsigned long number, const char *why)
{
	struct json_object *map;
	int r;

	a->status = STATUS_FAILED;
	if (!a->r.json) {
		app_say(a, "line %lu: %s", number, why);
		return;
	}
	map = json_object_new_object();
	r = map ? 0 : -ENOMEM;
	json_add_text(map, "event", "would", &r);
	json_add_text(map, "verdict", "error", &r);
	json_add_text(map, "why", why, &r);
	if (!r)
		r = json_write(&a->r.out, map);
	json_object_put(map);
	if (r)
		app_fail(a, r);
}

static int item_parse(const char *line, struct approval_value **out, const char **why)
{
	struct json_object *map = NULL;
	struct approval_pack *p = NULL;
	const void *data;
	size_t len = 0;
	int err = json_parse(line, &map, why);

	if (!err && json_object_get_type(map) != json_type_object) {
		*why = "no JSON object";
		err = -EINVAL;
	}
	if (!err)
		err = approval_pack_new(&p);
	if (!err) {
		*why = "it is over a limit of the protocol";
		err = json_to_pack(map, p);
	}
	if (!err) {
		data = approval_pack_data(p, &len);
		err = data ? approval_value_parse(data, len, out) : -ENOMEM;
	}
	approval_pack_free(p);
	json_object_put(map);
	return err;
}

static void line_judge(struct app *a, const char *line, unsigned long number)
{
	struct approval_value *item = NULL;
	const char *why = "no JSON";
	struct tm tm;
	int err = item_parse(line, &item, &why);

	if (!err) {
		app_time(&tm);
		err = review_begin(&a->r, item, &tm);
	} else if (err != -ENOMEM) {
		line_wrong(a, number, why);
		return;
	}
	if (err)
		app_fail(a, err);
	while (a->r.reviews && !a->ended)
		app_step(a);
}

void offline_run(struct app *a)
{
	unsigned long number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	a->r.done = offline_done;
	a->r.arg = a;
	/* whoever asks line by line waits for each answer before it asks again */
	setvbuf(a->r.out.file, NULL, _IOLBF, 0);
	while (!a->ended && (n = getline(&line, &size, stdin)) >= 0) {
		number++;
		if ((size_t)n > LINE_BYTES) {
			line_wrong(a, number, "it is too long");
		} else if (strspn(line, " \t\r\n") != (size_t)n) {
			line_judge(a, line, number);
		}
	}
	if (ferror(stdin))
		app_fail(a, -EIO);
	free(line);
}
