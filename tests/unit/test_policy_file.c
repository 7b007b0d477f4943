/* SPDX-License-Identifier: MIT */
/* The file of a policy: what it means, at which time, and where it is wrong. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/policy/policy.h"

static struct policy *parsed(const char *text)
{
	struct policy_problem problem = {0, 0, ""};
	struct policy *p = NULL;

	ck_assert_msg(policy_parse("f", bytes_of(text), &p, &problem) == 0, "%u:%u: %s in '%s'",
		problem.line, problem.column, problem.text, text);
	return p;
}

/* ---- what is wrong, and where ---- */

static const struct {
	const char *text;
	unsigned line, column;
	const char *says;
} bad[] = {
	{"alow X\n", 1, 1, "a line begins with"},
	{"\n  frob\n", 2, 3, "a line begins with"},
	{"allow\n", 1, 6, "missing"},
	{"allow Bash(x\n", 1, 11, "closing parenthesis"},
	{"# c\n\nallow X\ndeny @none\n", 4, 6, "kind"},
	{"[agent=a]\n\nallow X\nallow Bash(x\n[mode=plan]\n", 4, 11, "closing parenthesis"},
	{"[agent=a\n", 1, 9, "not closed"},
	{"[agent=\"a]\n", 1, 8, "quotation mark"},
	{"[agent=a] x\n", 1, 10, "text behind"},
	{"[agent=]\n", 1, 8, "value is missing"},
	{"[agent=a,]\n", 1, 10, "value is missing"},
	{"[agent]\n", 1, 7, "= or !="},
	{"[agent!a]\n", 1, 7, "= or !="},
	{"[colour=red]\n", 1, 2, "is expected"},
	{"[agent=a Mode=plan]\n", 1, 10, "is expected"},
	{"[mode=fast]\n", 1, 7, "modes are"},
	{"[mode=plan,y*]\n", 1, 12, "modes are"},
	{"[uid=root]\n", 1, 6, "no number"},
	{"[uid=-1]\n", 1, 6, "no number"},
	{"[uid=4294967295]\n", 1, 6, "no number"},
	{"[uid=99999999999999999999]\n", 1, 6, "no number"},
	{"[uid=10-5]\n", 1, 6, "no range"},
	{"[uid=10x]\n", 1, 6, "write a number"},
	{"[time=8-18]\n", 1, 7, "write a time"},
	{"[time=08:60-09:00]\n", 1, 7, "write a time"},
	{"[time=24:01-09:00]\n", 1, 7, "write a time"},
	{"[time=08:00]\n", 1, 7, "write a time"},
	{"[time=08:0-09:00]\n", 1, 7, "write a time"},
	{"[time=08:00-08:00]\n", 1, 7, "no time between"},
	{"[time=24:00-08:00]\n", 1, 7, "no time between"},
	{"[day=monday]\n", 1, 6, "write mon"},
	{"[day=mon-]\n", 1, 6, "write mon"},
	{"default\n", 1, 8, "is expected"},
	{"default maybe\n", 1, 9, "is expected"},
	{"default none\n", 1, 9, "is expected"},
	{"default deny x\n", 1, 13, "text behind"},
	{"default deny\ndefault ask\n", 2, 1, "already"},
	{"timeout soon\n", 1, 9, "no duration"},
	{"timeout 0\n", 1, 9, "has from"},
	{"timeout 2m\n", 1, 9, "has from"},
	{"timeout 1s x\n", 1, 11, "text behind"},
	{"run\n", 1, 4, "absolute path"},
	{"run x Bash\n", 1, 5, "absolute path"},
	{"run /x\n", 1, 7, "tool is missing"},
	{"run \"/x Bash\n", 1, 5, "quotation mark"},
	{"run /x Bash(\n", 1, 12, "closing parenthesis"},
	{"run /x @none\n", 1, 8, "kind"},
};

