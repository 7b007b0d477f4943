/* SPDX-License-Identifier: MIT */
/* What a peer can cause to be said in the log again and again. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <string.h>

/* A kind of refusal: the socket, a limit or an errno, and the uid. */
#define KEY_PROJECT (UINT64_C(1) << 61) /* no refusal: a project's file, of a uid */
#define KEY_LIMIT (UINT64_C(1) << 62)
#define KEY_BATCH (UINT64_C(1) << 63) /* no refusal: a batch that failed */

static uint64_t refusal_key(enum listener_kind kind, uint32_t uid, int err)
{
	uint64_t why = err > 0 ? KEY_LIMIT | (uint64_t)err << 40 : (uint64_t)-err << 40;

	return why | (uint64_t)kind << 32 | uid;
}

static const char *kind_text(enum listener_kind kind)
{
	return kind == LISTENER_AGENT ? "agent" : "frontend";
}

static const char *why_text(int err)
{
	return err > 0 ? account_limit_name(err) : strerror(-err);
}

void refusal_tell(struct gateway *g, enum listener_kind kind, uint32_t uid, int err)
{
	if (flood_pass(&g->flood, refusal_key(kind, uid, err), gateway_now(g).mono))
		log_notice(g->log, "%s socket: connection of uid %u refused: %s",
			kind_text(kind), uid, why_text(err));
}

void failure_tell(struct gateway *g, int error, const char *reason, bool store)
{
	if (store || flood_pass(&g->flood, KEY_BATCH | (uint64_t)-error, gateway_now(g).mono))
		log_error(g->log, "%s (%s): nothing is allowed until it works", reason,
			strerror(-error));
}

void project_tell(struct gateway *g, uint32_t uid, struct bytes file, uint32_t line,
	uint32_t column, const char *problem)
{
	char quoted[1024];

	if (!flood_pass(&g->flood, KEY_PROJECT | uid, gateway_now(g).mono))
		return;
	log_quote(quoted, sizeof(quoted), file);
	/* what is wrong with the file as a whole has no line */
	if (line == 0)
		log_warning(g->log, "%s: %s", quoted, problem);
	else
		log_warning(g->log, "%s:%u:%u: %s", quoted, line, column, problem);
}

void floods_tell(struct gateway *g, int64_t now)
{
	unsigned long long n;
	uint64_t key;

	while ((n = flood_over(&g->flood, now, &key))) {
		int why = (int)(key >> 40 & 0xffff);

		if (key == FLOOD_OTHERS)
			log_notice(g->log, "%llu more refusals or failures of other kinds", n);
		else if (key == (KEY_PROJECT | (uint32_t)key))
			log_warning(g->log,
				"%llu more times, a project's rules of uid %u can't be used",
				n, (uint32_t)key);
		else if (key & KEY_BATCH)
			log_error(g->log, "failed %llu more times: %s", n,
				strerror((int)(key & 0xffff)));
		else
			log_notice(g->log,
				"%s socket: %llu more connections of uid %u refused: %s",
				kind_text((enum listener_kind)(key >> 32 & 0xff)), n,
				(uint32_t)key, why_text(key & KEY_LIMIT ? why : -why));
	}
}
