/* SPDX-License-Identifier: MIT */
/*
 * The cases of tests/cases as real requests to the real broker: its rules as the case says,
 * the mode as the ceiling that a person sets, the call from an agent's connection. What the
 * agent is answered, or the person is shown, is what the case expects, and what explain had
 * said just before. Skipped without the right to a mount namespace: cases name /w/proj.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/case_agent.h"
#include "tests/daemon/raw.h"
#include "tests/daemon/sandbox.h"

#define EXIT_SKIPPED 77
#define WAIT_MS	     60000
#define HOME	     "/home/u"

static struct broker b;
static struct raw person;
static struct agents agents;

/* ---- cases ---- */

static struct json_object **cases;
static size_t n_cases;

static void cases_load(const char *name)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f = fopen(name, "r");

	ck_assert_msg(f, "%s: %s", name, strerror(errno));
	while (getline(&line, &size, f) > 0) {
		struct json_object *const j = json_tokener_parse(line);

		if (!j && strspn(line, " \n") == strlen(line))
			continue;
		ck_assert_msg(j, "%s: no JSON: %s", name, line);
		cases = realloc(cases, (n_cases + 1) * sizeof(*cases));
		ck_assert_ptr_nonnull(cases);
		cases[n_cases++] = j;
	}
	free(line);
	fclose(f);
}

static void cases_free(void)
{
	for (size_t i = 0; i < n_cases; i++)
		json_object_put(cases[i]);
	free(cases);
	cases = NULL;
	n_cases = 0;
}

/* ---- the person ---- */

static void person_open(void)
{
	raw_connect(&person, b.frontend);
	ck_assert(!raw_hello_frontend(&person, "human").error.data);
	wire_pack_map(raw_call(&person, "subscribe"), 0);
	raw_reply(&person, raw_send(&person));
}

static void mode_set(struct agent *a, const char *mode)
{
	struct wire_frame f;
	struct wire_open m;

	if (strcmp(a->mode, mode) == 0)
		return;
	wire_map_open(&m, raw_call(&person, "set_mode"));
	wire_map_strz(&m, "session", a->session);
	wire_map_strz(&m, "mode", mode);
	wire_close(&m);
	f = raw_reply(&person, raw_send(&person));
	ck_assert(!f.error.data);
	ck_assert(bytes_is(raw_text(f.result, "mode"), mode));
	said_put(a->mode, sizeof(a->mode), bytes_of(mode));
}

/* ---- rules: a file of the user's, read anew ---- */

static int notify = -1;

static void notify_open(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(notify, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/notify", b.dir);
	unlink(a.sun_path);
	ck_assert_int_eq(bind(notify, (struct sockaddr *)&a, sizeof(a)), 0);
}

static void reload(void)
{
	char said[512];

	ck_assert_int_eq(syscall(SYS_pidfd_send_signal, b.pidfd, SIGHUP, NULL, 0), 0);
	do {
		struct pollfd p = {.fd = notify, .events = POLLIN};
		ssize_t n;

		ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
		n = recv(notify, said, sizeof(said) - 1, 0);
		ck_assert_int_ge(n, 0);
		said[n] = '\0';
	} while (!strstr(said, "READY=1"));
}

static FILE *file_open(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", b.dir, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fchmod(fileno(f), 0600), 0);
	return f;
}

static bool in_force(const char *rule)
{
	struct bytes item;
	struct wire_frame f;
	struct wire_iter it;

	wire_pack_map(raw_call(&person, "rules_list"), 0);
	f = raw_reply(&person, raw_send(&person));
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "items")), 0);
	while (wire_array_next(&it, &item))
		if (bytes_is(raw_text(item, "rule"), rule))
			return true;
	return false;
}

/* The last ones. */
static struct {
	const char *text;
	unsigned n;
	bool loaded;
} set;

/*
 * false: they do not load. All files are taken, or none: a rule of the administrator's for
 * a tool that there is not, another one each time, tells which.
 */
