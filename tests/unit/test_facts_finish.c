/* SPDX-License-Identifier: MIT */
/*
 * Limits, claims, what the resolver finds, and the hashes. With a number as argument:
 * how long a Read of 300 bytes takes, from so many.
 */
#include "broker/core/tool.h"
#include "tests/unit/facts_fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

START_TEST(bounds)
{
	static char json[2 * LIMIT_INPUT + 64];
	char *p;
	struct call c;

	/* as many paths as there may be, and one more */
	for (unsigned extra = 0; extra < 2; extra++) {
		p = json + sprintf(json, "{\"paths\":[");
		for (unsigned i = 0; i < LIMIT_PATHS + extra; i++)
			p += sprintf(p, "%s\"f%u\"", i ? "," : "", i);
		strcpy(p, "]}");
		collect(&c, "read_many_files", json);
		finish(&c);
		ck_assert_uint_eq(c.draft.n_paths, LIMIT_PATHS);
		ck_assert_uint_eq(c.facts.flags, extra ? UNSURE | FACT_UNSEEN : INSIDE);
		done(&c);
	}
	/* a path that is too long */
	for (unsigned extra = 0; extra < 2; extra++) {
		p = json + sprintf(json, "{\"file_path\":\"");
		memset(p, 'a', LIMIT_TEXT + extra);
		strcpy(p + LIMIT_TEXT + extra, "\"}");
		collect(&c, "Read", json);
		ck_assert_uint_eq(c.draft.n_paths, 1 - extra);
		ck_assert_uint_eq(c.draft.flags, extra ? UNSURE | FACT_UNSEEN : 0);
		done(&c);
	}
	/* words that grow over the limit when they are quoted */
	for (unsigned extra = 0; extra < 2; extra++) {
		const size_t quotes = (LIMIT_INPUT - 8) / 4 + 4 * extra;

		p = json + sprintf(json, "{\"command\":[\"x\",\"");
		memset(p, '\'', quotes);
		strcpy(p + quotes, "\"]}");
		collect(&c, "shell", json);
		ck_assert_uint_eq(c.draft.flags, extra ? UNSURE | FACT_UNREAD : 0);
		ck_assert((c.draft.command.data == NULL) == (extra > 0));
		done(&c);
	}
	/* a patch of more files than are looked at */
	p = json + sprintf(json, "{\"input\":\"");
	for (unsigned i = 0; i < 10000; i++)
		p += sprintf(p, "*** Add File: f%u\\n", i);
	strcpy(p, "\"}");
	collect(&c, "apply_patch", json);
	ck_assert_uint_eq(c.draft.n_paths, LIMIT_PATHS);
	ck_assert_uint_eq(c.draft.flags, UNSURE | FACT_UNSEEN);
	done(&c);
}
END_TEST

