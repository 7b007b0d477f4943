/* SPDX-License-Identifier: MIT */
/* Entries that are added and switched off; what is worth resolving; resolved paths; limits. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/limits.h"
#include "tests/unit/floor_fixture.h"

static struct shell_arena arena;

static void setup(void)
{
	ck_assert_int_eq(shell_arena_init(&arena), 0);
}

static void teardown(void)
{
	shell_arena_free(&arena);
}

static int add(struct floor *floor, const char *line, enum floor_owner owner)
{
	enum floor_error error;
	size_t column;

	return floor_add(floor, bytes_of(line), owner, &error, &column);
}

static const char *hit_of(const struct floor *floor, const char *command)
{
	struct floor_hit hit;

	return command_check(floor, &arena, command, &hit) ? hit.name : "";
}

static const char *path_hit(
	const struct floor *floor, const char *given, const char *resolved, unsigned use)
{
	const struct floor_path path = {bytes_of(given), bytes_of(resolved), use};
	const struct floor_call call = {.paths = &path,
		.n_paths = 1,
		.cwd = bytes_of("/w/proj/src"),
		.workspace = bytes_of("/w/proj"),
		.home = bytes_of("/home/u")};
	struct floor_hit hit;

	if (!floor_check(floor, &call, &hit))
		return "";
	ck_assert_uint_eq(hit.offset, SHELL_NONE);
	return hit.name;
}

/* ---- lines ---- */

START_TEST(lines)
{
	static const struct {
		const char *line;
		enum floor_error error;
		size_t column;
	} cases[] = {
		{"a", FLOOR_ERROR_NO_GUARDS, 2},
		{"a ", FLOOR_ERROR_NO_GUARDS, 3},
		{"a,b all x", FLOOR_ERROR_NAME, 2},
		{"unread all x", FLOOR_ERROR_RESERVED, 1},
		{"a everything x", FLOOR_ERROR_GUARDS, 3},
		{"a read,x y", FLOOR_ERROR_GUARDS, 8},
		{"a read, y", FLOOR_ERROR_GUARDS, 8},
		{"a all", FLOOR_ERROR_NO_PATTERN, 6},
		{"a command  ", FLOOR_ERROR_NO_PATTERN, 12},
		{"a all !x", FLOOR_ERROR_NEGATED, 7},
		{"a all ~bob/x", FLOOR_ERROR_TILDE, 7},
		{"a all x/../y", FLOOR_ERROR_UP, 9},
		{"a all x/[a", FLOOR_ERROR_CLASS, 9},
		{"a all x\\", FLOOR_ERROR_ESCAPE, 8},
		{"a all **", FLOOR_ERROR_WHOLE, 7},
		{"a all *", FLOOR_ERROR_WHOLE, 7},
		{"a all //", FLOOR_ERROR_WHOLE, 7},
		{"a all ~/**", FLOOR_ERROR_WHOLE, 7},
		{"a command rm -rf *", FLOOR_ERROR_COMMAND, 18},
		{"a command git 'push'", FLOOR_ERROR_COMMAND, 15},
	};
	struct floor *const floor = floor_new(FLOOR_USER);
	enum floor_error error;
	char longest[LIMIT_TEXT + 2];
	size_t column;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(
			floor_add(floor, bytes_of(cases[i].line), FLOOR_USER, &error, &column),
			-EINVAL);
		ck_assert_msg(error == cases[i].error && column == cases[i].column,
			"%s: %s at %zu", cases[i].line, floor_error_text(error), column);
	}
	ck_assert_int_eq(
		floor_add(floor, (struct bytes){"a all x\0y", 9}, FLOOR_USER, &error, &column),
		-EINVAL);
	ck_assert_int_eq(error, FLOOR_ERROR_BYTE);
	ck_assert_uint_eq(column, 8);
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "a all ", 6);
	ck_assert_int_eq(floor_add(floor, (struct bytes){longest, LIMIT_TEXT + 1}, FLOOR_USER,
				 &error, &column),
		-EINVAL);
	ck_assert_int_eq(error, FLOOR_ERROR_LONG);
	ck_assert_int_eq(floor_add(floor, (struct bytes){longest, LIMIT_TEXT}, FLOOR_USER,
				 &error, &column),
		0);
	ck_assert_int_eq(add(floor, "", FLOOR_USER), 1);
	ck_assert_int_eq(add(floor, " \t", FLOOR_USER), 1);
	ck_assert_int_eq(add(floor, "# a all x", FLOOR_USER), 1);
	ck_assert_str_eq(floor_error_text(FLOOR_OK), "");
	floor_free(floor);
	floor_free(NULL);
}
END_TEST

