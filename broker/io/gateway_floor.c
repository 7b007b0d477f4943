/* SPDX-License-Identifier: MIT */
/* The floor for people, and what makes the broker read its files again. */
#include "broker/io/gateway_private.h"

#include <stdio.h>
#include <string.h>

static const struct bytes none;

#define CURSOR_SIZE 4 /* how many entries the pages so far have gone through */

static void put_guards(struct wire_open *m, unsigned guards)
{
	static const char *const names[] = {"command", "read", "write", "read,write", "run",
		"read,run", "write,run", "all"};

	wire_map_strz(m, "guards", names[guards & FLOOR_ALL]);
}

static void entry_pack(struct gateway *g, struct wire_buffer *b, const struct floor_entry *e,
	enum floor_owner who)
{
	struct wire_open m;

	wire_map_open(&m, b);
	wire_map_strz(&m, "name", e->name);
	put_guards(&m, e->guards);
	wire_map_strz(&m, e->added ? "pattern" : "about", e->about);
	wire_map_strz(&m, "from",
		!e->added		 ? "shipped"
		: e->owner == FLOOR_USER ? "user"
					 : "admin");
	wire_map_str(&m, "file", str_bytes(e->file));
	if (e->line)
		wire_map_u64(&m, "line", e->line);
	wire_map_bool(&m, "off", e->off);
	wire_map_bool(&m, "fixed", floor_may_off(g->judge.floor, bytes_of(e->name), who) < 0);
	wire_close(&m);
}

static int floor_list(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	const enum floor_owner who =
		g->user_mode || !client->frontend->admin ? FLOOR_USER : FLOOR_ADMIN;
	uint8_t cursor[CURSOR_SIZE];
	struct wire_problem problem;
	struct wire_floor_list q;
	struct floor_entry e;
	struct wire_open m, a;
	struct wire_buffer *b;
	struct wire_mark from;
	uint32_t at = 0;
	unsigned n = 0;
	bool more;
	int v = wire_decode(&wire_floor_list_spec, f->params, &q, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 0;
	if (q.cursor.data && q.cursor.len != CURSOR_SIZE)
		return answer_bad_value(g, client, f->id, "cursor"), 0;
	for (size_t i = 0; i < q.cursor.len; i++)
		at = at << 8 | ((const uint8_t *)q.cursor.data)[i];
	b = stage_begin(g);
	from = wire_buffer_mark(b);
	wire_pack_reply_ok(b, f->id);
	wire_map_open(&m, b);
	wire_map_key(&m, "items");
	wire_array_open(&a, b);
	while ((more = floor_at(g->judge.floor, at, &e)) &&
		n < (q.limit ? q.limit : LIMIT_PAGE_DEFAULT) && page_room(b, from)) {
		wire_array_item(&a);
		entry_pack(g, b, &e, who);
		at++;
		n++;
	}
	wire_close(&a);
	wire_map_bool(&m, "more", more);
	for (int i = 0; i < CURSOR_SIZE; i++)
		cursor[i] = (uint8_t)(at >> (24 - 8 * i));
	wire_map_bin(&m, "cursor", (struct bytes){cursor, sizeof(cursor)});
	if (g->floor_file)
		wire_map_strz(&m, "user_file", g->floor_file);
	else
		wire_map_nil(&m, "user_file");
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

static void answer_reload_failed(
	struct gateway *g, struct client *client, uint32_t id, const struct log_copy *why)
{
	char message[sizeof(why->text) + 64];

	if (why->len)
		snprintf(message, sizeof(message), "%s; what was in force stays", why->text);
	else
		snprintf(message, sizeof(message),
			"the configuration and the rules can't be read; what was in force stays");
	answer_error(g, client, id, WIRE_INVALID, message, NULL, none);
}

static int reload(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct log_copy why = {.len = 0};
	struct wire_buffer *b;

	if (client->frontend->s.role != ROLE_HUMAN) {
		answer_error(g, client, f->id, WIRE_FORBIDDEN, "only a person may do that",
			NULL, none);
		return 0;
	}
	if (!g->user_mode && !client->frontend->admin) {
		answer_error(g, client, f->id, WIRE_FORBIDDEN,
			"only an administrator may do that", NULL, none);
		return 0;
	}
	if (!g->reload || g->reload(g->reload_arg, &why) < 0) {
		answer_reload_failed(g, client, f->id, &why);
		return 0;
	}
	b = stage_begin(g);
	wire_pack_reply_ok(b, f->id);
	wire_pack_map(b, 0);
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

int frontend_floor(
	struct gateway *g, struct client *client, const struct wire_frame *f, int method)
{
	return method == WIRE_FRONTEND_RELOAD ? reload(g, client, f) : floor_list(g, client, f);
}
