/* SPDX-License-Identifier: MIT */
/* The place in a transcript, as the broker keeps it between two hooks. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/hook/transcript.h"
#include "libapproval/approval.h"

#define CURSOR_VERSION 1u
#define CURSOR_FIELDS  17u
#define CURSOR_MESSAGE (1u + TALLY_N)

enum cursor_flag { CURSOR_STARTED = 1, CURSOR_SKIP = 2, CURSOR_NAMED = 4, CURSOR_ANSWERED = 8 };

static int cursor_counts(struct approval_pack *p, const uint64_t counts[TALLY_N])
{
	int i, r = 0;

	for (i = 0; r == 0 && i < TALLY_N; i++)
		r = approval_pack_uint(p, counts[i]);
	return r;
}

static int cursor_messages(const struct tally *t, struct approval_pack *p)
{
	const struct tally_message *m;
	unsigned i;
	int r;

	r = approval_pack_array(p, TALLY_RECENT);
	for (i = 0; r == 0 && i < TALLY_RECENT; i++) {
		/* the oldest first, so that no index needs to be kept */
		m = &t->recent[(t->next + i) % TALLY_RECENT];
		r = approval_pack_array(p, m->id ? CURSOR_MESSAGE : 0);
		if (r == 0 && m->id)
			r = approval_pack_uint(p, m->id);
		if (r == 0 && m->id)
			r = cursor_counts(p, m->counted);
	}
	return r;
}

int tally_save(const struct tally *t, struct approval_pack *p)
{
	uint64_t flags = 0;
	int r;

	flags |= t->started ? CURSOR_STARTED : 0;
	flags |= t->skip ? CURSOR_SKIP : 0;
	flags |= t->named ? CURSOR_NAMED : 0;
	flags |= t->answered ? CURSOR_ANSWERED : 0;
	r = approval_pack_array(p, CURSOR_FIELDS);
	if (r == 0)
		r = approval_pack_uint(p, CURSOR_VERSION);
	if (r == 0)
		r = approval_pack_uint(p, t->offset);
	if (r == 0)
		r = approval_pack_uint(p, t->inode);
	if (r == 0)
		r = approval_pack_uint(p, t->generation);
	if (r == 0)
		r = approval_pack_uint(p, flags);
	if (r == 0)
		r = approval_pack_str(p, t->turn);
	if (r == 0)
		r = cursor_counts(p, t->sum);
	if (r == 0)
		r = approval_pack_str(p, t->floor_turn);
	if (r == 0)
		r = cursor_counts(p, t->floor);
	if (r == 0)
		r = cursor_messages(t, p);
	if (r == 0)
		r = approval_pack_nil(p); /* room for what a later version adds */
	return r;
}

static int cursor_uint(const struct approval_value *v, uint64_t *out)
{
	enum approval_type type = approval_value_type(v);

	if (type != APPROVAL_UINT && (type != APPROVAL_INT || approval_value_int(v) < 0))
		return -EBADMSG;
	*out = approval_value_uint(v);
	return 0;
}

static int cursor_uints(const struct approval_value *v, size_t from, uint64_t *out, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = cursor_uint(approval_value_at(v, from + i), &out[i]);
	return r;
}

static int cursor_name(const struct approval_value *v, char out[LIMIT_NAME + 1])
{
	size_t len;
	const char *s = approval_value_str(v, &len);

	if (approval_value_type(v) != APPROVAL_STR || len > LIMIT_NAME || strlen(s) != len)
		return -EBADMSG;
	memcpy(out, s, len + 1);
	return 0;
}

static int cursor_fill(struct tally *t, const struct approval_value *v)
{
	const struct approval_value *list, *item;
	uint64_t head[5];
	size_t i, n;

	if (approval_value_type(v) != APPROVAL_ARRAY || approval_value_count(v) < CURSOR_FIELDS)
		return -EBADMSG;
	if (cursor_uints(v, 0, head, 5) < 0 || head[0] != CURSOR_VERSION ||
		cursor_name(approval_value_at(v, 5), t->turn) < 0 ||
		cursor_uints(v, 6, t->sum, TALLY_N) < 0 ||
		cursor_name(approval_value_at(v, 10), t->floor_turn) < 0 ||
		cursor_uints(v, 11, t->floor, TALLY_N) < 0)
		return -EBADMSG;
	t->offset = head[1];
	t->inode = head[2];
	t->generation = head[3];
	t->started = head[4] & CURSOR_STARTED;
	t->skip = head[4] & CURSOR_SKIP;
	t->named = head[4] & CURSOR_NAMED;
	t->answered = head[4] & CURSOR_ANSWERED;
	list = approval_value_at(v, 15);
	n = approval_value_count(list);
	if (approval_value_type(list) != APPROVAL_ARRAY || n > TALLY_RECENT)
		return -EBADMSG;
	for (i = 0; i < n; i++) {
		item = approval_value_at(list, i);
		if (approval_value_count(item) == 0)
			continue;
		if (approval_value_type(item) != APPROVAL_ARRAY ||
			approval_value_count(item) != CURSOR_MESSAGE ||
			cursor_uint(approval_value_at(item, 0), &t->recent[i].id) < 0 ||
			cursor_uints(item, 1, t->recent[i].counted, TALLY_N) < 0)
			return -EBADMSG;
	}
	t->next = (unsigned)(n % TALLY_RECENT);
	return 0;
}

int tally_load(struct tally *t, const void *data, size_t len)
{
	struct approval_value *v = NULL;
	int r;

	memset(t, 0, sizeof(*t));
	r = approval_value_parse(data, len, &v);
	if (r == 0)
		r = cursor_fill(t, v);
	if (r < 0) {
		memset(t, 0, sizeof(*t));
		r = r == -ENOMEM ? r : -EBADMSG;
	}
	approval_value_free(v);
	return r;
}