START_TEST(claims)
{
	struct facts_input in = usual;
	struct call c;

	/* what is claimed of a known tool can't loosen it */
	for (int kind = -1; kind < KIND_N; kind++) {
		collect(&c, "Bash", "{\"command\":\"ls\"}");
		in.claimed_kind = kind;
		collect_with(&c, &in, "Bash", wire_buffer_bytes(&c.buffer));
		ck_assert_int_eq(c.draft.kind, KIND_EXECUTE);
		ck_assert(c.draft.mutating);
		/* what the table says of every command tells nothing of this one */
		ck_assert_int_eq((c.draft.flags & FACT_SAID_MUTATING) != 0,
			kind != KIND_EXECUTE && kind >= 0 && kind_mutates((enum kind)kind));
		done(&c);
	}
	/* nor of an unknown one */
	for (int kind = -1; kind < KIND_N; kind++) {
		collect(&c, "Frobnicate", "{\"path\":\"a\"}");
		in.claimed_kind = kind;
		collect_with(&c, &in, "Frobnicate", wire_buffer_bytes(&c.buffer));
		ck_assert_int_eq(
			c.draft.kind, kind == KIND_EXECUTE ? KIND_EXECUTE : KIND_OTHER);
		ck_assert(c.draft.mutating);
		ck_assert(!(c.draft.flags & FACT_HARMLESS));
		done(&c);
	}
	/* a claim that tightens wins, and bars what is allowed without a person */
	collect(&c, "Read", "{\"file_path\":\"a\"}");
	in.claimed_kind = KIND_DELETE;
	collect_with(&c, &in, "Read", wire_buffer_bytes(&c.buffer));
	finish(&c);
	ck_assert_int_eq(c.facts.kind, KIND_DELETE);
	ck_assert(c.facts.mutating);
	ck_assert_uint_eq(c.facts.flags, UNSURE | FACT_SAID_MUTATING);
	done(&c);

	collect(&c, "TodoWrite", "{}");
	in.claimed_kind = KIND_OTHER;
	collect_with(&c, &in, "TodoWrite", wire_buffer_bytes(&c.buffer));
	ck_assert_uint_eq(c.draft.flags, HARMLESS);
	in.claimed_kind = KIND_EDIT;
	collect_with(&c, &in, "TodoWrite", wire_buffer_bytes(&c.buffer));
	ck_assert(c.draft.mutating && !(c.draft.flags & FACT_HARMLESS));
	in.claimed_kind = -1;
	in.claimed_mutating = true;
	collect_with(&c, &in, "TodoWrite", wire_buffer_bytes(&c.buffer));
	ck_assert(c.draft.mutating && !(c.draft.flags & FACT_HARMLESS));
	done(&c);

	collect(&c, "Read", "{\"file_path\":\"a\"}");
	collect_with(&c, &in, "Read", wire_buffer_bytes(&c.buffer));
	finish(&c);
	ck_assert(c.facts.mutating);
	ck_assert_int_eq(c.facts.kind, KIND_READ);
	ck_assert_uint_eq(c.facts.flags, INSIDE | FACT_SAID_MUTATING);
	done(&c);
}
END_TEST

START_TEST(request_types)
{
	struct facts_input in = usual;
	struct call c;

	for (int type = REQUEST_TYPE_PERMISSIONS; type < REQUEST_TYPE_N; type++) {
		collect(&c, "TodoWrite", "{\"file_path\":\"a\",\"command\":\"b\"}");
		in.type = (enum request_type)type;
		collect_with(&c, &in, "TodoWrite", wire_buffer_bytes(&c.buffer));
		finish(&c);
		ck_assert_int_eq(c.facts.kind, KIND_OTHER);
		ck_assert(c.facts.mutating == (type == REQUEST_TYPE_PERMISSIONS));
		ck_assert_uint_eq(c.facts.flags, 0);
		ck_assert(!c.facts.command.data && c.facts.n_paths == 0);
		done(&c);
	}
}
END_TEST

/* ---- what the resolver says ---- */

static void replace(struct str **s, const char *text)
{
	str_unref(*s);
	*s = text ? str_new(text, strlen(text)) : NULL;
}

static unsigned refinish(struct call *c, unsigned n)
{
	ck_assert_int_eq(facts_finish(&c->draft, c->paths, n, &c->facts), 0);
	return c->facts.flags;
}

