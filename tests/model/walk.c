/* SPDX-License-Identifier: MIT */
/*
 * Random walks: long sequences of commands over three generations of sessions,
 * two uids, people, policies and an observer, in batches of every length of which
 * some are undone and some committed, with restarts between them. What is checked
 * is the same as in the exploration, which is complete but short.
 *
 *	walk [WALKS [LENGTH [SEED]]]
 */
#include <stdlib.h>
#include <string.h>

#include "tests/model/world.h"

static const char *const commands[] = {"A hello s1 pid=10", "A hello s1 pid=11",
	"B hello s1 pid=10", "B hello s2 pid=20 chain=10", "C hello s2 pid=20 chain=10",
	"C hello s3 pid=30 chain=20,10", "C hello s5 pid=0", "Ax hello s1 pid=40",
	"C hello s3 pid=31 parent=s2 fail_closed", "A gone", "B gone", "C gone", "Ax gone",
	"A bye", "B bye", "C bye", "A bye end", "B bye end", "C bye end", "A begin",
	"A begin T", "B begin", "C begin U", "A end", "B end", "C end U", "A request c1 Bash",
	"A request c1 Bash", "B request c1 Bash", "A request c2 Bash keep",
	"B request c2 Bash keep", "A request c3 Bash timeout=50000 elsewhere",
	"B request c4 Bash input=x cancel", "C request c5 Bash edits",
	"C request c6 Bash turn=V", "A request - Bash input=x", "B request - Bash input=x keep",
	"A request c7 Read inside", "C request c7 Read inside keep",
	"B request c8 Ask type=question", "A request c9 Bash floor mutating",
	"Ax request c1 Bash", "A check c1 Bash", "A check c10 Bash input=x", "B check c2 Bash",
	"C check c11 Read inside", "A cancel c1", "B cancel c2", "A settled",
	"B settled - tool=Bash input=x deny", "A settled c3 allow", "A outcome c1 succeeded",
	"A outcome c2 failed", "B outcome c2 not_run", "C outcome c5 succeeded",
	"A outcome - succeeded tool=Bash input=x", "C outcome c7 succeeded", "A usage 1 5",
	"B usage 2 6 cursor=k", "A mode plan", "A mode normal", "C mode plan", "H hello",
	"H subscribe", "H subscribe 2", "H page 2", "H page 3", "H bye", "H gone", "O hello",
	"O subscribe 1", "O page 1", "O page 9", "O gone", "Hr hello answers=1", "Hr subscribe",
	"Hr gone", "Hr allow c1", "Hr deny c2", "H allow c1", "H allow c2", "H allow c3",
	"H allow c4", "H allow c5", "H allow c5 edit=other", "H deny c5",
	"H allow c8 answers=a", "H allow c6", "H deny c1", "H deny c2 reason=no", "H deny c4",
	"H deny c9", "P hello name=p", "P subscribe", "P bye", "P gone", "P allow c1",
	"P deny c2", "P ask c3", "P defer c4", "P allow c5", "P allow c10", "Pr hello",
	"Pr subscribe", "Pr allow c1", "Pr deny c1", "Pr gone", "H suspend s1 reason=r",
	"H suspend s2", "H suspend s3", "H suspend all", "H resume s1", "H resume s2",
	"H resume s3", "H resume all", "H endturn s1", "H endturn s2", "H endturn s3",
	"H ceiling s1 plan", "H ceiling s1 normal", "due", "due", "tick 61000", "tick 1000",
	"tick 86400000", "died 10", "died 20", "died 30", "slept", "config alone_deny=1",
	"config tokens=20 session-tokens=50", "config calls=5 tokens=1000",
	"config time=20000 wall=100000", "config tokens=1000 calls=1000", "A usage 3 15",
	"A usage 4 25", "B usage 3 7", "C usage 2 30", "C usage 5 90", "A begin T tokens=3",
	"A end T seq=9 in=40", "A usage 9 50 of=T", "H resume s1 tokens=20",
	"H resume s2 calls=9", "H resume s3", "H resume all tokens=100 calls=10",
	"config alone_deny=0", "config pending=3", "config pending=100", "restart",
	"restart 100000"};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static uint64_t seed;

/* splitmix64 */
static uint64_t draw(uint64_t n)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % n;
}

static bool is_restart(const char *line)
{
	return strncmp(line, "restart", 7) == 0;
}

/* A batch that is undone leaves everything as it was, whatever was in it. */
static void walk_back(struct world *w, struct book *book)
{
	static const char *const actors[] = {"A", "B", "C", "Ax", "H", "O", "Hr", "P", "Pr"};
	struct instant now = w->now;
	struct engine_config config = w->config;
	unsigned n_trace = w->n_trace;
	char *before, *after;

	for (size_t i = 0; i < sizeof(actors) / sizeof(actors[0]); i++)
		world_actor(w, actors[i]);
	before = world_print(w);
	*book = w->book;
	w->hold = true;
	for (uint64_t n = 1 + draw(12); n; n--) {
		const char *line = commands[draw(N_COMMANDS)];

		if (!is_restart(line) && strncmp(line, "config", 6) != 0)
			script_run(w, line);
	}
	w->hold = false;
	world_undo(w, book);
	after = world_print(w);
	if (strcmp(before, after) != 0)
		world_fail(w, "the batch is not undone\n--- before\n%s--- after\n%s", before,
			after);
	free(before);
	free(after);
	w->now = now;
	w->config = config;
	while (w->n_trace > n_trace)
		free(w->trace[--w->n_trace]);
}

static unsigned long walk(unsigned long length)
{
	static struct world w;
	static struct book book;
	unsigned long n;

	world_init(&w);
	for (unsigned long i = 0; i < length; i++) {
		const char *line = commands[draw(N_COMMANDS)];

		/* what is remembered is bounded: what was pending for long is as good as any */
		if (w.book.n_seen > WORLD_SEEN - 16 || w.book.n_turns > WORLD_ITEMS - 16)
			break;
		if (draw(8) == 0)
			walk_back(&w, &book);
		w.rollback_each = w.starve_each = draw(40) == 0;
		script_run(&w, line);
		w.rollback_each = w.starve_each = false;
		if (is_restart(line)) { /* the dead are found again */
			script_run(&w, "H hello");
			script_run(&w, "H subscribe");
		}
	}
	n = w.n_steps;
	world_fini(&w);
	return n;
}

int main(int argc, char **argv)
{
	unsigned long walks = argc > 1 ? strtoul(argv[1], NULL, 10) : 1500;
	unsigned long length = argc > 2 ? strtoul(argv[2], NULL, 10) : 200, steps = 0;
	uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;

	for (unsigned long i = 0; i < walks; i++) {
		seed = (first + i) << 32;
		steps += walk(length);
	}
	printf("%lu walks from seed %llu, %lu steps\n", walks, (unsigned long long)first,
		steps);
	return EXIT_SUCCESS;
}
