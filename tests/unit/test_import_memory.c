/* SPDX-License-Identifier: MIT */
/* Every allocation of an import fails once: there are all rules, or none and -ENOMEM. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/ctl/import.h"
#include "tests/unit/fail_alloc.h"

static const struct {
	enum import_source source;
	const char *text;
} cases[] = {
	{IMPORT_CLAUDE,
		"{\"permissions\": {\"allow\": [\"Bash(git *)\", \"Bash(git push)\", "
		"\"WebFetch\","
		"\"WebFetch(domain:a.b)\", \"Read(~/x)\", \"Bash(a && b)\", \"bad name\"],"
		"\"ask\": [\"Agent(X)\", \"Bash(a \\\"$X\\\" *)\"], \"deny\": [\"Bash(git push "
		"*)\","
		"\"Read(*)\", \"Write\"], \"additionalDirectories\": [\"/x/\", \"~/y\", "
		"\"..\"],"
		"\"defaultMode\": \"plan\"}}"},
	{IMPORT_CODEX,
		"host_executable(name='git', paths=['/usr/bin/git'])\n"
		"prefix_rule(pattern=['git', ['push', 'a b']], match=['git \\'a b\\'', ['git', "
		"'push']], not_match=['git'])\nprefix_rule(pattern=['bash'], "
		"decision='prompt')\n"
		"network_rule(host='a', protocol='https', decision='deny')\n"},
	{IMPORT_CODEX,
		"approval_policy = 'never'\n[mcp_servers.s]\ndisabled_tools = ['x', 'a b']\n"
		"default_tools_approval_mode = \"approve\"\ntools.y = {approval_mode = "
		"'auto'}\n"},
	{IMPORT_GEMINI,
		"[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = ['git', 'npm run']\n"
		"decision = 'allow'\npriority = 5\n[[rule]]\ntoolName = '*'\ndecision = "
		"'deny'\n"
		"priority = 1\n[[rule]]\ntoolName = 'run_shell_command'\ncommandRegex = "
		"'rm.*x'\n"
		"decision = 'deny'\npriority = 9\nmodes = ['yolo']\n[[rule]]\nmcpName = 's'\n"
		"toolName = ['a', '*', 'grep_search']\ndecision = 'ask_user'\npriority = 7\n"},
	{IMPORT_GEMINI,
		"{\"tools\": {\"core\": [\"read_file\", \"run_shell_command(git)\"], "
		"\"exclude\":"
		"[\"ShellTool(rm)\"]}, \"mcp\": {\"excluded\": [\"x\"], \"allowed\": [\"y\"]},"
		"\"mcpServers\": {\"s\": {\"trust\": true, \"excludeTools\": [\"t\"]}}}"},
	{IMPORT_OPENCODE,
		"{\"tools\": {\"write\": false}, \"permission\": {\"*\": \"allow\", \"bash\":"
		"{\"*\": \"ask\", \"git *\": \"allow\", \"rm $X *\": \"deny\"}, \"read\": "
		"{\"*.env\":"
		"\"deny\", \"src/*.md\": \"allow\", \"a?b\": \"ask\"}, \"web*\": \"deny\","
		"\"webfetch\": {\"https://a.b/*\": \"deny\"}, \"external_directory\": {\"*\":"
		"\"deny\", \"/x/*\": \"deny\"}}, \"agent\": {\"x\": {\"permission\": {}}}}"},
};

static int run(size_t i, bool rest, size_t *lines)
{
	const struct import_options options = {.source = cases[i].source, .drop_rest = rest};
	const struct import_line *list;
	struct import *im;
	const int r = import_run(&im, &options, cases[i].text, strlen(cases[i].text));

	*lines = im ? import_lines(im, &list) : 0;
	import_free(im);
	return r;
}

START_TEST(every_allocation)
{
	const size_t i = (size_t)_i / 2;
	const bool rest = _i % 2;
	size_t all, lines;
	unsigned n = 0;

	ck_assert_int_eq(run(i, rest, &all), 0);
	ck_assert_uint_gt(all, 0);
	do {
		int r;

		fail_alloc(++n);
		r = run(i, rest, &lines);
		fail_alloc(0);
		if (fail_alloc_did())
			ck_assert_int_eq(r, -ENOMEM);
		else
			ck_assert_int_eq(r, 0);
	} while (fail_alloc_did());
	ck_assert_uint_eq(lines, all);
	ck_assert_uint_gt(n, 50);
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("import_memory");
	TCase *const t = tcase_create("memory");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, every_allocation, 0, 2 * sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