static bool rules_set(struct json_object *c)
{
	struct json_object *rules = NULL;
	char mark[32];
	FILE *f;

	if (strcmp(case_text(c, "rules"), set.text) == 0)
		return set.loaded;
	set.text = case_text(c, "rules");
	json_object_object_get_ex(c, "rules", &rules);
	f = file_open("rules");
	for (size_t i = 0; i < json_object_array_length(rules); i++)
		fprintf(f, "%s\n", json_object_get_string(json_object_array_get_idx(rules, i)));
	fclose(f);
	snprintf(mark, sizeof(mark), "allow NoSuchTool%u", set.n++);
	f = file_open("admin/mark.rules");
	fprintf(f, "%s\n", mark);
	fclose(f);
	reload();
	set.loaded = in_force(mark);
	return set.loaded;
}

static void explain(const struct agent *a, struct json_object *c, struct said *s)
{
	struct wire_frame f;
	struct wire_open m;

	wire_map_open(&m, raw_call(&person, "explain"));
	case_pack(&m, c);
	wire_map_strz(&m, "session", a->session);
	wire_close(&m);
	f = raw_reply(&person, raw_send(&person));
	memset(s, 0, sizeof(*s));
	said_put(s->verdict, sizeof(s->verdict),
		f.error.data ? bytes_of("error") : raw_text(f.result, "verdict"));
	said_put(s->source, sizeof(s->source), raw_text(f.result, "source"));
	said_put(s->step, sizeof(s->step), raw_text(f.result, "step"));
	said_put(s->floor, sizeof(s->floor), raw_text(f.result, "floor"));
}

/* Who asks is the step of the prompt: a source there is only of decisions. */
static void prompt_read(struct said *s)
{
	struct bytes item;
	struct wire_frame f;
	struct wire_open m;

	wire_map_open(&m, raw_call(&person, "get"));
	wire_map_strz(&m, "id", s->request);
	wire_close(&m);
	f = raw_reply(&person, raw_send(&person));
	ck_assert(!f.error.data);
	item = raw_member(f.result, "item");
	ck_assert(bytes_is(raw_text(item, "state"), "AWAITING"));
	said_put(s->step, sizeof(s->step), raw_text(item, "step"));
	if (raw_member(item, "floor").data)
		said_put(s->floor, sizeof(s->floor),
			raw_text(raw_member(item, "floor"), "entry"));
	said_put(s->source, sizeof(s->source),
		bytes_of(strcmp(s->step, "floor") == 0	     ? "floor"
			 : strcmp(s->step, "ask-rules") == 0 ? "rule"
							     : ""));
}

/* ---- one case ---- */

static bool expected(struct json_object *c, const struct said *s)
{
	struct json_object *list = NULL;
	bool found = false;

	json_object_object_get_ex(c, "expect", &list);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		found |= strcmp(json_object_get_string(json_object_array_get_idx(list, i)),
				 s->verdict) == 0;
	return found &&
	       (!*case_text(c, "source") || strcmp(case_text(c, "source"), s->source) == 0);
}

static unsigned wrong;

static void compare(struct json_object *c, const struct said *s, const struct said *foretold)
{
	if (!expected(c, s)) {
		wrong++;
		printf("%s\n\tgot %s %s %s %s\n", json_object_to_json_string(c), s->verdict,
			s->source, s->step, s->floor);
	}
	if (strcmp(s->verdict, foretold->verdict) != 0 ||
		strcmp(s->step, foretold->step) != 0 ||
		strcmp(s->floor, foretold->floor) != 0) {
		wrong++;
		printf("%s\n\tgot %s %s %s, explain said %s %s %s\n",
			json_object_to_json_string(c), s->verdict, s->step, s->floor,
			foretold->verdict, foretold->step, foretold->floor);
	}
}

/* The symbolic links of a case, there for as long as it runs. */
static void links_set(struct json_object *c, bool there)
{
	struct json_object *links = NULL;

	if (!json_object_object_get_ex(c, "links", &links))
		return;
	json_object_object_foreach(links, path, target)
	{
		ck_assert(sandbox_owns(path));
		if (there)
			ck_assert_int_eq(symlink(json_object_get_string(target), path), 0);
		else
			ck_assert_int_eq(unlink(path), 0);
	}
}

