/* SPDX-License-Identifier: MIT */
/* Rules that a project brings along, with the real broker: they tighten, until somebody trusts.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/limits.h"
#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

static struct broker b;
static char project[96], rules[160];

static void file_write(const char *path, const char *text)
{
	FILE *const f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fchmod(fileno(f), 0600), 0);
	fclose(f);
}

static void user_rules(const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/rules", b.dir);
	file_write(path, text);
}

static void setup(void)
{
	char text[256];

	broker_init(&b);
	setenv("APPROVAL_SOCKET", b.agent, 1);
	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	snprintf(text, sizeof(text), "[rules]\nuser-file = %s/rules\n", b.dir);
	broker_configure(&b, text);
	snprintf(project, sizeof(project), "%s/p", b.dir);
	ck_assert_int_eq(mkdir(project, 0700), 0);
	snprintf(text, sizeof(text), "%s/.git", project);
	ck_assert_int_eq(mkdir(text, 0700), 0);
	snprintf(text, sizeof(text), "%s/sub", project);
	ck_assert_int_eq(mkdir(text, 0700), 0);
	snprintf(text, sizeof(text), "%s/.approvald", project);
	ck_assert_int_eq(mkdir(text, 0700), 0);
	snprintf(rules, sizeof(rules), "%s/.approvald/rules", project);
	broker_start(&b, NULL);
}

static void teardown(void)
{
	broker_stop(&b);
	broker_fini(&b);
}

/* ---- agents ---- */

static void agent_ask(struct raw *r, const char *command, char verdict[16])
{
	struct wire_frame reply;
	struct wire_open m, i;
	struct wire_buffer *out = raw_call(r, "check");
	struct bytes got;

	wire_map_open(&m, out);
	wire_map_strz(&m, "tool", "Bash");
	wire_map_key(&m, "input");
	wire_map_open(&i, out);
	wire_map_strz(&i, "command", command);
	wire_close(&i);
	wire_close(&m);
	reply = raw_reply(r, raw_send(r));
	ck_assert_msg(!reply.error.data, "%s: an error", command);
	got = raw_text(reply.result, "verdict");
	snprintf(verdict, 16, "%.*s", (int)got.len, (const char *)got.data);
}

struct question {
	const char *folder, *root; /* root NULL: the test's own */
	const char *command, *want;
};

static void ask_body(const struct question *q)
{
	char verdict[16];
	struct raw r;

	raw_connect(&r, b.agent);
	if (q->root)
		ck_assert_int_eq(chroot(q->root), 0);
	ck_assert_int_eq(chdir(q->folder), 0);
	ck_assert(!raw_hello_agent(&r, q->command).error.data);
	agent_ask(&r, q->command, verdict);
	ck_assert_msg(!q->want || strcmp(verdict, q->want) == 0, "%s: %s instead of %s",
		q->command, verdict, q->want);
	raw_close(&r);
}

static void ask(const struct question *q)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		ask_body(q);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s failed", q->command);
}

#define EXPECT(command, want) ask(&(struct question){project, NULL, command, want})

/* An agent whose session lives in a project; want NULL: whatever it is told. */
static pid_t stay_in(const char *folder, const char *command, const char *want)
{
	pid_t pid;
	int up[2];
	char c;

	ck_assert_int_eq(pipe(up), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		char verdict[16];
		struct raw r;

		raw_connect(&r, b.agent);
		ck_assert_int_eq(chdir(folder), 0);
		ck_assert(!raw_hello_agent(&r, folder).error.data);
		agent_ask(&r, command, verdict);
		ck_assert_msg(!want || strcmp(verdict, want) == 0, "%s: %s instead of %s",
			folder, verdict, want);
		ck_assert_int_eq(write(up[1], "c", 1), 1);
		for (;;)
			pause();
	}
	close(up[1]);
	ck_assert_msg(read(up[0], &c, 1) == 1, "%s: %s", folder, command);
	close(up[0]);
	return pid;
}

static pid_t stayer;

static void stay_begin(void)
{
	stayer = stay_in(project, "anything", NULL);
}

static void stay_end(void)
{
	ck_assert_int_eq(kill(stayer, SIGKILL), 0);
	ck_assert_int_eq(waitpid(stayer, NULL, 0), stayer);
}

/* ---- people ---- */

static int trust(const char *const *words, const char *said)
{
	struct run r;
	int status = run_whole(&r, words);

	ck_assert_msg(strstr(r.text, said) || strstr(r.error, said), "no \"%s\" in:\n%s%s",
		said, r.text, r.error);
	run_free(&r);
	return status;
}
#define TRUST(said, ...) trust((const char *const[]){"rules", "trust", __VA_ARGS__, NULL}, said)

