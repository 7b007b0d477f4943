/* SPDX-License-Identifier: MIT */
#include "broker/core/row.h"

void rule_row(struct history_row *row, enum history_event event, const struct rule_record *r,
	struct bytes by, int64_t now)
{
	*row = (struct history_row){
		.at = now,
		.event = event,
		.uid = r->uid,
		.workspace = str_bytes(r->project),
		.rule = str_bytes(r->text),
		.rule_id = r->id,
		.by = by,
		.detail = str_bytes(r->origin),
		.scope = r->scope,
		.count = r->matches,
	};
	if (r->scope == SCOPE_SESSION)
		row->session = r->owner;
	if (r->scope == SCOPE_TURN)
		row->turn = r->owner;
}

void trust_row(struct history_row *row, enum history_event event, const struct trust_record *r,
	struct bytes by, int64_t now)
{
	*row = (struct history_row){
		.at = now,
		.event = event,
		.uid = r->uid,
		.workspace = str_bytes(r->project),
		.by = by,
	};
	memcpy(row->digest, r->hash, sizeof(row->digest));
}
