/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "broker/io/account.h"
#include "libapproval/limits.h"

#define TOKEN 1000000u /* one request, in millionths */

RB_HEAD(account_tree, account);

struct accounts {
	struct account_tree tree;
	struct account_limits limits;
	size_t count;
};

static int account_compare(struct account *a, struct account *b)
{
	return (a->uid > b->uid) - (a->uid < b->uid);
}

/* bsd/sys/tree.h leaves this to libbsd's own <sys/cdefs.h> */
#ifndef __unused
#define __unused __attribute__((__unused__))
#endif
RB_GENERATE_STATIC(account_tree, account, entry, account_compare)

void account_limits_default(struct account_limits *limits)
{
	*limits = (struct account_limits){
		.connections = LIMIT_UID_CONNECTIONS,
		.pending = LIMIT_UID_PENDING,
		.pending_bytes = LIMIT_UID_PENDING_BYTES,
		.rate = LIMIT_UID_RATE,
		.sessions = LIMIT_UID_SESSIONS,
	};
}

int accounts_new(struct accounts **out, const struct account_limits *limits)
{
	struct accounts *all = calloc(1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	RB_INIT(&all->tree);
	all->limits = *limits;
	*out = all;
	return 0;
}

static void account_remove(struct account *a)
{
	assert(a->refs == 0 && a->connections == 0 && a->buffered == 0);
	RB_REMOVE(account_tree, &a->all->tree, a);
	a->all->count--;
	free(a);
}

void accounts_free(struct accounts *all)
{
	struct account *a;

	if (!all)
		return;
	while ((a = RB_MIN(account_tree, &all->tree)))
		account_remove(a);
	assert(all->count == 0);
	free(all);
}

void accounts_set_limits(struct accounts *all, const struct account_limits *limits)
{
	struct account *a;

	all->limits = *limits;
	RB_FOREACH (a, account_tree, &all->tree)
		if (a->tokens > (uint64_t)limits->rate * TOKEN)
			a->tokens = (uint64_t)limits->rate * TOKEN;
}

/*
 * An account without references stays, so that connecting anew does not fill its
 * bucket; when too many of these have gathered, all of them go.
 */
static void accounts_sweep(struct accounts *all)
{
	struct account *a, *next;

	for (a = RB_MIN(account_tree, &all->tree); a; a = next) {
		next = RB_NEXT(account_tree, &all->tree, a);
		if (a->refs == 0)
			account_remove(a);
	}
}

int account_get(struct accounts *all, uint32_t uid, struct account **out)
{
	struct account key = {.uid = uid};
	struct account *a = RB_FIND(account_tree, &all->tree, &key);

	if (!a) {
		if (all->count >= LIMIT_ACCOUNTS)
			accounts_sweep(all);
		a = calloc(1, sizeof(*a));
		if (!a)
			return -ENOMEM;
		a->uid = uid;
		a->all = all;
		a->filled = INT64_MIN;
		RB_INSERT(account_tree, &all->tree, a);
		all->count++;
	}
	a->refs++;
	*out = a;
	return 0;
}

struct account *account_ref(struct account *a)
{
	if (a)
		a->refs++;
	return a;
}

struct account *account_unref(struct account *a)
{
	if (a) {
		assert(a->refs > 0);
		a->refs--;
	}
	return NULL;
}

int account_charge_connection(struct account *a)
{
	if (a->connections >= a->all->limits.connections)
		return ACCOUNT_CONNECTIONS;
	a->connections++;
	return 0;
}

void account_release_connection(struct account *a)
{
	assert(a->connections > 0);
	a->connections--;
}

int account_charge_buffer(struct account *a, uint64_t bytes)
{
	uint64_t limit = a->all->limits.pending_bytes;

	/* the sum can't overflow */
	if (a->buffered > limit || bytes > limit - a->buffered)
		return ACCOUNT_PENDING_BYTES;
	a->buffered += bytes;
	return 0;
}

void account_release_buffer(struct account *a, uint64_t bytes)
{
	assert(a->buffered >= bytes);
	a->buffered -= bytes;
}

int account_charge_rate(struct account *a, int64_t now)
{
	uint64_t rate = a->all->limits.rate, full = rate * TOKEN;

	if (rate == 0)
		return 0;
	if (a->filled == INT64_MIN || now - a->filled >= 1000000) {
		a->tokens = full;
		a->filled = now;
	} else if (now > a->filled) {
		a->tokens += (uint64_t)(now - a->filled) * rate;
		if (a->tokens > full)
			a->tokens = full;
		a->filled = now;
	}
	if (a->tokens < TOKEN)
		return ACCOUNT_RATE;
	a->tokens -= TOKEN;
	return 0;
}

const char *account_limit_name(int limit)
{
	switch (limit) {
	case ACCOUNT_CONNECTIONS: return "connections";
	case ACCOUNT_PENDING_BYTES: return "pending-bytes";
	case ACCOUNT_RATE: return "rate";
	default: return "unknown";
	}
}