/* As the file is now. */
static void hash_of(char hash[65])
{
	struct json_object *j;
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "trust", "--yes", "--json", project), 0);
	j = json_tokener_parse(r.text);
	snprintf(hash, 65, "%s", json_text(j, "hash"));
	ck_assert_uint_eq(strlen(hash), 64);
	ck_assert_str_eq(json_text(j, "state"), "trusted");
	json_object_put(j);
	run_free(&r);
}

static void listed(const char *said)
{
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "list"), 0);
	ck_assert_msg(strstr(r.text, said) || strstr(r.error, said), "no \"%s\" in:\n%s%s",
		said, r.text, r.error);
	run_free(&r);
}

static void doctored(const char *said)
{
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "doctor"), 1);
	ck_assert_msg(strstr(r.text, said), "no \"%s\" in:\n%s", said, r.text);
	run_free(&r);
}

#define TEXT "allow Bash(frob *)\ndeny Bash(frob --hard *)\nask Bash(twist)\n"

START_TEST(tighten_only)
{
	file_write(rules, TEXT);
	user_rules("allow Bash(twist)\nallow Bash(other)\n");
	broker_reload(&b);
	EXPECT("frob x", "ask");
	EXPECT("frob --hard x", "deny");
	EXPECT("twist", "ask");
	EXPECT("other", "allow");
	listed("inert: project not trusted");
	/* below it, too; and not elsewhere */
	ask(&(struct question){b.dir, NULL, "frob --hard x", "ask"});
	ask(&(struct question){b.dir, NULL, "twist", "allow"});
	snprintf(rules, sizeof(rules), "%s/sub", project);
	if (!broker_valgrind()) /* without openat2 no .git is found */
		ask(&(struct question){rules, NULL, "frob --hard x", "deny"});
}
END_TEST

START_TEST(trusted)
{
	char hash[65], other[65];

	file_write(rules, TEXT);
	user_rules("");
	EXPECT("frob x", "ask");
	/* the hash that was seen has to be that of the file */
	memset(other, 'a', 64);
	other[64] = '\0';
	ck_assert_int_eq(TRUST("not the file with this hash", "--hash", other, project), 1);
	EXPECT("frob x", "ask");
	hash_of(hash);
	EXPECT("frob x", "allow");
	EXPECT("frob --hard x", "deny");
	EXPECT("twist", "ask");
	ck_assert_int_eq(TRUST("trusted", "--list"), 0);
	/* it outlives a restart, and a reload */
	broker_stop(&b);
	broker_start(&b, NULL);
	EXPECT("frob x", "allow");
	broker_reload(&b);
	EXPECT("frob x", "allow");
	EXPECT("frob --hard x", "deny");
	/* a changed file is not trusted; what it had tightened it may loosen */
	file_write(rules, "allow Bash(frob *)\n");
	broker_reload(&b);
	EXPECT("frob x", "ask");
	EXPECT("frob --hard x", "ask");
	ck_assert_int_eq(TRUST("changed", "--list"), 0);
	ck_assert_int_eq(TRUST("not the file with this hash", "--hash", hash, project), 1);
	/* the one that was trusted comes back */
	file_write(rules, TEXT);
	broker_reload(&b);
	EXPECT("frob x", "allow");
	ck_assert_int_eq(TRUST("", "--remove", project), 0);
	EXPECT("frob x", "ask");
	EXPECT("frob --hard x", "deny");
	ck_assert_int_eq(TRUST("was not trusted", "--remove", project), 1);
	ck_assert_int_eq(TRUST("deny Bash(frob --hard *)", "--hash", hash, project), 0);
	EXPECT("frob x", "allow");
	ck_assert_int_eq(unlink(rules), 0);
	broker_reload(&b);
	EXPECT("frob x", "ask");
	EXPECT("frob --hard x", "ask");
	ck_assert_int_eq(TRUST("missing", "--list"), 0);
	/* who did what is on record */
	ck_assert_int_eq(
		trust((const char *const[]){"history", "--event", "project_untrusted", NULL},
			project),
		0);
	ck_assert_int_eq(trust((const char *const[]){"history", "--event", "project_trusted",
				       "--json", NULL},
				 hash),
		0);
}
END_TEST

