/* SPDX-License-Identifier: MIT */
/*
 * Model exploration: every sequence of commands up to a bound over two sessions,
 * two requests and two frontends, through the real engine. The promises are
 * checked after each step; each step is also undone, which must restore
 * everything (a commit that fails is that); the broker is also restarted after
 * each sequence. Sequences that lead to states which behave alike are gone on
 * with once. A state is reached by doing its sequence again from the start.
 *
 *	explore [DEPTH [VARIANT]]
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/model/world.h"

#define DEPTH_MAX 16
/* instrumented programs go one step less far where no bound is given */
#ifdef __SANITIZE_ADDRESS__
#define DEPTH_LESS 1u
#else
#define DEPTH_LESS 0u
#endif

struct variant {
	const char *name;
	const char *start[8];
	const char *request1, *request2, *hello2;
	unsigned depth; /* the bound where none is given */
};

static const struct variant variants[] = {
	{"two sessions, requests that wait",
		{"A hello s1 pid=10", "B hello s2 pid=20", "H hello", "H subscribe"},
		"A request c1 Bash", "B request c2 Bash", "B hello s2 pid=20", 5},
	{"a child, requests that wait, with a policy",
		{"A hello s1 pid=10", "B hello s2 pid=20 chain=10", "H hello", "H subscribe",
			"P hello name=p", "P subscribe"},
		"A request c1 Bash", "B request c2 Bash timeout=60000",
		"B hello s2 pid=20 chain=10", 5},
	{"a child, requests that are kept",
		{"A hello s1 pid=10", "B hello s2 pid=20 chain=10", "H hello", "H subscribe"},
		"A request c1 Bash keep", "B request c2 Bash keep",
		"B hello s2 pid=20 chain=10", 5},
	{"two connections of one session, one cancels and one keeps",
		{"A hello s1 pid=10", "B hello s1 pid=10", "H hello", "H subscribe"},
		"A request c1 Bash cancel elsewhere", "B request c2 Bash keep",
		"B hello s1 pid=10", 5},
	{"ceilings, and a child",
		{"config tokens=10 calls=2 time=90000", "A hello s1 pid=10",
			"B hello s2 pid=20 chain=10", "H hello", "H subscribe"},
		"A request c1 Bash", "B request c2 Bash", "B hello s2 pid=20 chain=10", 4},
	{"from nothing", {NULL}, "A request c1 Bash", "B request c2 Bash",
		"B hello s2 pid=20 chain=10", 6},
};

static const char *const commands[] = {"", "", "", /* those of the variant */
	"A hello s1 pid=10", "A hello s1 pid=11", "A gone", "A bye", "A bye end", "A begin",
	"A begin T", "A end", "A check c1 Bash", "A cancel c1", "A settled c1",
	"A outcome c1 succeeded", "A usage 1 5", "A usage 2 12", "B usage 1 6",
	"H resume s1 tokens=5", "A mode plan", "B gone", "B begin", "B end",
	"B request c1 Bash", "B outcome c2 succeeded", "B bye end", "H hello", "H subscribe 2",
	"H page 2", "H allow c1", "H deny c1", "H allow c2", "H deny c2", "H suspend s1",
	"H resume s1", "H suspend s2", "H resume all", "H endturn s1", "H endturn s2",
	"H ceiling s1 plan", "H bye", "H gone", "P hello name=p", "P subscribe", "P allow c1",
	"P deny c1", "P ask c2", "P bye", "P gone", "due", "tick 61000", "died 10", "died 20",
	"slept", "restart"};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define RESTART	   (N_COMMANDS - 1)

struct state {
	uint64_t hash[2];
	uint8_t n;
	uint8_t path[DEPTH_MAX];
};

struct set {
	uint64_t (*slots)[2];
	size_t n, size;
};

struct explorer {
	const struct variant *variant;
	struct set known;
	struct state *states;
	size_t n_states, size;
	struct state now;
	unsigned depth;
	unsigned long sequences, batches, restarts;
	struct world *world;
	struct book book;
};

static const char *command(const struct explorer *x, unsigned i)
{
	return i == 0	? x->variant->request1
	       : i == 1 ? x->variant->request2
	       : i == 2 ? x->variant->hello2
			: commands[i];
}

