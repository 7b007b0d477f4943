/* SPDX-License-Identifier: MIT */
/* Commands that only read: what they name has to be known, a bare word, too. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/judge.h"
#include "broker/core/pipeline.h"

static struct judge judge;

static void setup(void)
{
	ck_assert_int_eq(judge_init(&judge, FLOOR_USER), 0);
}

static void teardown(void)
{
	judge_fini(&judge);
}

/* As after the resolver, for which each path that ends in /link leads out. */
static bool reads(const char *command, struct bytes cwd)
{
	struct judge_call call = {.tool = bytes_of("Bash"),
		.command = bytes_of(command),
		.kind = KIND_EXECUTE,
		.cwd = cwd,
		.workspace = bytes_of("/w"),
		.home = bytes_of("/home/u")};
	struct request_path paths[LIMIT_OPERANDS];
	struct judge_operands operands;
	static struct judged judged;
	bool known;

	judge_operands(&judge, call.command, call.cwd, call.home, call.workspace, &operands);
	for (unsigned i = 0; i < operands.n; i++) {
		const struct bytes path = operands.items[i].path;
		const bool out = path.len > 5 && memcmp((const char *)path.data + path.len - 5,
							 "/link", 5) == 0;

		ck_assert_uint_le(path.len, LIMIT_TEXT);
		paths[i].given = str_new(path.data, path.len);
		paths[i].resolved = out ? str_new("/etc/key", 8) : str_ref(paths[i].given);
		paths[i].inside = !out && memcmp(path.data, "/w", 2) == 0;
	}
	call.paths = paths;
	call.n_operands = operands.n;
	judge_prepare(&judge, &call, &judged);
	known = judged_reads(&judged);
	for (unsigned i = 0; i < operands.n; i++) {
		str_unref(paths[i].given);
		str_unref(paths[i].resolved);
	}
	return known;
}

static const char *const readers[] = {"cat", "expand", "fmt", "sort", "date -r", "date -f",
	"grep -f", "grep -f f", "grep x", "grep --exclude-from", "ls", "ls -l", "find", "du",
	"tree", "stat", "file", "readlink", "rg x", "rg --ignore-file",
	"git log --", "git diff", "git grep -f", "test -f", "df"};

START_TEST(link_leads_out)
{
	char text[64];

	strcpy(stpcpy(stpcpy(text, readers[_i]), " "), "file");
	ck_assert_msg(reads(text, bytes_of("/w")), "%s", text);
	strcpy(stpcpy(stpcpy(text, readers[_i]), " "), "link");
	ck_assert_msg(!reads(text, bytes_of("/w")), "%s", text);
}
END_TEST

START_TEST(words_that_are_no_files)
{
	ck_assert(reads("echo link; printf link; seq 3; pwd; ls", bytes_of("/w/a")));
	ck_assert(reads("git log main | head -n 3", bytes_of("/w")));
}
END_TEST

/* A folder below could be a repository with a configuration of its own. */
START_TEST(git_of_the_workspace)
{
	ck_assert(reads("git status", bytes_of("/w")));
	ck_assert(reads("git -C /w status", bytes_of("/w/a")));
	ck_assert(reads("cd /w && git status", bytes_of("/w/a")));
	ck_assert(!reads("git status", bytes_of("/w/a")));
	ck_assert(!reads("git -C a status", bytes_of("/w")));
	ck_assert(!reads("git -C /w/a status", bytes_of("/w")));
	ck_assert(!reads("git -C /w -C a status", bytes_of("/w")));
	ck_assert(!reads("cd a && git status", bytes_of("/w")));
	ck_assert(!reads("timeout 5 git -C a status", bytes_of("/w")));
}
END_TEST

/* A folder whose name leaves no room for that of the link. */
START_TEST(path_too_long)
{
	char cwd[LIMIT_TEXT];

	memset(cwd, 'd', sizeof(cwd));
	memcpy(cwd, "/w/", 3);
	ck_assert(reads("cat x", (struct bytes){cwd, LIMIT_TEXT - 2}));
	ck_assert(!reads("cat link", (struct bytes){cwd, LIMIT_TEXT - 4}));
	ck_assert(!reads("cat x", (struct bytes){cwd, LIMIT_TEXT - 1}));
}
END_TEST