/* Nobody has to say so: whoever calls a second later is judged by the file as it is then. */
START_TEST(noticed)
{
	char verdict[16] = "";
	struct raw r;
	pid_t pid;
	int status;

	user_rules("");
	file_write(rules, "deny Bash(frob)\n");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		raw_connect(&r, b.agent);
		ck_assert_int_eq(chdir(project), 0);
		ck_assert(!raw_hello_agent(&r, "x").error.data);
		agent_ask(&r, "frob", verdict);
		ck_assert_str_eq(verdict, "deny");
		file_write(rules, "deny Bash(twist)\n");
		/* the harness ends a test that never comes to its end */
		while (strcmp(verdict, "ask") != 0)
			agent_ask(&r, "frob", verdict);
		agent_ask(&r, "twist", verdict);
		ck_assert_str_eq(verdict, "deny");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* Of how many rules there may be, comments and blank lines take nothing. */
START_TEST(comments_are_free)
{
	pid_t agents[LIMIT_PROJECTS_RULES / LIMIT_PROJECT_LINES + 1];
	char folder[128], path[160];
	FILE *f;

	user_rules("");
	for (size_t i = 0; i < sizeof(agents) / sizeof(*agents); i++) {
		snprintf(folder, sizeof(folder), "%s/p%zu", b.dir, i);
		ck_assert_int_eq(mkdir(folder, 0700), 0);
		snprintf(path, sizeof(path), "%s/.git", folder);
		ck_assert_int_eq(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/.approvald", folder);
		ck_assert_int_eq(mkdir(path, 0700), 0);
		strcat(path, "/rules");
		f = fopen(path, "w");
		ck_assert_ptr_nonnull(f);
		for (unsigned n = 2; n < LIMIT_PROJECT_LINES; n++)
			fputs(n % 2 ? "\t# no rule\n" : " \n", f);
		fputs("deny Bash(frob)\n", f);
		ck_assert_int_eq(fchmod(fileno(f), 0600), 0);
		fclose(f);
		agents[i] = stay_in(folder, "frob", "deny");
	}
	for (size_t i = 0; i < sizeof(agents) / sizeof(*agents); i++) {
		ck_assert_int_eq(kill(agents[i], SIGKILL), 0);
		ck_assert_int_eq(waitpid(agents[i], NULL, 0), agents[i]);
	}
}
END_TEST

/* What a person confirms at a terminal is shown whole, and nothing of it reaches the terminal.
 */
START_TEST(confirmed)
{
	struct run r;

	user_rules("");
	file_write(rules, "# \033[2J\nallow Bash(git *)\n");
	run_start_tty(&r, (const char *const[]){"rules", "trust", project, NULL});
	run_until(&r, "Type yes");
	ck_assert_ptr_null(strstr(r.text, "\033[2J"));
	ck_assert_ptr_nonnull(strstr(r.text, "allow Bash(git *)"));
	ck_assert_ptr_nonnull(strstr(r.text, "warning: line 2: allow Bash(git *)"));
	run_write(&r, "y\n");
	ck_assert_int_eq(run_wait(&r), 1);
	run_free(&r);
	EXPECT("git fetch", "ask");
	run_start_tty(&r, (const char *const[]){"rules", "trust", project, NULL});
	run_until(&r, "Type yes");
	run_write(&r, "yes\n");
	ck_assert_int_eq(run_wait(&r), 0);
	run_free(&r);
	EXPECT("git fetch", "allow");
	/* without a terminal it wants to be told */
	ck_assert_int_eq(TRUST("nobody can confirm", project), 2);
}
END_TEST

/* ---- files that can't be used ---- */

static void make_fifo(void)
{
	ck_assert_int_eq(mkfifo(rules, 0600), 0);
}

static void make_folder(void)
{
	ck_assert_int_eq(mkdir(rules, 0700), 0);
}

static void make_link(void)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/elsewhere", project);
	file_write(path, "allow Bash(frob *)\n");
	ck_assert_int_eq(symlink(path, rules), 0);
}

static void make_large(void)
{
	FILE *const f = fopen(rules, "w");

	ck_assert_ptr_nonnull(f);
	for (unsigned i = 0; i <= LIMIT_PROJECT_FILE; i++)
		fputc('#', f);
	fclose(f);
}

static void make_long(void)
{
	FILE *const f = fopen(rules, "w");

	ck_assert_ptr_nonnull(f);
	for (unsigned i = 0; i <= LIMIT_PROJECT_LINES; i++)
		fputs("#\n", f);
	fclose(f);
}

static void make_wrong(void)
{
	file_write(rules, "deny Bash(frob)\nalow Bash(x)\n");
}

static const struct {
	void (*make)(void);
	const char *problem;
} bad[] = {
	{make_fifo, "no regular file"},
	{make_folder, "no regular file"},
	{make_link, "symbolic link"},
	{make_large, "too large"},
	{make_long, "too many lines"},
	{make_wrong, "rules:2:1:"},
};

static void clear(void)
{
	ck_assert_int_eq(remove(rules), 0);
}

/* Nobody knows what it denies: whatever would be allowed is asked. */
START_TEST(nothing_known)
{
	user_rules("allow Bash(other)\n");
	broker_reload(&b);
	EXPECT("other", "allow");
	bad[_i].make();
	broker_stop(&b);
	broker_start(&b, NULL);
	EXPECT("other", "ask");
	EXPECT("ls", "ask");
	listed(bad[_i].problem);
	ck_assert_int_ne(TRUST(bad[_i].problem, "--yes", project), 0);
	doctored(bad[_i].problem);
	clear();
	broker_reload(&b);
	EXPECT("other", "allow");
}
END_TEST

/* What was in force stays, but for what it allowed. */
START_TEST(old_set_stays)
{
	char hash[65];

	user_rules("allow Bash(other)\n");
	broker_reload(&b);
	file_write(rules, TEXT);
	hash_of(hash);
	EXPECT("frob x", "allow");
	stay_begin();
	clear();
	bad[_i].make();
	broker_reload(&b);
	EXPECT("frob x", "ask");
	EXPECT("frob --hard x", "deny");
	EXPECT("twist", "ask");
	EXPECT("other", "allow");
	listed(bad[_i].problem);
	broker_reload(&b);
	EXPECT("frob --hard x", "deny");
	clear();
	file_write(rules, TEXT);
	broker_reload(&b);
	EXPECT("frob x", "allow");
	stay_end();
}
END_TEST

START_TEST(folder_is_link)
{
	char path[160];

	user_rules("allow Bash(other)\n");
	snprintf(path, sizeof(path), "%s/.approvald", project);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(symlink("sub", path), 0);
	broker_reload(&b);
	EXPECT("other", "ask");
	listed("a link, or no folder, on the way to it");
}
END_TEST

/* An agent shows a root of its own, without the rules: they are not gone for the others. */
START_TEST(other_root)
{
	char root[128], folder[256], part[256];

	if (geteuid() != 0)
		return;
	file_write(rules, TEXT);
	user_rules("");
	EXPECT("frob --hard x", "deny");
	snprintf(root, sizeof(root), "%s/root", b.dir);
	ck_assert_int_eq(mkdir(root, 0700), 0);
	snprintf(folder, sizeof(folder), "%s%s", root, project);
	for (char *p = folder + strlen(root) + 1;; p++) {
		if (*p && *p != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)(p - folder), folder);
		ck_assert_int_eq(mkdir(part, 0700), 0);
		if (!*p)
			break;
	}
	ask(&(struct question){project, root, "frob --hard x", "deny"});
	EXPECT("frob --hard x", "deny");
}
END_TEST