START_TEST(problems)
{
	struct policy_problem problem = {0, 0, ""};
	struct policy *p = NULL;

	ck_assert_msg(policy_parse("f", bytes_of(bad[_i].text), &p, &problem) == 1,
		"'%s' is taken", bad[_i].text);
	ck_assert_msg(problem.line == bad[_i].line && problem.column == bad[_i].column &&
			      strstr(problem.text, bad[_i].says),
		"%u:%u: %s in '%s'", problem.line, problem.column, problem.text, bad[_i].text);
}
END_TEST

START_TEST(nul_and_limits)
{
	struct policy_problem problem = {0, 0, ""};
	struct policy *p = NULL;
	struct text t = {0};

	ck_assert_int_eq(policy_parse("f", (struct bytes){"allow \0X\n", 9}, &p, &problem), 1);
	for (unsigned i = 1; i < POLICY_SECTIONS; i++)
		text_add(&t, "[]\n");
	policy_free(parsed(text_string(&t)));
	text_add(&t, "[]\n");
	ck_assert_int_eq(policy_parse("f", bytes_of(text_string(&t)), &p, &problem), 1);
	ck_assert_uint_eq(problem.line, POLICY_SECTIONS);
	text_reset(&t);
	for (unsigned i = 0; i < POLICY_PROGRAMS; i++)
		text_add(&t, "run /x Bash\n");
	policy_free(parsed(text_string(&t)));
	text_add(&t, "run /x Bash\n");
	ck_assert_int_eq(policy_parse("f", bytes_of(text_string(&t)), &p, &problem), 1);
	text_reset(&t);
	text_add(&t, "[uid=0");
	for (unsigned i = 1; i < POLICY_VALUES; i++)
		text_add(&t, ",0");
	text_add(&t, "]");
	policy_free(parsed(text_string(&t)));
	text_reset(&t);
	text_add(&t, "[uid=0");
	for (unsigned i = 0; i < POLICY_VALUES; i++)
		text_add(&t, ",0");
	text_add(&t, "]");
	ck_assert_int_eq(policy_parse("f", bytes_of(text_string(&t)), &p, &problem), 1);
	text_free(&t);
}
END_TEST

/* ---- for which calls ---- */

static const struct {
	const char *head;
	bool holds;
} heads[] = {
	/* the subject: claude, "my \"ci\", run", ses_0, project p of /w/p, yolo, uid 1000,
	 * Wednesday 10:30 */
	{"[]", true},
	{"[agent=claude]", true},
	{"[agent=Claude]", false},
	{"[agent=codex,claude]", true},
	{"[agent=cl*]", true},
	{"[agent!=claude]", false},
	{"[agent!=codex,gemini]", true},
	{"[title=\"my \\\"ci\\\", run\"]", true},
	{"[title=\"my \\\"ci\\\"*\"]", true},
	{"[title=ci]", false},
	{"[session=ses_0]", true},
	{"[session=ses_1]", false},
	{"[project=p]", true},
	{"[project=/w/p]", true},
	{"[project=/w/*]", true},
	{"[project=/x/*]", false},
	{"[project=w]", false},
	{"[mode=yolo]", true},
	{"[mode=plan,normal]", false},
	{"[mode!=plan]", true},
	{"[uid=1000]", true},
	{"[uid=0-999]", false},
	{"[uid=0,1000-1999]", true},
	{"[uid!=0]", true},
	{"[time=08:00-18:00]", true},
	{"[time=10:30-10:31]", true},
	{"[time=10:00-10:30]", false},
	{"[time=22:00-06:00]", false},
	{"[time=22:00-10:31]", true},
	{"[time=10:30-00:00]", true},
	{"[time=00:00-24:00]", true},
	{"[time!=08:00-18:00]", false},
	{"[time=11:00-12:00,10:00-11:00]", true},
	{"[day=wed]", true},
	{"[day=mon-fri]", true},
	{"[day=sat-mon]", false},
	{"[day=sat-wed]", true},
	{"[day=mon,tue]", false},
	{"[agent=claude mode=yolo time=08:00-18:00] # office", true},
	{"[agent=claude mode=plan time=08:00-18:00]", false},
};

