/* SPDX-License-Identifier: MIT */
/*
 * What the floor costs: an ordinary absolute path of 60 bytes against the shipped entries,
 * compared with a scan of as many patterns by fnmatch and with strcasestr for one word; and
 * the check of a command of 200 bytes, compared with its reading.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "broker/core/floor/path.h"
#include "broker/core/floor/place.h"

#define ROUNDS 9
#define CALLS  200000u

static const char *const paths[] = {
	"/home/someone/projects/approvald/broker/core/engine_call.c/x",
	"/home/someone/projects/website/node_modules/react/index.js/y",
	"/home/someone/work/kernel/linux/drivers/net/ethernet/main.cc",
	"/usr/include/x86_64-linux-gnu/c++/12/bits/opt_random_num.hpp",
	"/home/someone/projects/game/assets/sounds/explosion_03_a.wav",
	"/srv/build/agents/worker_17/checkout/services/store/users.go",
	"/home/someone/.cache/pip/wheels/ab/cd/ef0123456789/numpy.whl",
	"/home/someone/.cargo/registry/src/index.crates.io/serde/b.rs",
};
#define N_PATHS (sizeof(paths) / sizeof(paths[0]))

static const char command[] =
	"cd build && cmake -S .. -B . -DCMAKE_BUILD_TYPE=Release >/dev/null 2>&1 && "
	"make -j8 2>&1 | tee ../build.log | grep -n 'warning: ' | head -n 20; "
	"git add -A src include && git status --short | wc -l";

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef unsigned step_fn(void *arg, unsigned i);

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of several rounds, in nanoseconds for one call. */
static double measure(step_fn *step, void *arg, unsigned calls)
{
	double rounds[ROUNDS];
	volatile unsigned sum = 0;

	for (unsigned r = 0; r < ROUNDS; r++) {
		const double start = now_ns();

		for (unsigned i = 0; i < calls; i++)
			sum += step(arg, i);
		rounds[r] = (now_ns() - start) / calls;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	return rounds[ROUNDS / 2];
}

static unsigned step_floor(void *arg, unsigned i)
{
	const struct bytes path = {paths[i % N_PATHS], 60};

	(void)arg;
	return path_protected(path, bytes_of("/home/someone")) != NULL;
}

/* As if each place were a pattern of its own. */
static unsigned step_fnmatch(void *arg, unsigned i)
{
	unsigned n = 0;

	(void)arg;
	for (size_t k = 0; k < n_floor_places; k++)
		n += fnmatch(floor_places[k].path, paths[i % N_PATHS], FNM_CASEFOLD) == 0;
	return n;
}

static unsigned step_search(void *arg, unsigned i)
{
	(void)arg;
	return strcasestr(paths[i % N_PATHS], "secret") != NULL;
}

struct reading {
	struct shell_arena arena;
	struct shell_context context;
	struct shell shell;
	struct floor *floor;
};

static unsigned step_read(void *arg, unsigned i)
{
	struct reading *const r = arg;

	(void)i;
	shell_read(bytes_of(command), &r->context, &r->arena, &r->shell);
	return r->shell.n;
}

static unsigned step_check(void *arg, unsigned i)
{
	struct reading *const r = arg;
	const struct floor_call call = {.shell = &r->shell,
		.cwd = bytes_of("/w/proj"),
		.workspace = bytes_of("/w/proj"),
		.home = bytes_of("/home/someone")};
	struct floor_hit hit;

	(void)i;
	return floor_check(r->floor, &call, &hit);
}

int main(void)
{
	struct reading r = {
		.context = {.cwd = bytes_of("/w/proj")}, .floor = floor_new(FLOOR_USER)};
	double path, scan, search, read, check;

	if (!r.floor || shell_arena_init(&r.arena))
		return EXIT_FAILURE;
	path = measure(step_floor, NULL, CALLS);
	search = measure(step_search, NULL, CALLS);
	scan = measure(step_fnmatch, NULL, CALLS / 100);
	read = measure(step_read, &r, CALLS / 20);
	check = measure(step_check, &r, CALLS / 20);
	printf("a path of 60 bytes       %8.0f ns  %.2f of a search for one word (%.0f ns), "
	       "%.4f of a scan by fnmatch (%.0f ns)\n",
		path, path / search, search, path / scan, scan);
	printf("a command of %zu bytes  %8.0f ns  %.2f of its reading (%.0f ns), %u commands\n",
		sizeof(command) - 1, check, check / read, read, r.shell.n);
	shell_arena_free(&r.arena);
	floor_free(r.floor);
	return EXIT_SUCCESS;
}