START_TEST(many)
{
	struct floor *const floor = floor_new(FLOOR_USER);
	enum floor_error error;
	size_t column;

	for (unsigned i = 0; i < LIMIT_FLOOR_ADDED; i++)
		ck_assert_int_eq(add(floor, "a write x.y", FLOOR_USER), 0);
	ck_assert_int_eq(floor_add(floor, bytes_of("a write x.y"), FLOOR_USER, &error, &column),
		-EINVAL);
	ck_assert_int_eq(error, FLOOR_ERROR_MANY);
	ck_assert_str_eq(hit_of(floor, "echo > x.y"), "a");
	floor_free(floor);
}
END_TEST

/* ---- what they match ---- */

START_TEST(patterns)
{
	struct floor *const floor = floor_new(FLOOR_USER);

	ck_assert_int_eq(add(floor, "backups all ~/backups/**", FLOOR_USER), 0);
	ck_assert_int_eq(add(floor, "database read,write *.sqlite", FLOOR_USER), 0);
	ck_assert_int_eq(add(floor, "vault write /vault", FLOOR_USER), 0);
	ck_assert_int_eq(add(floor, "opt run //opt/[a-c]*/bin", FLOOR_USER), 0);
	ck_assert_int_eq(add(floor, "here read ./private", FLOOR_USER), 0);

	ck_assert_str_eq(hit_of(floor, "cat ~/backups/a"), "backups");
	ck_assert_str_eq(hit_of(floor, "cat ~/Backups/A/b"), "backups");
	ck_assert_str_eq(hit_of(floor, "cat ~/back*/a"), "backups");
	ck_assert_str_eq(hit_of(floor, "ls ~/backups"), "backups");
	ck_assert_str_eq(hit_of(floor, "cat ~/backups2/a"), "");
	ck_assert_str_eq(hit_of(floor, "cat backups/a"), "");
	ck_assert_str_eq(hit_of(floor, "cat sub/APP.SQLite"), "database");
	ck_assert_str_eq(hit_of(floor, "cat *.sqlite"), "database");
	ck_assert_str_eq(hit_of(floor, "./app.sqlite"), "");
	ck_assert_str_eq(hit_of(floor, "touch vault/a"), "vault");
	ck_assert_str_eq(hit_of(floor, "cat vault/a"), "");
	ck_assert_str_eq(hit_of(floor, "touch sub/vault/a"), "");
	ck_assert_str_eq(hit_of(floor, "/opt/abc/bin/x"), "opt");
	ck_assert_str_eq(hit_of(floor, "/opt/xbc/bin/x"), "");
	ck_assert_str_eq(path_hit(floor, "/w/proj/src/private/x", NULL, FLOOR_READ), "here");
	ck_assert_str_eq(path_hit(floor, "/w/proj/private/x", NULL, FLOOR_READ), "");
	floor_free(floor);
}
END_TEST

START_TEST(commands)
{
	struct floor *const floor = floor_new(FLOOR_USER);

	ck_assert_int_eq(add(floor, "infra command terraform destroy", FLOOR_USER), 0);
	ck_assert_int_eq(add(floor, "repo command gh repo delete", FLOOR_USER), 0);
	ck_assert_str_eq(hit_of(floor, "terraform destroy"), "infra");
	ck_assert_str_eq(
		hit_of(floor, "make && /opt/bin/terraform -chdir=x destroy -auto"), "infra");
	ck_assert_str_eq(hit_of(floor, "timeout 5 terraform destroy"), "infra");
	ck_assert_str_eq(hit_of(floor, "terraform plan"), "");
	ck_assert_str_eq(hit_of(floor, "echo terraform destroy"), "");
	ck_assert_str_eq(hit_of(floor, "gh repo delete x --yes"), "repo");
	ck_assert_str_eq(hit_of(floor, "gh delete repo"), "");
	floor_free(floor);
}
END_TEST

/* ---- switching off ---- */

START_TEST(off)
{
	struct floor *const floor = floor_new(FLOOR_USER);
	struct floor_entry e;

	ck_assert_str_eq(hit_of(floor, "cat .env.key"), "env");
	ck_assert_int_eq(floor_off(floor, bytes_of("env"), FLOOR_USER), 0);
	ck_assert_str_eq(hit_of(floor, "cat .env.key"), "private-key");
	ck_assert_str_eq(hit_of(floor, "cat .env"), "");
	ck_assert_str_eq(hit_of(floor, "rm -rf ~/.ssh"), "delete");
	ck_assert_int_eq(floor_off(floor, bytes_of("delete"), FLOOR_USER), 0);
	ck_assert_str_eq(hit_of(floor, "rm -rf ~/.ssh"), "ssh");
	ck_assert_str_eq(hit_of(floor, "rm -rf \"$X\""), "unread");
	ck_assert_int_eq(floor_off(floor, bytes_of("privilege"), FLOOR_USER), 0);
	ck_assert_str_eq(hit_of(floor, "sudo ls"), "");
	ck_assert_str_eq(hit_of(floor, "sudo cat ~/.ssh/x"), "ssh");
	ck_assert_int_eq(floor_off(floor, bytes_of("unread"), FLOOR_USER), -EPERM);
	ck_assert_int_eq(floor_off(floor, bytes_of("unread"), FLOOR_ADMIN), -EPERM);
	ck_assert_int_eq(floor_off(floor, bytes_of("nothing"), FLOOR_USER), -ENOENT);
	for (size_t i = 0; floor_at(floor, i, &e); i++) {
		const bool is_off = strcmp(e.name, "env") == 0 ||
				    strcmp(e.name, "delete") == 0 ||
				    strcmp(e.name, "privilege") == 0;

		ck_assert_int_eq(e.off, is_off);
		ck_assert_int_eq(e.added, false);
	}
	floor_free(floor);
}
END_TEST