/* ---- who may ---- */

static struct bytes call_trust(struct raw *f, const char *path, const char *hash, bool yes)
{
	struct wire_frame reply;
	struct wire_open m;

	wire_map_open(&m, raw_call(f, "rules_trust"));
	wire_map_strz(&m, "project", path);
	if (hash)
		wire_map_strz(&m, "hash", hash);
	wire_map_bool(&m, "trust", yes);
	wire_close(&m);
	reply = raw_reply(f, raw_send(f));
	return raw_text(reply.error, "code");
}

START_TEST(only_people)
{
	static const char *const roles[] = {"policy", "observer"};
	static const char *const wrong[] = {
		"", "relative", "/a/../b", "/a/", "/a//b", "/a/.", "/"};
	char hash[65];
	struct raw f;

	user_rules("");
	file_write(rules, TEXT);
	hash_of(hash);
	for (int i = 0; i < 2; i++) {
		raw_connect(&f, b.frontend);
		ck_assert(!raw_hello_frontend(&f, roles[i]).error.data);
		ck_assert(bytes_is(call_trust(&f, project, hash, true), "forbidden"));
		ck_assert(bytes_is(call_trust(&f, project, NULL, false), "forbidden"));
		raw_close(&f);
	}
	raw_connect(&f, b.frontend);
	ck_assert(!raw_hello_frontend(&f, "human").error.data);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert(bytes_is(call_trust(&f, wrong[i], hash, true), "invalid"));
	/* a hash that was never seen, and none at all */
	ck_assert(bytes_is(call_trust(&f, project, NULL, true), "mismatch"));
	hash[0] = hash[0] == '0' ? '1' : '0';
	ck_assert(bytes_is(call_trust(&f, project, hash, true), "mismatch"));
	ck_assert(bytes_is(call_trust(&f, b.dir, hash, true), "not_found"));
	raw_close(&f);
	EXPECT("frob x", "allow");
}
END_TEST

