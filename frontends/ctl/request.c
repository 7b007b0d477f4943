/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/json.h"
#include "frontends/ctl/request.h"

static int request_begin(struct ctl_request *q)
{
	*q = (struct ctl_request){0};
	approval_request_init(&q->r);
	q->cwd = getcwd(NULL, 0);
	if (!q->cwd)
		return -errno;
	q->r.cwd = q->cwd;
	q->r.tool = REQUEST_TOOL;
	return approval_pack_new(&q->input);
}

static void request_end(struct ctl_request *q)
{
	q->r.input = approval_pack_data(q->input, &q->r.input_len);
}

static int pack_words(struct approval_pack *p, const struct text *line, char **argv, int argc)
{
	int r = approval_pack_map(p, 2);

	r = r ? r : approval_pack_str(p, "command");
	r = r ? r : approval_pack_strn(p, text_string(line), line->len);
	r = r ? r : approval_pack_str(p, "argv");
	r = r ? r : approval_pack_array(p, (size_t)argc);
	for (int i = 0; !r && i < argc; i++)
		r = approval_pack_str(p, argv[i]);
	return r;
}

int request_words(struct ctl_request *q, char **argv, int argc)
{
	struct text line = {0};
	int r = request_begin(q);

	for (int i = 0; !r && i < argc; i++) {
		if (i)
			text_add(&line, " ");
		text_shell(&line, argv[i]);
	}
	if (!r)
		r = line.failed ? -ENOMEM : pack_words(q->input, &line, argv, argc);
	q->r.kind = "execute";
	if (!r)
		request_end(q);
	text_free(&line);
	return r;
}

int request_json(struct ctl_request *q, const char *json, const char **why)
{
	struct json_object *j;
	int r = request_begin(q);

	if (r) {
		*why = strerror(-r);
		return r;
	}
	r = json_parse(json, &j, why);
	if (!r)
		r = json_to_pack(j, q->input);
	if (!r)
		request_end(q);
	json_object_put(j);
	return r;
}

void request_free(struct ctl_request *q)
{
	approval_pack_free(q->input);
	free(q->cwd);
}