static void subject_fill(struct subject *s)
{
	/* a Wednesday */
	const struct tm tm = {.tm_hour = 10, .tm_min = 30, .tm_wday = 3};

	*s = (struct subject){.agent = bytes_of("claude"),
		.title = bytes_of("my \"ci\", run"),
		.session = bytes_of("ses_0"),
		.project = bytes_of("p"),
		.workspace = bytes_of("/w/p"),
		.mode = bytes_of("yolo"),
		.has_uid = true,
		.uid = 1000};
	subject_time(s, &tm);
}

static bool all_hold(const struct policy *p, const struct subject *s)
{
	bool holds = true;

	for (size_t i = 0; i < p->sections[1].n_matchers; i++)
		holds &= matcher_holds(&p->sections[1].matchers[i], s);
	return holds;
}

START_TEST(matchers)
{
	struct policy *const p = parsed(heads[_i].head);
	struct subject s;

	subject_fill(&s);
	ck_assert_msg(all_hold(p, &s) == heads[_i].holds, "%s", heads[_i].head);
	policy_free(p);
}
END_TEST

/* What is not known neither is a value nor is another. */
START_TEST(unknown)
{
	static const char *const list[] = {"[agent=*]", "[agent!=x]", "[project=*]",
		"[project!=x]", "[project!=/x]", "[uid=0-4294967294]", "[uid!=5]",
		"[mode!=plan]"};
	struct subject s = {.title = {"a\0b", 3}};
	struct policy *p;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		p = parsed(list[i]);
		ck_assert_msg(!all_hold(p, &s), "%s", list[i]);
		policy_free(p);
	}
	p = parsed("[title=a*]");
	ck_assert(!all_hold(p, &s));
	policy_free(p);
}
END_TEST

START_TEST(midnight)
{
	struct policy *const p = parsed("[time=22:00-06:00]");
	static const struct {
		int hour, minute;
		bool holds;
	} times[] = {{21, 59, false}, {22, 0, true}, {23, 59, true}, {0, 0, true},
		{5, 59, true}, {6, 0, false}};
	struct subject s = {.uid = 0};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const struct tm tm = {.tm_hour = times[i].hour, .tm_min = times[i].minute};

		subject_time(&s, &tm);
		ck_assert_uint_eq(s.day, 6); /* Sunday */
		ck_assert_int_eq(all_hold(p, &s), times[i].holds);
	}
	policy_free(p);
}
END_TEST

/* ---- what is said of a call ---- */