/* Of the two values of these options the second is a file. */
/* What they read is not among their words, or by another program. */
START_TEST(lists_of_files)
{
	ck_assert(!reads("sort --files0-from=file", bytes_of("/w/a")));
	ck_assert(!reads("wc --files0-from file", bytes_of("/w/a")));
	ck_assert(!reads("rg -z x file", bytes_of("/w/a")));
}
END_TEST

/* An operand that is written to, or a clock that is set. */
START_TEST(operands_that_are_no_input)
{
	ck_assert(reads("uniq -D file", bytes_of("/w/a")));
	ck_assert(!reads("uniq -D file other", bytes_of("/w/a")));
	ck_assert(reads("date -u +%s", bytes_of("/w/a")));
	ck_assert(!reads("date 010203042026", bytes_of("/w/a")));
	ck_assert(!reads("date -u 01010000", bytes_of("/w/a")));
	ck_assert(reads("awk '{print $1}' file", bytes_of("/w/a")));
	ck_assert(!reads("awk 'BEGIN{ARGV[ARGC++]=\"/etc/key\"}1' file", bytes_of("/w/a")));
	ck_assert(!reads("gawk 'BEGIN{SYMTAB[\"x\"]=1}' file", bytes_of("/w/a")));
	ck_assert(!reads("jq '\"../x\"|modulemeta' file", bytes_of("/w/a")));
}
END_TEST

START_TEST(jq_reads_files)
{
	ck_assert(reads("jq . file", bytes_of("/w/a")));
	ck_assert(!reads("jq -n --rawfile a /etc/key '$a'", bytes_of("/w/a")));
	ck_assert(!reads("jq -n --slurpfile a /etc/key '$a'", bytes_of("/w/a")));
	ck_assert(reads("jq '.import, .include' file", bytes_of("/w/a")));
	ck_assert(!reads("jq 'import \"a\" as $a; $a' file", bytes_of("/w/a")));
	ck_assert(!reads("jq 'import # x\n\"a\" as $a; $a' file", bytes_of("/w/a")));
	ck_assert(!reads("jq 'module {}; include \"a\" {search: \"/etc\"}; .' file",
		bytes_of("/w/a")));
}
END_TEST

static void check_many(const char *word, unsigned n, bool expected)
{
	const size_t len = strlen(word);
	char *const text = malloc(4 + n * len), *at = stpcpy(text, "cat");

	for (unsigned i = 0; i < n; i++)
		at = stpcpy(at, word);
	ck_assert_int_eq(reads(text, bytes_of("/w/a")), expected);
	free(text);
}

/* So many are looked at, and no more. */
START_TEST(arguments)
{
	check_many(" f", LIMIT_READ_ARGS - 1, true);
	check_many(" f", LIMIT_READ_ARGS, false);
	check_many(" -e", LIMIT_READ_ARGS - 1, true);
	check_many(" -e", LIMIT_READ_ARGS, false);
}
END_TEST