START_TEST(resolved)
{
	struct facts_input in = usual;
	struct call c;

	collect(&c, "read_many_files", "{\"paths\":[\"a\",\"b\"]}");
	finish(&c);
	ck_assert_uint_eq(c.facts.flags, INSIDE);
	/* one that is outside, one that is not known, one that is not there */
	c.paths[1].inside = false;
	ck_assert_uint_eq(refinish(&c, 2), NO_FLAGS);
	c.paths[1].inside = true;
	replace(&c.paths[1].resolved, NULL);
	ck_assert_uint_eq(refinish(&c, 2), UNSURE);
	ck_assert_uint_eq(refinish(&c, 1), UNSURE);
	ck_assert_uint_eq(refinish(&c, 0), UNSURE);
	done(&c);

	/* without a workspace nothing is inside */
	collect(&c, "Read", "{\"file_path\":\"a\"}");
	in = usual;
	in.workspace = (struct bytes){NULL, 0};
	collect_with(&c, &in, "Read", wire_buffer_bytes(&c.buffer));
	finish(&c);
	ck_assert_uint_eq(c.facts.flags, NO_FLAGS);
	done(&c);

	/* a search without a path and without a cwd is nowhere */
	collect(&c, "Grep", "{\"pattern\":\"x\"}");
	in = usual;
	in.cwd = (struct bytes){NULL, 0};
	collect_with(&c, &in, "Grep", wire_buffer_bytes(&c.buffer));
	finish(&c);
	ck_assert_uint_eq(c.facts.flags, UNSURE);
	done(&c);
}
END_TEST

/* ---- hashes ---- */

static bool same_digest(const struct facts *a, const struct facts *b)
{
	return memcmp(a->digest, b->digest, sizeof(a->digest)) == 0;
}

static bool same_signature(const struct facts *a, const struct facts *b)
{
	return memcmp(a->signature, b->signature, sizeof(a->signature)) == 0;
}

static struct facts facts_of(const struct facts_input *in, const char *tool, const char *json)
{
	struct facts f;
	struct call c;

	collect(&c, tool, json);
	collect_with(&c, in, tool, wire_buffer_bytes(&c.buffer));
	finish(&c);
	f = c.facts;
	done(&c);
	return f;
}

START_TEST(digests)
{
	const char *json = "{\"file_path\":\"a\",\"x\":1}";
	const struct facts base = facts_of(&usual, "Read", json);
	struct facts other = facts_of(&usual, "Read", json);
	struct facts_input in;
	struct call c;

	ck_assert(same_digest(&base, &other));
	/* everything that it is made of changes it */
	other = facts_of(&usual, "read", json);
	ck_assert(!same_digest(&base, &other));
	other = facts_of(&usual, "Read", "{\"file_path\":\"a\",\"x\":2}");
	ck_assert(!same_digest(&base, &other));
	in = usual;
	in.cwd = bytes_of("/w/proj/sub");
	other = facts_of(&in, "Read", json);
	ck_assert(!same_digest(&base, &other));
	in = usual;
	in.claimed_kind = KIND_EDIT;
	other = facts_of(&in, "Read", json);
	ck_assert(!same_digest(&base, &other));
	in = usual;
	in.type = REQUEST_TYPE_QUESTION;
	other = facts_of(&in, "Read", json);
	ck_assert(!same_digest(&base, &other));

	collect(&c, "Read", json);
	finish(&c);
	ck_assert(same_digest(&base, &c.facts));
	replace(&c.paths[0].resolved, "/w/proj/b");
	refinish(&c, 1);
	ck_assert(!same_digest(&base, &c.facts));
	other = c.facts;
	replace(&c.paths[0].resolved, NULL);
	refinish(&c, 1);
	ck_assert(!same_digest(&base, &c.facts) && !same_digest(&other, &c.facts));
	other = c.facts;
	replace(&c.paths[0].resolved, "");
	refinish(&c, 1);
	ck_assert(!same_digest(&other, &c.facts));
	done(&c);
}
END_TEST