static void case_run(int i)
{
	struct json_object *const c = cases[i];
	struct agent *const a = agent_of(&agents, case_text(c, "workspace"));
	struct said s = {.verdict = "error"}, foretold = {.verdict = "error"};

	links_set(c, true);
	if (rules_set(c)) {
		mode_set(a, case_text(c, "mode"));
		explain(a, c, &foretold);
		agent_call(a, i, &s);
		if (*s.request) {
			prompt_read(&s);
			agent_withdraw(a);
		}
	}
	links_set(c, false);
	compare(c, &s, &foretold);
}

/* Whether its folders can be made without a trace. */
static bool case_possible(struct json_object *c)
{
	const char *const workspace = case_text(c, "workspace");

	return strcmp(case_text(c, "home"), HOME) == 0 &&
	       (!*workspace || sandbox_owns(workspace));
}

static void file_run(const char *name, unsigned skipped_most)
{
	static const char *const env[] = {"HOME=" HOME, NULL};
	unsigned skipped = 0, run = 0;
	char config[256];

	cases_load(name);
	set.text = "";
	agents = (struct agents){.broker = &b, .cases = cases};
	ck_assert_uint_gt(n_cases, 30);
	broker_init(&b);
	b.env = env;
	snprintf(config, sizeof(config), "%s/admin", b.dir);
	ck_assert_int_eq(mkdir(config, 0700), 0);
	snprintf(config, sizeof(config),
		"[rules]\nadmin-dir = %s/admin\nuser-file = %s/rules\n", b.dir, b.dir);
	broker_configure(&b, config);
	fclose(file_open("rules"));
	broker_start(&b, NULL);
	notify_open();
	sandbox_project(HOME "/proj");
	person_open();
	for (size_t i = 0; i < n_cases; i++) {
		if (!case_possible(cases[i])) {
			skipped++;
			printf("not possible here: %s\n", case_text(cases[i], "name"));
			continue;
		}
		case_run((int)i);
		run++;
	}
	printf("%s: %u cases, %u wrong, %u left out\n", name, run, wrong, skipped);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_le(skipped, skipped_most);
	agents_end(&agents);
	close(notify);
	raw_close(&person);
	broker_stop(&b);
	broker_fini(&b);
	cases_free();
}

START_TEST(handed)
{
	file_run(TEST_CASES "/verdicts.jsonl", 0);
}
END_TEST

START_TEST(of_the_floor)
{
	/* projects in /usr, /var and /root, and a home there */
	file_run(TEST_CASES "/floor.jsonl", 6);
}
END_TEST

START_TEST(bypass)
{
	file_run(TEST_CASES "/bypass.jsonl", 0);
}
END_TEST

/* What only the file system tells, so that explain --offline can't. */
START_TEST(links)
{
	file_run(TEST_CASES "/links.jsonl", 0);
}
END_TEST

START_TEST(own)
{
	file_run(TEST_CASES "/own.jsonl", 0);
}
END_TEST

static int tests_run(void)
{
	Suite *s = suite_create("cases as requests");
	TCase *t = tcase_create("cases");
	SRunner *sr;
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, handed);
	tcase_add_test(t, of_the_floor);
	tcase_add_test(t, bypass);
	tcase_add_test(t, own);
	tcase_add_test(t, links);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	char root[] = "/tmp/approvald-cases-XXXXXX";
	int status, err;
	pid_t pid;

	if (argc > 1 && strcmp(argv[1], "--inside") == 0)
		return tests_run();
	if (!mkdtemp(root))
		return EXIT_FAILURE;
	pid = fork();
	if (pid == 0) {
		err = sandbox_enter(root);
		if (err < 0) {
			printf("SKIPPED, the cases are not tested: no mount namespace: %s\n",
				strerror(-err));
			exit(EXIT_SKIPPED);
		}
		/* anew: what it was allowed in a namespace of its user is not for agents */
		execl("/proc/self/exe", argv[0], "--inside", NULL);
		exit(EXIT_FAILURE);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	rmdir(root);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