/* Many rules against much text: a person is asked, in yolo, too. */
START_TEST(too_much_for_rules)
{
	const struct rule_origin origin = {
		.scope = RULE_USER, .uid = RULE_ANY_UID, .file = bytes_of("f")};
	struct pipeline_call call = {.type = REQUEST_TYPE_TOOL_CALL,
		.mode = MODE_YOLO,
		.mutating = true,
		.repeat_limit = 1,
		.judge = &judge,
		.call = {
			.tool = bytes_of("Bash"), .kind = KIND_EXECUTE, .cwd = bytes_of("/w")}};
	const size_t room = 1u << 18;
	char *const text = malloc(room);
	struct pipeline_result r;
	struct rule_problem problem;
	size_t n = 0, problems;

	for (unsigned i = 0; i < 2000; i++)
		n += (size_t)snprintf(text + n, room - n, "deny %s/x%u*y%s)\n",
			_i ? "Read(**" : "Bash(cat *", i, _i ? "" : "*");
	ck_assert_int_eq(ruleset_load(judge.rules, &origin, (struct bytes){text, n}, &problem,
				 1, &problems),
		0);
	for (n = 0; n < room; n++)
		text[n] = "cat zzz;"[n % 8];
	call.call.command = (struct bytes){text, 80};
	ck_assert_int_eq(pipeline_run(&call, NULL, &r), 0);
	ck_assert_int_eq(r.answer, PIPELINE_ALLOW);
	call.call.command.len = 16000;
	ck_assert_int_eq(pipeline_run(&call, NULL, &r), 0);
	ck_assert_int_eq(r.answer, PIPELINE_ASK);
	ck_assert_str_eq(r.floor.name, "unread");
	/* what a rule denies that was found before stays denied */
	ck_assert_int_eq(ruleset_add(judge.rules,
				 &(struct rule_origin){.scope = RULE_ADMIN, .uid = RULE_ANY_UID}, 1,
				 bytes_of("deny Bash(cat zzz)"), &problem),
		0);
	ck_assert_int_eq(pipeline_run(&call, NULL, &r), 0);
	ck_assert_int_eq(r.answer, PIPELINE_DENY);
	free(text);
}
END_TEST

/* What could not be looked at may lead to the floor: not even yolo allows it. */
START_TEST(unseen_in_yolo)
{
	struct request_path path = {.given = str_new("/w/file", 7)};
	struct pipeline_call call = {.type = REQUEST_TYPE_TOOL_CALL,
		.mode = MODE_YOLO,
		.mutating = true,
		.judge = &judge,
		.call = {.tool = bytes_of("Edit"),
			.kind = KIND_EDIT,
			.facts = FACT_UNRESOLVED | FACT_UNSEEN,
			.paths = &path,
			.n_paths = 1,
			.cwd = bytes_of("/w"),
			.workspace = bytes_of("/w")}};
	struct pipeline_result r;

	ck_assert_int_eq(pipeline_run(&call, NULL, &r), 0);
	ck_assert_int_eq(r.answer, PIPELINE_PASS);
	call.call.facts = FACT_UNRESOLVED;
	ck_assert_int_eq(pipeline_run(&call, NULL, &r), 0);
	ck_assert_int_eq(r.answer, PIPELINE_PASS);
	path.resolved = str_ref(path.given);
	ck_assert_int_eq(pipeline_run(&call, NULL, &r), 0);
	ck_assert_int_eq(r.answer, PIPELINE_ALLOW);
	str_unref(path.resolved);
	str_unref(path.given);
}
END_TEST

/* A million letters, each of which is an option. */
START_TEST(too_many_options)
{
	const size_t len = 1000000;
	char *const text = malloc(len);
	struct pipeline_call call = {.type = REQUEST_TYPE_TOOL_CALL,
		.mode = MODE_YOLO,
		.judge = &judge,
		.call = {.tool = bytes_of("Bash"),
			.command = {text, len},
			.kind = KIND_EXECUTE,
			.cwd = bytes_of("/w")}};
	struct pipeline_result r;

	memset(text, 'l', len);
	memcpy(text, "ls -", 4);
	ck_assert_int_eq(pipeline_run(&call, NULL, &r), 0);
	ck_assert_int_eq(r.answer, PIPELINE_ASK);
	ck_assert_str_eq(r.floor.name, "unread");
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core: judge");
	TCase *t = tcase_create("reads");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, link_leads_out, 0, sizeof(readers) / sizeof(readers[0]));
	tcase_add_test(t, words_that_are_no_files);
	tcase_add_test(t, git_of_the_workspace);
	tcase_add_test(t, path_too_long);
	tcase_add_test(t, jq_reads_files);
	tcase_add_test(t, lists_of_files);
	tcase_add_test(t, operands_that_are_no_input);
	tcase_add_test(t, arguments);
	tcase_add_test(t, too_many_options);
	tcase_add_test(t, unseen_in_yolo);
	tcase_add_loop_test(t, too_much_for_rules, 0, 2);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