static void *grow(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p) {
		fputs("out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	return p;
}

/* ---- the states that are known, by a hash of 128 bits ---- */

static void hash(const char *text, uint64_t h[2])
{
	h[0] = 14695981039346656037u;
	h[1] = 0x9e3779b97f4a7c15u;
	for (; *text; text++) {
		h[0] = (h[0] ^ (uint8_t)*text) * 1099511628211u;
		h[1] = (h[1] + (uint8_t)*text) * 0xbf58476d1ce4e5b9u;
		h[1] ^= h[1] >> 29;
	}
	h[0] |= 1; /* a free slot is 0 */
}

static bool set_add(struct set *s, const uint64_t h[2])
{
	size_t i;

	if (2 * s->n >= s->size) {
		struct set old = *s;

		s->size = old.size ? 2 * old.size : 4096;
		s->slots = calloc(s->size, sizeof(*s->slots));
		s->n = 0;
		if (!s->slots)
			exit(EXIT_FAILURE);
		for (i = 0; i < old.size; i++)
			if (old.slots[i][0])
				set_add(s, old.slots[i]);
		free(old.slots);
	}
	for (i = h[0] % s->size; s->slots[i][0]; i = (i + 1) % s->size)
		if (s->slots[i][0] == h[0] && s->slots[i][1] == h[1])
			return false;
	memcpy(s->slots[i], h, sizeof(s->slots[i]));
	s->n++;
	return true;
}

/* ---- the exploration ---- */

static void state_seen(void *arg)
{
	struct explorer *x = arg;
	char *text = world_canon(x->world);
	uint64_t h[2];

	hash(text, h);
	free(text);
	x->sequences++;
	if (!set_add(&x->known, h) || x->now.n >= x->depth)
		return;
	if (x->n_states == x->size) {
		x->size = x->size ? 2 * x->size : 1024;
		x->states = grow(x->states, x->size, sizeof(*x->states));
	}
	memcpy(x->now.hash, h, sizeof(h));
	x->states[x->n_states++] = x->now;
}

static void expect(struct explorer *x, struct world *w, const struct state *s)
{
	char *text = world_canon(w);
	uint64_t h[2];

	(void)x;
	hash(text, h);
	if (s->n && memcmp(h, s->hash, sizeof(h)) != 0)
		world_fail(w, "another state in one batch than step by step\n%s", text);
	free(text);
}

/*
 * Does a sequence again: what follows its last restart first as one batch that is
 * undone, then as one that is committed. Both must come to the state that was
 * found by single steps.
 */
static void replay(struct explorer *x, struct world *w, const struct state *s)
{
	unsigned i, from = 0;
	struct instant now;
	char *before, *after;

	world_init(w);
	w->quiet = true;
	for (i = 0; x->variant->start[i] && i < 8; i++)
		script_run(w, x->variant->start[i]);
	for (i = 0; i < s->n; i++)
		if (s->path[i] == RESTART)
			from = i + 1;
	for (i = 0; i < from; i++)
		script_run(w, command(x, s->path[i]));
	for (const char *name = "ABHP"; *name; name++) /* connections are no part of a batch */
		world_actor(w, (char[]){*name, '\0'});
	before = world_print(w);
	x->book = w->book;
	now = w->now;
	w->hold = true;
	for (i = from; i < s->n; i++)
		script_run(w, command(x, s->path[i]));
	world_check(w);
	expect(x, w, s);
	world_undo(w, &x->book);
	w->now = now;
	after = world_print(w);
	if (strcmp(before, after) != 0)
		world_fail(w, "the batch is not undone\n--- before\n%s--- after\n%s", before,
			after);
	free(before);
	free(after);
	for (i = from; i < s->n; i++)
		script_run(w, command(x, s->path[i]));
	w->hold = w->quiet = false;
	world_commit(w);
	expect(x, w, s);
	x->batches++;
}

static void go_on(struct explorer *x, const struct state *from)
{
	struct world w;
	char *before, *after;

	x->world = &w;
	replay(x, &w, from);
	x->now = *from;
	x->now.n++;
	before = world_print(&w);
	for (unsigned i = 0; i < RESTART; i++) {
		x->now.path[from->n] = (uint8_t)i;
		script_try(&w, command(x, i), state_seen, x);
		after = world_print(&w);
		if (strcmp(before, after) != 0)
			world_fail(&w, "%s is not undone\n--- before\n%s--- after\n%s",
				command(x, i), before, after);
		free(after);
	}
	free(before);
	x->now.path[from->n] = RESTART;
	script_run(&w, commands[RESTART]);
	state_seen(x);
	x->restarts++;
	world_fini(&w);
}

static void explore(const struct variant *v, unsigned depth)
{
	struct explorer x = {.variant = v, .depth = depth};
	struct state none = {0};
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	go_on(&x, &none);
	for (size_t i = 0; i < x.n_states; i++) {
		struct state s = x.states[i]; /* the list moves when it grows */

		if (s.n < depth)
			go_on(&x, &s);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%s: depth %u, %zu states, %lu sequences, each undone, %lu batches, %lu "
	       "restarts, %.1f s\n",
		v->name, depth, x.known.n, x.sequences, x.batches, x.restarts,
		(double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
	fflush(stdout);
	free(x.states);
	free(x.known.slots);
}

int main(int argc, char **argv)
{
	unsigned depth = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	size_t only = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (depth > DEPTH_MAX) {
		fprintf(stderr, "usage: explore [DEPTH up to %d [VARIANT]]\n", DEPTH_MAX);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		if (!only || only == i + 1)
			explore(&variants[i], depth ? depth : variants[i].depth - DEPTH_LESS);
	return EXIT_SUCCESS;
}