START_TEST(owners)
{
	struct floor *const system = floor_new(FLOOR_ADMIN);
	struct floor *const user = floor_new(FLOOR_USER);
	struct floor_entry e = {0};
	size_t n = 0;

	/* what is shipped is the administrator's where the broker is all of a system's */
	ck_assert_int_eq(floor_off(system, bytes_of("env"), FLOOR_USER), -EPERM);
	ck_assert_str_eq(hit_of(system, "cat .env"), "env");
	ck_assert_int_eq(floor_off(system, bytes_of("env"), FLOOR_ADMIN), 0);
	ck_assert_str_eq(hit_of(system, "cat .env"), "");

	/* one name, two owners: all or nothing */
	ck_assert_int_eq(add(user, "mine all *.one", FLOOR_USER), 0);
	ck_assert_int_eq(add(user, "theirs all *.two", FLOOR_ADMIN), 0);
	ck_assert_int_eq(add(user, "env all *.three", FLOOR_ADMIN), 0);
	ck_assert_int_eq(floor_off(user, bytes_of("theirs"), FLOOR_USER), -EPERM);
	ck_assert_int_eq(floor_off(user, bytes_of("env"), FLOOR_USER), -EPERM);
	ck_assert_str_eq(hit_of(user, "cat a.two"), "theirs");
	ck_assert_str_eq(hit_of(user, "cat a.three"), "env");
	ck_assert_str_eq(hit_of(user, "cat .env"), "env");
	ck_assert_int_eq(floor_off(user, bytes_of("mine"), FLOOR_USER), 0);
	ck_assert_str_eq(hit_of(user, "cat a.one"), "");
	while (floor_at(user, n, &e))
		n++;
	ck_assert(floor_at(user, n - 3, &e));
	ck_assert_str_eq(e.name, "mine");
	ck_assert_str_eq(e.about, "*.one");
	ck_assert(e.added && e.off && e.owner == FLOOR_USER && e.guards == FLOOR_ALL);
	floor_free(system);
	floor_free(user);
}
END_TEST

/* ---- paths of a call ---- */

START_TEST(resolved)
{
	struct floor *const floor = floor_new(FLOOR_USER);
	char longest[LIMIT_TEXT + 2];

	ck_assert_str_eq(
		path_hit(floor, "/w/proj/a", "/home/u/.ssh/config", FLOOR_READ), "ssh");
	ck_assert_str_eq(
		path_hit(floor, "/home/u/.ssh/config", "/w/proj/a", FLOOR_READ), "ssh");
	ck_assert_str_eq(path_hit(floor, "/w/proj/a", "/w/proj/b", FLOOR_ALL), "");
	ck_assert_str_eq(path_hit(floor, "../.env", NULL, FLOOR_READ), "env");
	ck_assert_str_eq(path_hit(floor, "~/.netrc", NULL, FLOOR_READ), "netrc");
	/* a folder that is deleted, and is another one */
	ck_assert_str_eq(
		path_hit(floor, "/w/proj/build", "/home/u/x", FLOOR_WRITE | FLOOR_DELETE),
		"delete");
	ck_assert_str_eq(
		path_hit(floor, "/w/proj/build", "/w/proj/out", FLOOR_WRITE | FLOOR_DELETE),
		"");
	ck_assert_str_eq(path_hit(floor, "/w/proj", "/w/proj", FLOOR_PERMIT), "permission");
	ck_assert_str_eq(path_hit(floor, "..", NULL, FLOOR_MOVE), "move");
	ck_assert_str_eq(path_hit(floor, "..", NULL, FLOOR_MOVE | FLOOR_PARTS), "");
	ck_assert_str_eq(path_hit(floor, "/w/proj/link", "/home/u", FLOOR_READ | FLOOR_DEEP),
		"read-all");
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[LIMIT_TEXT + 1] = 0;
	ck_assert_str_eq(path_hit(floor, longest, NULL, FLOOR_READ), "unread");
	longest[LIMIT_TEXT] = 0;
	ck_assert_str_eq(path_hit(floor, longest, NULL, FLOOR_READ), "");
	ck_assert_uint_eq(floor_use_of(KIND_READ) & FLOOR_ALL, FLOOR_READ);
	ck_assert_uint_eq(floor_use_of(KIND_EDIT) & FLOOR_ALL, FLOOR_WRITE);
	ck_assert_uint_eq(floor_use_of(KIND_OTHER) & FLOOR_ALL, FLOOR_ALL);
	ck_assert(floor_use_of(KIND_DELETE) & FLOOR_DELETE);
	floor_free(floor);
}
END_TEST

