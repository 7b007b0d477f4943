/* SPDX-License-Identifier: MIT */
/* Items of the protocol (sessions, turns, requests) as people see them. */
#ifndef CTL_ITEM_H
#define CTL_ITEM_H

#include <stdint.h>

#include "frontends/common/output.h"
#include "frontends/common/table.h"
#include "libapproval/approval.h"

/* Characters of an id that tables on a terminal show: its end, which differs most. */
#define ID_SHORT 8

/* The modes, from the tightest on; ends with NULL. */
extern const char *const item_modes[];

/* The id to be shown on this output: short on a terminal, whole elsewhere. */
const char *item_id(const struct output *o, const char *id);

/* A cell from a str member; "-" for nil. */
void item_cell(struct table *t, const struct approval_value *item, const char *key,
	enum output_style style);
void item_cell_id(struct table *t, const struct output *o, const struct approval_value *item,
	const char *key);
/* A duration since, or a time; both "-" for nil. */
void item_cell_age(
	struct table *t, const struct approval_value *item, const char *key, int64_t now);
void item_cell_deadline(struct table *t, const struct approval_value *item, int64_t now);
/* The chain of agents, outermost first, and the project. */
void item_cell_who(struct table *t, const struct approval_value *item);
/* The tool and what it would do: its command, summary, paths or input. */
void item_cell_what(struct table *t, const struct approval_value *item);

/* The same as raw text, for a surface function; hostile. */
void item_what(struct text *out, const struct approval_value *item);

/* Who decided; "nobody" for none. */
const char *item_source(const char *source);
bool item_is_floor(const struct approval_value *item);
enum output_style item_state_style(const char *state);

/* What a person must see before answering a request: who asks, in which mode, what for, why
 * it is asked about, until when. -ENOMEM. */
int request_show(const struct output *o, const struct approval_value *item, int64_t now);
/* Everything; of a request the same with what names it, and its state. -ENOMEM. */
int item_show(const struct output *o, const struct approval_value *item, int64_t now);

#endif
