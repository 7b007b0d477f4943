/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without a fuzzing engine, so that every compiler can do it
 * in `make check`:
 *
 *	fuzz_X [--time SECONDS] [--runs N] [--seed N] [FILE|DIRECTORY ...]
 *
 * replays the inputs named, then runs mutations of them for so long or so many
 * times. Without arguments the inputs are $srcdir/tests/fuzz/corpus/X and the
 * time is 5 seconds. The sequence depends on seed and corpus only. What was
 * running when the target failed is written to crash-fuzz_X.
 *
 * The same target under an engine, from the top of the tree:
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/fuzz_wire_scan.c \
 *		libapproval/wire/[a-z]*.c $(pkg-config --cflags --libs msgpack) -o /tmp/fuzz
 *	mkdir -p /tmp/corpus && /tmp/fuzz /tmp/corpus tests/fuzz/corpus/wire_scan
 *
 * (the engine writes what it finds into the first folder).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* of the sanitizers' runtime, where there is one */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

#define INPUT_MAX	65536u
#define DEFAULT_SECONDS 5

struct input {
	uint8_t *data;
	size_t size;
};

struct corpus {
	struct input *inputs;
	size_t n;
};

/* A handler of signals has no argument: the one place that says what is running. */
static struct {
	const uint8_t *data;
	size_t size;
	char path[256];
} running;