static const struct {
	const char *text, *tool;
	enum answer answer;
	unsigned line, runs;
} calls[] = {
	{"", "X", ANSWER_DEFER, 0, 0},
	{"allow X", "X", ANSWER_ALLOW, 1, 0},
	{"allow X\r\n", "X", ANSWER_ALLOW, 1, 0},
	{"allow Y\n", "X", ANSWER_DEFER, 0, 0},
	{"allow X\nask X\n", "X", ANSWER_ASK, 2, 0},
	{"deny X\nallow X\nask X\n", "X", ANSWER_DENY, 1, 0},
	{"default allow\n", "X", ANSWER_ALLOW, 1, 0},
	{"default allow # all\ndeny X\n", "X", ANSWER_DENY, 2, 0},
	{"default deny\nallow X\n", "X", ANSWER_ALLOW, 2, 0},
	{"allow X\n\n[agent=claude]\n\ndeny X\n", "X", ANSWER_DENY, 5, 0},
	{"allow X\n\n[agent=codex]\n\ndeny X\n", "X", ANSWER_ALLOW, 1, 0},
	/* of defaults that are for the call the tightest; the file's only without one */
	{"default deny\n[agent=claude]\ndefault allow\n", "X", ANSWER_ALLOW, 3, 0},
	{"default deny\n[agent=codex]\ndefault allow\n", "X", ANSWER_DENY, 1, 0},
	{"[agent=claude]\ndefault allow\n[mode=yolo]\ndefault ask\n", "X", ANSWER_ASK, 4, 0},
	{"[agent=claude]\ndefault ask\n[mode=yolo]\ndefault allow\n", "X", ANSWER_ASK, 2, 0},
	/* a program is asked where its rule speaks, unless that would change nothing */
	{"run /p X\n", "X", ANSWER_NONE, 0, 1},
	{"default allow\nrun /p X\n", "X", ANSWER_NONE, 0, 1},
	{"allow X\nrun /p X\nrun /q X\n", "X", ANSWER_ALLOW, 1, 2},
	{"deny X\nrun /p X\n", "X", ANSWER_DENY, 1, 0},
	{"run /p Y\n", "X", ANSWER_DEFER, 0, 0},
	{"[agent=codex]\nrun /p X\n", "X", ANSWER_DEFER, 0, 0},
	{"[agent=claude]\nrun \"/p q\" X # c\n", "X", ANSWER_NONE, 0, 1},
};

START_TEST(judgements)
{
	struct policy *const p = parsed(calls[_i].text);
	const struct explain_call call = {.tool = bytes_of(calls[_i].tool)};
	struct explainer *x;
	struct subject s;
	struct verdict v;

	subject_fill(&s);
	ck_assert_int_eq(explainer_new(&x), 0);
	ck_assert_int_eq(policy_judge(p, x, &s, &call, &v), 0);
	ck_assert_msg(v.answer == calls[_i].answer && v.line == calls[_i].line &&
			      v.n_runs == calls[_i].runs,
		"'%s': %s of line %u, %zu programs", calls[_i].text, answer_name(v.answer),
		v.line, v.n_runs);
	explainer_free(x);
	policy_free(p);
}
END_TEST

START_TEST(folders_that_make_no_sense)
{
	struct policy *const p = parsed("default allow\nallow X\n");
	const struct explain_call call = {.tool = bytes_of("X"), .cwd = bytes_of("relative")};
	struct explainer *x;
	struct subject s;
	struct verdict v;

	subject_fill(&s);
	ck_assert_int_eq(explainer_new(&x), 0);
	ck_assert_int_eq(policy_judge(p, x, &s, &call, &v), 0);
	ck_assert_int_eq(v.answer, ANSWER_ASK);
	ck_assert_ptr_nonnull(v.note);
	explainer_free(x);
	policy_free(p);
}
END_TEST

/* Too much to be compared: a rule that denies may have been missed, and so a person is asked. */
START_TEST(too_much_to_compare)
{
	static const char head[] = "\x81\xa7"
				   "command"
				   "\xda\x3e\x80"; /* 16,000 bytes */
	const size_t n_head = sizeof(head) - 1, n_command = 16000;
	char *const input = malloc(n_head + n_command);
	const struct explain_call call = {
		.tool = bytes_of("Bash"), .input = {input, n_head + n_command}};
	struct explainer *x;
	struct text t = {0};
	struct policy *p;
	struct subject s;
	struct verdict v;

	text_add(&t, _i ? "deny Bash\n" : "allow Bash\n");
	for (unsigned i = 0; i < 2000; i++)
		text_printf(&t, "deny Bash(cat */x%u*y*)\n", i);
	p = parsed(text_string(&t));
	memcpy(input, head, n_head);
	for (size_t i = 0; i < n_command; i++)
		input[n_head + i] = "cat zzz;"[i % 8];
	subject_fill(&s);
	ck_assert_int_eq(explainer_new(&x), 0);
	ck_assert_int_eq(policy_judge(p, x, &s, &call, &v), 0);
	ck_assert_int_eq(v.answer, _i ? ANSWER_DENY : ANSWER_ASK);
	ck_assert_uint_eq(v.line, _i ? 1 : 0);
	ck_assert(_i ? !v.note : v.note && strstr(v.note, "too much"));
	explainer_free(x);
	policy_free(p);
	text_free(&t);
	free(input);
}
END_TEST