START_TEST(signatures)
{
	struct facts_input in = usual;
	struct facts a, b;

	/* the same command, however it is described */
	a = facts_of(&usual, "Bash", "{\"command\":\"rm x\",\"description\":\"a\"}");
	b = facts_of(&usual, "Bash", "{\"description\":\"b\",\"command\":\"rm x\"}");
	ck_assert(same_signature(&a, &b) && !same_digest(&a, &b));
	b = facts_of(&usual, "Bash", "{\"command\":\"rm y\"}");
	ck_assert(!same_signature(&a, &b));
	b = facts_of(&usual, "bash", "{\"command\":\"rm x\"}");
	ck_assert(!same_signature(&a, &b));
	in.cwd = bytes_of("/w");
	b = facts_of(&in, "Bash", "{\"command\":\"rm x\"}");
	ck_assert(!same_signature(&a, &b));
	/* what is not read whole is only the same with the same input */
	a = facts_of(&usual, "Bash", "{\"command\":\"rm x\",\"cmd\":\"a\"}");
	b = facts_of(&usual, "Bash", "{\"command\":\"rm x\",\"cmd\":\"b\"}");
	ck_assert(!same_signature(&a, &b));

	a = facts_of(&usual, "Edit", "{\"file_path\":\"a\",\"new_string\":\"x\"}");
	b = facts_of(&usual, "Edit", "{\"file_path\":\"/w/proj/a\",\"new_string\":\"y\"}");
	ck_assert(same_signature(&a, &b));
	b = facts_of(&usual, "Edit", "{\"file_path\":\"b\",\"new_string\":\"x\"}");
	ck_assert(!same_signature(&a, &b));

	a = facts_of(&usual, "Grep", "{\"pattern\":\"x\"}");
	b = facts_of(&usual, "Grep", "{\"pattern\":\"y\"}");
	ck_assert(!same_signature(&a, &b));
	a = facts_of(&usual, "WebFetch", "{\"url\":\"u\",\"prompt\":\"x\"}");
	b = facts_of(&usual, "WebFetch", "{\"url\":\"u\",\"prompt\":\"y\"}");
	ck_assert(same_signature(&a, &b));
	a = facts_of(&usual, "Frobnicate", "{\"x\":1}");
	b = facts_of(&usual, "Frobnicate", "{\"x\":2}");
	ck_assert(!same_signature(&a, &b));
}
END_TEST

START_TEST(input_hash)
{
	/* SHA-256 of "abc" (FIPS 180-2, B.1) */
	static const uint8_t abc[16] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41,
		0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23};
	uint8_t hash[16];
	struct call c;

	facts_input_hash(bytes_of("abc"), hash);
	ck_assert_mem_eq(hash, abc, sizeof(abc));
	collect(&c, "Read", "{\"file_path\":\"a\"}");
	finish(&c);
	facts_input_hash(wire_buffer_bytes(&c.buffer), hash);
	ck_assert_mem_eq(hash, c.facts.input_hash, sizeof(hash));
	done(&c);
}
END_TEST

/* ---- measuring ---- */

static long rounds;

START_TEST(measured)
{
	struct timespec from, to;
	struct facts_input in;
	struct call c;
	char json[512];
	double ns;

	snprintf(json, sizeof(json),
		"{\"file_path\":\"/w/proj/src/some/folder/file_name.c\",\"offset\":1,"
		"\"limit\":2000,\"note\":\"%0220d\"}",
		0);
	collect(&c, "Read", json);
	finish(&c);
	in = c.draft.in;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < rounds; i++) {
		facts_collect(NULL, &in, &c.draft);
		facts_finish(&c.draft, c.paths, 1, &c.facts);
		facts_release(&c.draft);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
	printf("Read, %zu bytes of input: %.0f ns\n", c.buffer.len, ns / (double)rounds);
	done(&c);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("facts_finish");
	TCase *tc = tcase_create("facts");
	SRunner *sr;
	int failed;

	rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	if (rounds > 0) {
		tcase_add_test(tc, measured);
	} else {
		tcase_add_test(tc, bounds);
		tcase_add_test(tc, claims);
		tcase_add_test(tc, request_types);
		tcase_add_test(tc, resolved);
		tcase_add_test(tc, digests);
		tcase_add_test(tc, signatures);
		tcase_add_test(tc, input_hash);
	}
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
