/* SPDX-License-Identifier: MIT */
#include "broker/store/record.h"

#include <errno.h>
#include <stdlib.h>

bool record_op(enum journal_op op, enum record_kind *kind, bool *removes)
{
	*removes = op == JOURNAL_SESSION_REMOVE || op == JOURNAL_TURN_REMOVE ||
		   op == JOURNAL_REQUEST_REMOVE;
	switch (op) {
	case JOURNAL_SESSION:
	case JOURNAL_SESSION_REMOVE: *kind = RECORD_SESSION; return true;
	case JOURNAL_TURN:
	case JOURNAL_TURN_REMOVE: *kind = RECORD_TURN; return true;
	case JOURNAL_REQUEST:
	case JOURNAL_REQUEST_REMOVE: *kind = RECORD_REQUEST; return true;
	default: return false;
	}
}

const struct uuid *record_id(enum record_kind kind, const void *record)
{
	switch (kind) {
	case RECORD_SESSION: return &((const struct session_record *)record)->id;
	case RECORD_TURN: return &((const struct turn_record *)record)->id;
	default: return &((const struct request_record *)record)->id;
	}
}

/* Calls fn with each of the record's own strings; the paths are handled apart. */
static void each_string(
	enum record_kind kind, union record *r, struct str *(*fn)(struct str *s))
{
	struct str **strings[16];
	size_t n = 0;

	if (kind == RECORD_SESSION) {
		struct session_record *s = &r->session;
		struct str **all[] = {&s->agent, &s->key, &s->title, &s->cwd, &s->workspace,
			&s->exe, &s->cursor, &s->budget};

		n = sizeof(all) / sizeof(all[0]);
		memcpy(strings, all, sizeof(all));
	} else if (kind == RECORD_TURN) {
		strings[n++] = &r->turn.key;
		strings[n++] = &r->turn.reason;
		strings[n++] = &r->turn.budget;
	} else if (kind == RECORD_RULE) {
		strings[n++] = &r->rule.project;
		strings[n++] = &r->rule.text;
		strings[n++] = &r->rule.by;
		strings[n++] = &r->rule.origin;
	} else if (kind == RECORD_TRUST) {
		strings[n++] = &r->trust.project;
		strings[n++] = &r->trust.by;
	} else {
		struct request_record *q = &r->request;
		struct str **all[] = {&q->call, &q->tool, &q->input, &q->summary,
			&q->description, &q->command, &q->cwd, &q->extra, &q->reason, &q->by,
			&q->updated_input, &q->answers};

		n = sizeof(all) / sizeof(all[0]);
		memcpy(strings, all, sizeof(all));
	}
	for (size_t i = 0; i < n; i++)
		*strings[i] = fn(*strings[i]);
}

static int paths_copy(struct request_record *r)
{
	struct request_path *paths;

	if (r->n_paths == 0) {
		r->paths = NULL;
		return 0;
	}
	paths = calloc(r->n_paths, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	for (unsigned i = 0; i < r->n_paths; i++) {
		paths[i].given = str_ref(r->paths[i].given);
		paths[i].resolved = str_ref(r->paths[i].resolved);
		paths[i].inside = r->paths[i].inside;
	}
	r->paths = paths;
	return 0;
}

int record_copy(enum record_kind kind, union record *dst, const void *src)
{
	static const size_t sizes[RECORD_N] = {
		[RECORD_SESSION] = sizeof(dst->session),
		[RECORD_TURN] = sizeof(dst->turn),
		[RECORD_RULE] = sizeof(dst->rule),
		[RECORD_TRUST] = sizeof(dst->trust),
		[RECORD_REQUEST] = sizeof(dst->request),
	};

	memset(dst, 0, sizeof(*dst));
	memcpy(dst, src, sizes[kind]);
	if (kind == RECORD_REQUEST && paths_copy(&dst->request)) {
		memset(dst, 0, sizeof(*dst));
		return -ENOMEM;
	}
	each_string(kind, dst, str_ref);
	return 0;
}

void record_release(enum record_kind kind, union record *r)
{
	each_string(kind, r, str_unref);
	if (kind != RECORD_REQUEST)
		return;
	for (unsigned i = 0; r->request.paths && i < r->request.n_paths; i++) {
		str_unref(r->request.paths[i].given);
		str_unref(r->request.paths[i].resolved);
	}
	free(r->request.paths);
	r->request.paths = NULL;
	r->request.n_paths = 0;
}