/* Paths are as the broker resolved them: one that it could not is not allowed. */
START_TEST(resolved_paths)
{
	struct policy *const p = parsed("allow Read(/**)\ndeny Read(//etc/**)\n");
	/* {"file_path": "a"} */
	static const char input[] = "\x81\xa9"
				    "file_path"
				    "\xa1"
				    "a";
	struct explain_path path = {.path = bytes_of("a"), .inside = true};
	struct explain_call call = {.tool = bytes_of("Read"),
		.input = {input, sizeof(input) - 1},
		.cwd = bytes_of("/w/p"),
		.workspace = bytes_of("/w/p")};
	static const struct {
		const char *resolved;
		enum answer answer;
	} list[] = {{"/w/p/a", ANSWER_ALLOW}, {"/etc/passwd", ANSWER_DENY},
		{"/w/other", ANSWER_DEFER}, {NULL, ANSWER_DEFER}};
	struct explainer *x;
	struct subject s;
	struct verdict v;

	subject_fill(&s);
	ck_assert_int_eq(explainer_new(&x), 0);
	ck_assert_int_eq(policy_judge(p, x, &s, &call, &v), 0);
	ck_assert_int_eq(v.answer, ANSWER_ALLOW);
	call.resolved = true;
	call.paths = &path;
	call.n_paths = 1;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		path.resolved = bytes_of(list[i].resolved);
		ck_assert_int_eq(policy_judge(p, x, &s, &call, &v), 0);
		ck_assert_msg(v.answer == list[i].answer, "%s: %s", list[i].resolved,
			answer_name(v.answer));
	}
	call.n_paths = 0;
	ck_assert_int_eq(policy_judge(p, x, &s, &call, &v), 0);
	ck_assert_int_eq(v.answer, ANSWER_DEFER);
	explainer_free(x);
	policy_free(p);
}
END_TEST

/* How the answers of programs and rules go together. */
START_TEST(together)
{
	struct verdict v = {.answer = ANSWER_NONE};

	verdict_add(&v, true, ANSWER_ALLOW, 1);
	ck_assert_int_eq(v.answer, ANSWER_ALLOW);
	verdict_add(&v, false, ANSWER_ALLOW, 2);
	ck_assert_int_eq(v.answer, ANSWER_DEFER);
	ck_assert_ptr_nonnull(v.note);
	verdict_add(&v, true, ANSWER_ALLOW, 3);
	ck_assert_int_eq(v.answer, ANSWER_DEFER);
	verdict_add(&v, false, ANSWER_ASK, 4);
	ck_assert_int_eq(v.answer, ANSWER_ASK);
	ck_assert_ptr_null(v.note);
	verdict_add(&v, false, ANSWER_DENY, 5);
	verdict_add(&v, true, ANSWER_ASK, 6);
	ck_assert_int_eq(v.answer, ANSWER_DENY);
	ck_assert_uint_eq(v.line, 5);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void)
{
	Suite *suite = suite_create("policy_file");
	TCase *t = tcase_create("policy_file");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, problems, 0, COUNT(bad));
	tcase_add_test(t, nul_and_limits);
	tcase_add_loop_test(t, matchers, 0, COUNT(heads));
	tcase_add_test(t, unknown);
	tcase_add_test(t, midnight);
	tcase_add_loop_test(t, judgements, 0, COUNT(calls));
	tcase_add_test(t, folders_that_make_no_sense);
	tcase_add_loop_test(t, too_much_to_compare, 0, 2);
	tcase_add_test(t, resolved_paths);
	tcase_add_test(t, together);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