static void save_running(void)
{
	const int fd = open(running.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t at = 0;

	while (fd >= 0 && at < running.size) {
		const ssize_t n = write(fd, running.data + at, running.size - at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
}

static void on_crash(int signo)
{
	save_running();
	raise(signo); /* the handler was reset */
}

static void catch_crashes(const char *name)
{
	static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_RESETHAND};

	snprintf(running.path, sizeof(running.path), "crash-%s", name);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(save_running);
		return;
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}

static void *must(void *p)
{
	if (!p) {
		fputs("no memory\n", stderr);
		exit(2);
	}
	return p;
}

/* Each input lies in memory of exactly its size, so that a read past it is noticed. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *const exact = must(malloc(size ? size : 1));

	memcpy(exact, data, size);
	running.data = exact;
	running.size = size;
	LLVMFuzzerTestOneInput(exact, size);
	running.size = 0;
	free(exact);
}

/* ---- the corpus ---- */

static void corpus_add(struct corpus *c, const char *path)
{
	FILE *const f = fopen(path, "rb");
	struct input in = {.data = must(malloc(INPUT_MAX))};

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	in.size = fread(in.data, 1, INPUT_MAX, f);
	fclose(f);
	in.data = must(realloc(in.data, in.size ? in.size : 1));
	c->inputs = must(reallocarray(c->inputs, c->n + 1, sizeof(*c->inputs)));
	c->inputs[c->n++] = in;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void corpus_load(struct corpus *c, const char *path)
{
	struct dirent **entries;
	struct stat st;
	int n;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
		corpus_add(c, path);
		return;
	}
	n = scandir(path, &entries, visible, alphasort);
	if (n < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	for (int i = 0; i < n; i++) {
		char *file;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			file = must(NULL);
		corpus_add(c, file);
		free(file);
		free(entries[i]);
	}
	free(entries);
}

static void corpus_free(struct corpus *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->inputs[i].data);
	free(c->inputs);
}

/* ---- mutations ---- */

/* splitmix64 */
static uint64_t next(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static size_t below(uint64_t *seed, size_t n)
{
	return n ? (size_t)(next(seed) % n) : 0;
}

/* Puts n bytes in at a place, as far as there is room for them. */
static void insert(struct input *in, size_t at, const uint8_t *data, size_t n)
{
	if (n > INPUT_MAX - in->size)
		n = INPUT_MAX - in->size;
	memmove(in->data + at + n, in->data + at, in->size - at);
	memcpy(in->data + at, data, n);
	in->size += n;
}

static void remove_at(struct input *in, size_t at, size_t n)
{
	memmove(in->data + at, in->data + at + n, in->size - at - n);
	in->size -= n;
}

static void overwrite(struct input *in, uint64_t *seed, const uint8_t *data, size_t n)
{
	if (in->size >= n)
		memcpy(in->data + below(seed, in->size - n + 1), data, n);
}

static void mutate_once(struct input *in, const struct corpus *c, uint64_t *seed)
{
	static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
		0xc0, 0xc1, 0xc2, 0xc4, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcf, 0xd3, 0xd4, 0xd8,
		0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xff, '"', '\\', '\'', '{', '[', '\n',
		'$', '/'};
	uint8_t piece[16];
	uint64_t noise = next(seed);
	const size_t at = below(seed, in->size);
	const size_t n = 1 + below(seed, sizeof(piece));
	const struct input *other = &c->inputs[below(seed, c->n)];

	switch (below(seed, 9)) {
	case 0: /* flip a bit */
		if (in->size)
			in->data[at] ^= (uint8_t)(1 << (noise & 7));
		break;
	case 1: /* set a byte that means something */
		overwrite(in, seed, &edges[noise % sizeof(edges)], 1);
		break;
	case 2: /* set up to eight bytes of noise */
		overwrite(in, seed, (const uint8_t *)&noise, 1 + at % sizeof(noise));
		break;
	case 3: /* step a byte up or down */
		if (in->size)
			in->data[at] += (uint8_t)(noise & 1 ? 1 : -1);
		break;
	case 4: /* put one in */ insert(in, at, &edges[noise % sizeof(edges)], 1); break;
	case 5: /* take some out */
		remove_at(in, at, n < in->size - at ? n : in->size - at);
		break;
	case 6: /* say some again elsewhere */
		memset(piece, 0, sizeof(piece));
		memcpy(piece, in->data + at, n < in->size - at ? n : in->size - at);
		insert(in, below(seed, in->size + 1), piece, n);
		break;
	case 7: /* go on as another input does */
		in->size = at;
		if (other->size) {
			const size_t from = below(seed, other->size);

			insert(in, at, other->data + from, other->size - from);
		}
		break;
	default: /* cut it off */
		if (noise % 4 == 0)
			in->size = at;
		break;
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t mutate(const struct corpus *c, uint64_t seed, uint64_t seconds, uint64_t runs)
{
	struct input in = {.data = must(malloc(INPUT_MAX))};
	const uint64_t end = now_ms() + seconds * 1000;
	uint64_t done = 0;

	while (runs ? done < runs : (done % 64 || now_ms() < end)) {
		const struct input *const from = &c->inputs[below(&seed, c->n)];

		memcpy(in.data, from->data, from->size);
		in.size = from->size;
		for (size_t n = 1 + below(&seed, 6); n > 0; n--)
			mutate_once(&in, c, &seed);
		run(in.data, in.size);
		done++;
	}
	free(in.data);
	return done;
}

/* ---- main ---- */

/* The target's name, also behind libtool's wrapper. */
static const char *target_name(const char *argv0)
{
	const char *name = strrchr(argv0, '/');

	name = name ? name + 1 : argv0;
	return strncmp(name, "lt-", 3) == 0 ? name + 3 : name;
}

static void load_default(struct corpus *c, const char *name)
{
	const char *const srcdir = getenv("srcdir");
	char *path;

	if (strncmp(name, "fuzz_", 5) == 0)
		name += 5;
	if (asprintf(&path, "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".", name) < 0)
		path = must(NULL);
	corpus_load(c, path);
	free(path);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"time", required_argument, NULL, 't'},
		{"runs", required_argument, NULL, 'r'},
		{"seed", required_argument, NULL, 's'},
		{0},
	};
	const char *const name = target_name(argv[0]);
	struct corpus corpus = {0};
	uint64_t seconds = argc > 1 ? 0 : DEFAULT_SECONDS, runs = 0, seed = 1, mutations = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 't': seconds = strtoull(optarg, NULL, 10); break;
		case 'r': runs = strtoull(optarg, NULL, 10); break;
		case 's': seed = strtoull(optarg, NULL, 10); break;
		default: return 2;
		}
	}
	if (optind == argc)
		load_default(&corpus, name);
	for (; optind < argc; optind++)
		corpus_load(&corpus, argv[optind]);
	if (corpus.n == 0) {
		fprintf(stderr, "%s: no inputs\n", name);
		return 2;
	}
	catch_crashes(name);
	for (size_t i = 0; i < corpus.n; i++)
		run(corpus.inputs[i].data, corpus.inputs[i].size);
	if (seconds || runs)
		mutations = mutate(&corpus, seed, seconds, runs);
	printf("%s: %zu inputs, %llu mutations\n", name, corpus.n,
		(unsigned long long)mutations);
	corpus_free(&corpus);
	return 0;
}
