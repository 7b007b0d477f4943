/* SPDX-License-Identifier: MIT */
/* The chain of the history: checking it, and taking off its old end. */
#include "broker/store/sqlite_column.h"
#include "broker/store/sqlite_private.h"

static int prepare_rows(struct sqlite *s, uint64_t after, uint32_t limit, sqlite3_stmt **stmt)
{
	char sql[1024];
	int err;

	sqlite3_snprintf(sizeof(sql), sql, "%s WHERE seq > ?1 ORDER BY seq LIMIT ?2",
		sqlite_history_select);
	err = sqlite_prepare(s, sql, stmt);
	if (err)
		return err;
	sqlite3_bind_int64(*stmt, 1, (int64_t)after);
	sqlite3_bind_int64(*stmt, 2, limit);
	return 0;
}

/* The row of that very seq. 0, 1 where there is none that can be read, or a negative errno. */
static int find_row(
	struct sqlite *s, uint64_t seq, sqlite3_stmt **stmt, struct history_row *row)
{
	int err = prepare_rows(s, seq - 1, 1, stmt), rc;

	if (err)
		return err;
	rc = sqlite3_step(*stmt);
	if (rc == SQLITE_DONE)
		return 1;
	if (rc != SQLITE_ROW)
		return sqlite_error(s, rc);
	return sqlite_read_row(*stmt, row) || row->seq != seq;
}

/*
 * Where checking starts: 0, 1 where the start itself is not as it should be
 * (then *link is the place before it), or a negative errno.
 */
static int chain_start(struct sqlite *s, uint64_t after, struct chain_link *link)
{
	const struct chain_anchor *anchor = &s->now.anchor;
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	struct history_row row;
	int err;

	*link = anchor->last;
	if (after <= link->seq) {
		if (!anchor->row)
			return link->seq != 0;
		err = find_row(s, anchor->row, &stmt, &row);
		return err ? err : !anchor_vouches(anchor, &row);
	}
	err = find_row(s, after, &stmt, &row);
	link->seq = err ? after - 1 : after;
	if (!err)
		memcpy(link->hash, row.hash, CHAIN_HASH);
	return err;
}

/* Whether all rows that were written are there. */
static bool chain_reaches(const struct sqlite *s, const struct chain_link *link)
{
	return link->seq >= s->now.head.seq;
}

/* A row at the mark must be the one that was marked. */
static bool mark_holds(const struct sqlite *s, const struct chain_link *link)
{
	const struct chain_link *mark = &s->now.mark;

	return link->seq != mark->seq || memcmp(link->hash, mark->hash, CHAIN_HASH) == 0;
}

int sqlite_verify(
	struct journal *j, uint64_t after, uint32_t limit, struct history_verification *out)
{
	struct sqlite *s = sqlite_of(j);
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	struct chain_link link;
	size_t read = 0;
	int err = 0, rc = SQLITE_ROW;

	if (!j->open)
		err = sqlite_ready(s);
	if (err)
		return err;
	if (after > s->now.head.seq)
		after = s->now.head.seq;
	err = chain_start(s, after, &link);
	if (err > 0)
		out->bad_seq = link.seq + 1;
	if (!err)
		err = prepare_rows(s, link.seq, limit, &stmt);
	if (err)
		return err < 0 ? err : 0;
	while (out->checked < limit && read < LIMIT_PAGE_BYTES &&
		(rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct history_row row;
		struct chain_link before = link;

		if (sqlite_read_row(stmt, &row) || !chain_follows(&link, &row) ||
			!mark_holds(s, &link)) {
			out->bad_seq = before.seq + 1;
			link = before;
			break;
		}
		out->checked++;
		read += row.input.len + row.command.len + row.rule.len;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return sqlite_error(s, rc);
	if (rc == SQLITE_DONE && !chain_reaches(s, &link))
		out->bad_seq = link.seq + 1;
	if (!out->bad_seq && !chain_reaches(s, &link))
		out->next = link.seq;
	memcpy(out->head, link.hash, CHAIN_HASH);
	return 0;
}

/* ---- pruning ---- */

/* How many rows have to go so that the database comes down to its size. */
static int rows_over(struct sqlite *s, uint64_t max_bytes, uint64_t *out)
{
	int64_t pages = 0, unused = 0, page = 0;
	uint64_t rows = s->now.head.seq - s->now.anchor.last.seq, used, over;
	int err;

	*out = 0;
	err = sqlite_integer(s->db, "PRAGMA page_count", &pages);
	if (!err)
		err = sqlite_integer(s->db, "PRAGMA freelist_count", &unused);
	if (!err)
		err = sqlite_integer(s->db, "PRAGMA page_size", &page);
	if (err)
		return err;
	used = (uint64_t)((pages - unused) * page);
	if (used <= max_bytes)
		return 0;
	/* each row taken for its share of the whole */
	over = (uint64_t)((double)(used - max_bytes) / (double)used * (double)rows) + 1;
	*out = prune_rows(rows, over);
	return 0;
}

struct cut {
	struct chain_link link; /* the last row to go */
	uint64_t rows;
	uint64_t bad_seq; /* where the chain did not hold in them, or 0 */
};

/* Goes through the oldest rows as far as they are past the retention, checking them. */
static int find_cut(struct sqlite *s, const struct retention *r, int64_t now, uint32_t limit,
	struct cut *cut)
{
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	uint64_t over = 0;
	int err = 0, rc;

	*cut = (struct cut){.link = s->now.anchor.last};
	if (r->max_bytes)
		err = rows_over(s, r->max_bytes, &over);
	if (!err)
		err = prepare_rows(s, cut->link.seq, limit, &stmt);
	if (err)
		return err;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t at = sqlite3_column_int64(stmt, 1);
		struct history_row row = {0};

		if (cut->rows >= over && !(r->max_age_us && at < now - r->max_age_us))
			return 0;
		cut->rows++;
		if (!sqlite_read_row(stmt, &row) && chain_follows(&cut->link, &row))
			continue;
		/* go on from what stands there; the anchor will tell */
		if (!cut->bad_seq)
			cut->bad_seq = cut->link.seq + 1;
		cut->link.seq = (uint64_t)sqlite3_column_int64(stmt, 0);
		memcpy(cut->link.hash, row.hash, CHAIN_HASH);
	}
	return sqlite_error(s, rc);
}

static int remove_up_to(struct sqlite *s, const struct cut *cut, int64_t now)
{
	struct history_row row;
	struct anchor_text text;
	char sql[64];
	int err;

	sqlite3_snprintf(sizeof(sql), sql, "DELETE FROM history WHERE seq <= %lld",
		(long long)cut->link.seq);
	err = sqlite_error(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
	if (err)
		return err;
	anchor_row(&row, &text, &cut->link, cut->rows, cut->bad_seq, now);
	err = sqlite_put_history(s, &row);
	if (err)
		return err;
	s->now.anchor = (struct chain_anchor){cut->link, s->now.head.seq};
	return sqlite_put_meta(s);
}

int sqlite_prune(struct journal *j, const struct retention *r, int64_t now, uint32_t limit)
{
	struct sqlite *s = sqlite_of(j);
	struct cut cut;
	int err = sqlite_begin(j);

	if (err)
		return err;
	err = find_cut(s, r, now, limit, &cut);
	if (!err && cut.rows)
		err = remove_up_to(s, &cut, now);
	if (!err && cut.rows)
		err = sqlite_commit(j);
	if (err || !cut.rows)
		sqlite_rollback(j);
	return err ? err : (int)cut.rows;
}
