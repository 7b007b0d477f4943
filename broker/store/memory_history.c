/* SPDX-License-Identifier: MIT */
/* The history of the journal in memory. */
#include "broker/store/memory_private.h"

#include <errno.h>
#include <stdlib.h>

static struct bytes text_keep(char **text, struct bytes b)
{
	struct bytes kept = {*text, b.len};

	if (!b.data)
		return b;
	if (b.len)
		memcpy(*text, b.data, b.len);
	*text += b.len;
	return kept;
}

int memory_history_put(struct memory *m, const struct history_row *given)
{
	struct kept_row *k;
	size_t size = sizeof(*k) + given->agent.len + given->call.len + given->tool.len +
		      given->command.len + given->cwd.len + given->workspace.len +
		      given->exe.len + given->input.len + given->reason.len + given->by.len +
		      given->detail.len + given->rule.len + given->floor.len;
	char *text;
	int err;

	err = memory_grow(
		(void **)&m->rows, &m->cap_rows, m->n_rows, sizeof(struct kept_row *));
	if (err)
		return err;
	k = malloc(size);
	if (!k)
		return -ENOMEM;
	k->row = *given;
	k->size = size;
	text = k->text;
	k->row.agent = text_keep(&text, given->agent);
	k->row.call = text_keep(&text, given->call);
	k->row.tool = text_keep(&text, given->tool);
	k->row.command = text_keep(&text, given->command);
	k->row.cwd = text_keep(&text, given->cwd);
	k->row.workspace = text_keep(&text, given->workspace);
	k->row.exe = text_keep(&text, given->exe);
	k->row.input = text_keep(&text, given->input);
	k->row.reason = text_keep(&text, given->reason);
	k->row.by = text_keep(&text, given->by);
	k->row.detail = text_keep(&text, given->detail);
	k->row.rule = text_keep(&text, given->rule);
	k->row.floor = text_keep(&text, given->floor);
	chain_append(&m->now.head, &k->row);
	m->rows[m->n_rows++] = k;
	m->now.bytes += size;
	uuid_raise(&m->now.state.newest, &given->session);
	uuid_raise(&m->now.state.newest, &given->turn);
	uuid_raise(&m->now.state.newest, &given->request);
	return 0;
}

void memory_history_undo(struct memory *m, uint64_t seq)
{
	while (m->n_rows && m->rows[m->n_rows - 1]->row.seq > seq)
		free(m->rows[--m->n_rows]);
}

static bool query_matches(const struct history_query *q, const struct history_row *r)
{
	return (!q->since || r->at >= q->since) && (!q->until || r->at <= q->until) &&
	       (uuid_is_nil(&q->session) || uuid_compare(&q->session, &r->session) == 0) &&
	       (uuid_is_nil(&q->request) || uuid_compare(&q->request, &r->request) == 0) &&
	       (!q->agent.len || bytes_equal(q->agent, r->agent)) &&
	       (!q->tool.len || bytes_equal(q->tool, r->tool)) &&
	       (!q->rule.len || bytes_equal(q->rule, r->rule)) &&
	       (q->event < 0 || q->event == (int)r->event) &&
	       (q->verdict < 0 || q->verdict == r->verdict) &&
	       (q->source < 0 || q->source == r->source) && (q->all_uids || q->uid == r->uid);
}

int memory_history(struct journal *j, const struct history_query *q,
	int (*row)(void *arg, const struct history_row *row), void *arg, uint64_t *reached)
{
	struct memory *m = memory_of(j);
	uint32_t given = 0, looked = 0;

	for (size_t i = 0; i < m->n_rows && given < q->limit; i++) {
		const struct history_row *r = &m->rows[q->newest ? m->n_rows - 1 - i : i]->row;
		int err;

		if (r->seq <= q->after || (q->before && r->seq >= q->before))
			continue;
		looked++;
		if (query_matches(q, r)) {
			given++;
			err = row(arg, r);
			if (err < 0)
				return err;
		}
		if (given == q->limit ||
			(looked % HISTORY_SLICE == 0 && q->go_on && !q->go_on(arg))) {
			*reached = r->seq;
			break;
		}
	}
	return 0;
}

int memory_verify(
	struct journal *j, uint64_t after, uint32_t limit, struct history_verification *out)
{
	struct memory *m = memory_of(j);
	const struct chain_anchor *anchor = &m->anchor;
	struct chain_link link = anchor->last;
	size_t i = 0;

	if (after > link.seq) {
		i = after - link.seq;
		if (i > m->n_rows)
			return 0;
		link.seq = after;
		memcpy(link.hash, m->rows[i - 1]->row.hash, CHAIN_HASH);
	} else if (anchor->row &&
		   !anchor_vouches(anchor, &m->rows[anchor->row - link.seq - 1]->row)) {
		out->bad_seq = link.seq + 1;
		return 0;
	}
	for (; i < m->n_rows && out->checked < limit; i++) {
		if (!chain_follows(&link, &m->rows[i]->row)) {
			out->bad_seq = link.seq + 1;
			break;
		}
		out->checked++;
	}
	out->next = out->bad_seq || i == m->n_rows ? 0 : link.seq;
	memcpy(out->head, link.hash, CHAIN_HASH);
	return 0;
}

/* How many of the oldest rows are past the retention. */
static size_t rows_past(
	const struct memory *m, const struct retention *r, int64_t now, size_t limit)
{
	uint64_t bytes = m->now.bytes;
	size_t over = 0, n;

	while (r->max_bytes && over < m->n_rows && bytes > r->max_bytes)
		bytes -= m->rows[over++]->size;
	n = prune_rows(m->n_rows, over);
	while (r->max_age_us && n < m->n_rows && m->rows[n]->row.at < now - r->max_age_us)
		n++;
	return n < limit ? n : limit;
}

int memory_prune(struct journal *j, const struct retention *r, int64_t now, uint32_t limit)
{
	struct memory *m = memory_of(j);
	size_t n = rows_past(m, r, now, limit);
	struct chain_link link = m->anchor.last;
	struct anchor_text text;
	struct history_row row;
	int err;

	if (m->fail)
		return m->fail;
	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		chain_follows(&link, &m->rows[i]->row);
	anchor_row(&row, &text, &link, n, 0, now);
	err = memory_history_put(m, &row);
	if (err)
		return err;
	m->anchor = (struct chain_anchor){link, m->now.head.seq};
	for (size_t i = 0; i < n; i++) {
		m->now.bytes -= m->rows[i]->size;
		free(m->rows[i]);
	}
	m->n_rows -= n;
	memmove(m->rows, m->rows + n, m->n_rows * sizeof(struct kept_row *));
	return (int)n;
}

int memory_load_decisions(struct memory *m, const struct journal_loader *l, void *arg)
{
	uint64_t first = UINT64_MAX;

	for (struct entity *e = m->entities[RECORD_TURN]; e; e = e->hh.next) {
		if (entity_live_turn(e) && e->begun < first)
			first = e->begun;
	}
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct history_row *r = &m->rows[i]->row;
		int err;

		if (r->seq <= first ||
			(r->event != HISTORY_DECISION && r->event != HISTORY_OUTCOME) ||
			!entity_live_turn(memory_entity(m, RECORD_TURN, &r->turn)))
			continue;
		err = l->decision(arg, r);
		if (err < 0)
			return err;
	}
	return 0;
}
