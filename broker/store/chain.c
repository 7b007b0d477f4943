/* SPDX-License-Identifier: MIT */
#include "broker/store/chain.h"

#include <nettle/sha2.h>
#include <stdio.h>

/*
 * Names the encoding below; another encoding must have another name. It tells where its
 * end is, so what is added behind it by columns that came later needs no other name.
 */
static const char encoding[8] = "apprhis1";

/* All of the row but the bytes of its strings. */
struct fixed {
	uint8_t data[320];
	size_t len;
};

static void add_bytes(struct fixed *f, const void *data, size_t len)
{
	memcpy(f->data + f->len, data, len);
	f->len += len;
}

static void add_u64(struct fixed *f, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		f->data[f->len++] = (uint8_t)(v >> (56 - 8 * i));
}

/* Absent is 0, so that absent and empty differ. */
static void add_length(struct fixed *f, struct bytes b)
{
	add_u64(f, b.data ? (uint64_t)b.len + 1 : 0);
}

/* Numbers of the columns that came later; in this order, each at most once. */
enum later {
	LATER_RULE = 1, /* text: its length, and its bytes */
	LATER_RULE_ID = 2,
	LATER_FLOOR = 3, /* text */
};

static void add_later(struct sha256_ctx *ctx, enum later number, uint64_t v, struct bytes text)
{
	struct fixed f = {.data = {(uint8_t)number}, .len = 1};

	add_u64(&f, v);
	sha256_update(ctx, f.len, f.data);
	if (text.len)
		sha256_update(ctx, text.len, text.data);
}

void chain_hash(
	const uint8_t prev[CHAIN_HASH], const struct history_row *row, uint8_t out[CHAIN_HASH])
{
	const struct bytes strings[] = {row->agent, row->call, row->tool, row->command,
		row->cwd, row->workspace, row->exe, row->input, row->reason, row->by,
		row->detail};
	const uint8_t small[] = {(uint8_t)row->event, row->type, row->kind, row->verdict,
		row->source, row->scope, row->step, row->state, row->mode};
	struct sha256_ctx ctx;
	struct fixed f = {.len = 0};

	add_bytes(&f, encoding, sizeof(encoding));
	add_bytes(&f, prev, CHAIN_HASH);
	add_u64(&f, row->seq);
	add_u64(&f, (uint64_t)row->at);
	add_bytes(&f, small, sizeof(small));
	add_u64(&f, row->uid);
	add_u64(&f, row->pid);
	add_bytes(&f, row->session.b, sizeof(row->session.b));
	add_bytes(&f, row->turn.b, sizeof(row->turn.b));
	add_bytes(&f, row->request.b, sizeof(row->request.b));
	add_bytes(&f, row->digest, sizeof(row->digest));
	add_u64(&f, row->count);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		add_length(&f, strings[i]);

	sha256_init(&ctx);
	sha256_update(&ctx, f.len, f.data);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		if (strings[i].len)
			sha256_update(&ctx, strings[i].len, strings[i].data);
	}
	if (row->rule.data)
		add_later(&ctx, LATER_RULE, row->rule.len, row->rule);
	if (row->rule_id)
		add_later(&ctx, LATER_RULE_ID, row->rule_id, (struct bytes){NULL, 0});
	if (row->floor.data)
		add_later(&ctx, LATER_FLOOR, row->floor.len, row->floor);
	sha256_digest(&ctx, CHAIN_HASH, out);
}

void chain_append(struct chain_link *head, struct history_row *row)
{
	row->seq = head->seq + 1;
	chain_hash(head->hash, row, row->hash);
	head->seq = row->seq;
	memcpy(head->hash, row->hash, CHAIN_HASH);
}

bool chain_follows(struct chain_link *link, const struct history_row *row)
{
	uint8_t hash[CHAIN_HASH];

	if (row->seq != link->seq + 1)
		return false;
	chain_hash(link->hash, row, hash);
	if (memcmp(hash, row->hash, CHAIN_HASH) != 0)
		return false;
	link->seq = row->seq;
	memcpy(link->hash, hash, CHAIN_HASH);
	return true;
}

static void anchor_detail(char detail[ANCHOR_DETAIL_SIZE], uint64_t seq)
{
	snprintf(detail, ANCHOR_DETAIL_SIZE, "removed up to seq %llu", (unsigned long long)seq);
}

void anchor_row(struct history_row *row, struct anchor_text *text,
	const struct chain_link *last, uint64_t count, uint64_t bad_seq, int64_t now)
{
	*row = (struct history_row){.at = now, .event = HISTORY_ANCHOR, .count = count};
	memcpy(row->digest, last->hash, CHAIN_HASH);
	anchor_detail(text->detail, last->seq);
	row->detail = bytes_of(text->detail);
	if (bad_seq) {
		snprintf(text->reason, sizeof(text->reason),
			"the removed part was not intact at seq %llu",
			(unsigned long long)bad_seq);
		row->reason = bytes_of(text->reason);
	}
}

bool anchor_vouches(const struct chain_anchor *anchor, const struct history_row *row)
{
	char detail[ANCHOR_DETAIL_SIZE];

	anchor_detail(detail, anchor->last.seq);
	return row->seq == anchor->row && row->event == HISTORY_ANCHOR &&
	       bytes_is(row->detail, detail) &&
	       memcmp(row->digest, anchor->last.hash, CHAIN_HASH) == 0;
}