struct list {
	char text[4096];
	unsigned n, stop;
};

static bool note(void *arg, struct bytes path, unsigned use)
{
	struct list *const l = arg;
	const size_t at = strlen(l->text);

	snprintf(l->text + at, sizeof(l->text) - at, "%.*s%s%s%s ", (int)path.len,
		(const char *)path.data, use & FLOOR_WRITE ? "+w" : "",
		use & FLOOR_RUN ? "+x" : "", use & FLOOR_DELETE ? "+d" : "");
	return ++l->n != l->stop;
}

static void operands_of(const char *command, struct list *out)
{
	const struct shell_context context = {
		.cwd = bytes_of("/w/proj"), .home = bytes_of("/home/u")};
	struct shell shell;
	struct floor_call call = {.shell = &shell};

	shell_read(bytes_of(command), &context, &arena, &shell);
	floor_operands(&call, note, out);
}

START_TEST(operands)
{
	struct list l = {.stop = 100}, first = {.stop = 1};

	operands_of(
		"cd src && cat a ../b | tee out/c > /tmp/d; git log main; rm -rf ./x ~/y", &l);
	ck_assert_str_eq(l.text, "/w/proj/src/a /w/proj/src/../b /tmp/d+w /w/proj/src/out/c+w "
				 "/w/proj/src/./x+w+d /w/proj/./x+w+d /home/u/y+w+d ");
	operands_of("./run.sh a b", &first);
	ck_assert_str_eq(first.text, "/w/proj/./run.sh+x ");
	memset(&l, 0, sizeof(l));
	operands_of("cat *.c \"$X\" https://x.test/a <<< b; for f in a; do :; done", &l);
	ck_assert_str_eq(l.text, "");
}
END_TEST

/* ---- limits ---- */

static char *repeated(const char *first, const char *text, size_t size)
{
	const size_t n = strlen(text);
	char *const out = malloc(size + n + 1);
	size_t at = strlen(first);

	ck_assert_ptr_nonnull(out);
	memcpy(out, first, at);
	for (; at < size; at += n)
		memcpy(out + at, text, n);
	out[at] = 0;
	return out;
}

/* However it is written, a text takes no longer than what is bounded. */
START_TEST(bounded)
{
	static const struct {
		const char *first, *text;
	} cases[] = {
		{"cat", " a"},
		{"cat", " a*/b*"},
		{"cat ", "a*/"},
		{"cat ", "a:"},
		{"cat ", "=,"},
		{"cat ", "../"},
		{"cat ", "[[]"},
		{"find", " ("},
		{"find", " -name a*"},
		{"find . -exec rm -rf", " {}"},
		{"find .", " -exec rm -rf {} +"},
		{"echo a | ", "xargs "},
		{"", "echo a | sh;"},
		{"", "nice "},
		{"tar c", " -C a b"},
		{"git push", " -x"},
		{"chmod", " a+x"},
		{"for i in", " a"},
		{"", "a=b "},
		{"cd a || cd b || cd c; cat", " a/b:c"},
		{"{ echo a; } | { ", "sh;"},
	};
	struct floor *const floor = floor_new(FLOOR_USER);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *const text = repeated(cases[i].first, cases[i].text, 100000);

		hit_of(floor, text);
		free(text);
	}
	floor_free(floor);
}
END_TEST

START_TEST(exhausted)
{
	struct floor *const floor = floor_new(FLOOR_USER);
	char *const text = repeated("cat", " a*/b*/c*/d*/e*", 100000);
	struct floor_hit hit;

	ck_assert(command_check(floor, &arena, text, &hit));
	ck_assert_str_eq(hit.name, "unread");
	free(text);
	floor_free(floor);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("floor_add");
	TCase *tc = tcase_create("additions");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lines);
	tcase_add_test(tc, many);
	tcase_add_test(tc, patterns);
	tcase_add_test(tc, commands);
	tcase_add_test(tc, off);
	tcase_add_test(tc, owners);
	tcase_add_test(tc, resolved);
	tcase_add_test(tc, operands);
	tcase_add_test(tc, bounded);
	tcase_add_test(tc, exhausted);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