/* SQLite's lock of the one writer: a byte of the index of the write-ahead log. */
static void lock(int fd, short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = 120, .l_len = 1};

	ck_assert_int_eq(fcntl(fd, F_SETLKW, &l), 0);
}

/* What is not recorded is not so: neither trust, nor its end. */
START_TEST(not_recorded)
{
	char hash[65], path[160];
	struct raw f;
	int fd;

	user_rules("");
	file_write(rules, TEXT);
	hash_of(hash);
	ck_assert_int_eq(TRUST("", "--remove", project), 0);
	EXPECT("frob x", "ask");
	raw_connect(&f, b.frontend);
	ck_assert(!raw_hello_frontend(&f, "human").error.data);
	snprintf(path, sizeof(path), "%s/state/history.db-shm", b.dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	for (int yes = 1; yes >= 0; yes--) {
		lock(fd, F_WRLCK);
		ck_assert(bytes_is(call_trust(&f, project, hash, yes), "store"));
		lock(fd, F_UNLCK);
		ck_assert_int_eq(
			TRUST(yes ? "\"state\":\"untrusted\"" : "\"state\":\"trusted\"",
				"--list", "--json"),
			0);
		/* it is tried again every second */
		while (call_trust(&f, project, hash, yes).data)
			;
		EXPECT("frob x", yes ? "allow" : "ask");
	}
	close(fd);
	raw_close(&f);
}
END_TEST

/* Rules go with the last session of their project. */
START_TEST(unloaded)
{
	struct run r;

	user_rules("");
	file_write(rules, TEXT);
	EXPECT("frob --hard x", "deny");
	/* as soon as the agent's end was noticed */
	for (bool gone = false; !gone;) {
		broker_reload(&b);
		ck_assert_int_eq(RUN_WHOLE(&r, "rules", "list"), 0);
		gone = !*r.text;
		run_free(&r);
	}
	EXPECT("frob --hard x", "deny");
	/* another one of the project keeps them */
	stay_begin();
	broker_reload(&b);
	listed("deny Bash(frob --hard *)");
	stay_end();
}
END_TEST

/* A page of one at a time gives all that a large one does. */
START_TEST(pages)
{
	struct raw f;
	struct raw_pages list = {.r = &f, .method = "rules_projects", .limit = 1};
	struct bytes page, item;
	struct wire_iter it;
	unsigned n = 0;
	char hash[65];

	user_rules("");
	for (int i = 0; i < 5; i++) {
		char folder[128];

		snprintf(project, sizeof(project), "%s/p%d", b.dir, i);
		ck_assert_int_eq(mkdir(project, 0700), 0);
		snprintf(folder, sizeof(folder), "%s/.approvald", project);
		ck_assert_int_eq(mkdir(folder, 0700), 0);
		snprintf(rules, sizeof(rules), "%s/rules", folder);
		file_write(rules, TEXT);
		if (i % 2)
			hash_of(hash);
		if (i != 1)
			EXPECT("frob --hard x", "deny");
	}
	raw_connect(&f, b.frontend);
	ck_assert(!raw_hello_frontend(&f, "observer").error.data);
	while (raw_pages_next(&list, &page, &it))
		while (wire_array_next(&it, &item)) {
			char want[128];

			snprintf(want, sizeof(want), "%s/p%u", b.dir, n);
			ck_assert(bytes_is(raw_text(item, "project"), want));
			ck_assert(bytes_is(raw_text(item, "state"), n == 1  ? "unread"
								    : n % 2 ? "trusted"
									    : "untrusted"));
			n++;
		}
	ck_assert_uint_eq(n, 5);
	raw_close(&f);
}
END_TEST

int main(void)
{
	const int n_bad = (int)(sizeof(bad) / sizeof(bad[0]));
	Suite *s = suite_create("trust");
	TCase *tc = tcase_create("trust");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, tighten_only);
	tcase_add_test(tc, trusted);
	tcase_add_test(tc, noticed);
	tcase_add_test(tc, comments_are_free);
	tcase_add_test(tc, confirmed);
	tcase_add_loop_test(tc, nothing_known, 0, n_bad);
	tcase_add_loop_test(tc, old_set_stays, 0, n_bad);
	tcase_add_test(tc, folder_is_link);
	tcase_add_test(tc, other_root);
	tcase_add_test(tc, only_people);
	tcase_add_test(tc, not_recorded);
	tcase_add_test(tc, unloaded);
	tcase_add_test(tc, pages);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
