/* SPDX-License-Identifier: MIT */
/* approvalctl floor: what is on it, and the user's own additions, with the real broker. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

static struct broker b;
static char file[128]; /* of the user */

static void file_write(const char *path, const char *text)
{
	FILE *const f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void file_is(const char *want)
{
	char text[1024] = "";
	FILE *const f = fopen(file, "r");

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	ck_assert_str_eq(text, want);
}

static void configure(const char *off)
{
	char text[512];

	snprintf(text, sizeof(text),
		"[rules]\nadmin-dir = %s/admin\nuser-file = %s/rules\n"
		"[floor]\nuser-file = %s\n%s",
		b.dir, b.dir, file, off);
	broker_configure(&b, text);
}

static void setup(void)
{
	char path[128];

	broker_init(&b);
	setenv("APPROVAL_SOCKET", b.agent, 1);
	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	snprintf(file, sizeof(file), "%s/own/floor", b.dir);
	snprintf(path, sizeof(path), "%s/admin", b.dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/admin/site.floor", b.dir);
	file_write(path, "# of the site\ntwisting command twist\n");
	ck_assert_int_eq(chmod(path, 0644), 0);
	snprintf(path, sizeof(path), "%s/rules", b.dir);
	file_write(path, "allow Bash(frob *)\nallow Bash(twist *)\n");
	ck_assert_int_eq(chmod(path, 0644), 0);
	configure("");
	broker_start(&b, NULL);
}

static void teardown(void)
{
	broker_stop(&b);
	broker_fini(&b);
}

static int ctl(const char *const *words, const char *said)
{
	struct run r;
	const int status = run_whole(&r, words);

	ck_assert_msg(strstr(r.text, said) || strstr(r.error, said), "no \"%s\" in:\n%s%s",
		said, r.text, r.error);
	run_free(&r);
	return status;
}
#define FLOOR(said, ...)                                                                       \
	ctl((const char *const[]){"floor" __VA_OPT__(, ) __VA_ARGS__, NULL}, said)

static const char *verdict_of(const char *command)
{
	static char verdict[16];
	const pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct wire_frame reply;
		struct wire_open m, i;
		struct wire_buffer *out;
		struct raw r;

		raw_connect(&r, b.agent);
		ck_assert(!raw_hello_agent(&r, command).error.data);
		out = raw_call(&r, "check");
		wire_map_open(&m, out);
		wire_map_strz(&m, "tool", "Bash");
		wire_map_key(&m, "input");
		wire_map_open(&i, out);
		wire_map_strz(&i, "command", command);
		wire_close(&i);
		wire_close(&m);
		reply = raw_reply(&r, raw_send(&r));
		ck_assert(!reply.error.data);
		_exit(bytes_is(raw_text(reply.result, "verdict"), "allow") ? 0 : 10);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	snprintf(verdict, sizeof(verdict), "%s", WEXITSTATUS(status) == 0 ? "allow" : "ask");
	return verdict;
}

/* The item of that name (and file), as --json has it; to be put. */
static struct json_object *entry(const char *name, const char *from)
{
	struct json_object *found = NULL;
	char *line, *rest;
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "floor", "list", "--json"), 0);
	rest = r.text;
	while ((line = strsep(&rest, "\n")) && *line) {
		struct json_object *const j = json_tokener_parse(line);

		ck_assert_ptr_nonnull(j);
		if (strcmp(json_text(j, "name"), name) == 0 &&
			strcmp(json_text(j, "from"), from) == 0) {
			json_object_put(found);
			found = j;
		} else {
			json_object_put(j);
		}
	}
	run_free(&r);
	return found;
}

static bool flag(struct json_object *j, const char *key)
{
	struct json_object *v;

	ck_assert(json_object_object_get_ex(j, key, &v));
	return json_object_get_boolean(v);
}

static void expect(const char *name, const char *from, const char *guards, bool off, bool fixed)
{
	struct json_object *const j = entry(name, from);

	ck_assert_msg(j != NULL, "no %s of %s", name, from);
	ck_assert_str_eq(json_text(j, "guards"), guards);
	ck_assert_int_eq(flag(j, "off"), off);
	ck_assert_int_eq(flag(j, "fixed"), fixed);
	json_object_put(j);
}

START_TEST(listed)
{
	struct json_object *j;

	ck_assert_int_eq(FLOOR("keys and settings of ssh"), 0);
	ck_assert_int_eq(FLOOR("admin/site.floor:2", "list"), 0);
	expect("ssh", "shipped", "all", false, false);
	expect("deploy", "shipped", "write,run", false, false);
	expect("force-push", "shipped", "command", false, false);
	expect("unread", "shipped", "command", false, true);
	expect("twisting", "admin", "command", false, true);
	j = entry("twisting", "admin");
	ck_assert_str_eq(json_text(j, "pattern"), "twist");
	json_object_put(j);
	ck_assert_int_eq(FLOOR("list takes no operands", "list", "x"), 2);
	ck_assert_int_eq(FLOOR("list, add or remove", "frob"), 2);
	/* what is switched off stays to be seen */
	configure("off = ssh\n");
	ck_assert_int_eq(FLOOR("added", "add", "ssh", "read", "~/keys/**"), 0);
	expect("ssh", "shipped", "all", true, false);
	expect("ssh", "user", "read", true, false);
}
END_TEST

START_TEST(added)
{
	struct stat st;

	/* the folder is made, too */
	ck_assert_str_eq(verdict_of("frob x"), "allow");
	ck_assert_int_eq(FLOOR("own/floor: added: frobbing command frob", "add", "frobbing",
				 "command", "frob"),
		0);
	file_is("frobbing command frob\n");
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_str_eq(verdict_of("frob x"), "ask");
	expect("frobbing", "user", "command", false, false);
	ck_assert_int_eq(FLOOR("was there", "add", "frobbing", "command", "frob"), 0);
	file_is("frobbing command frob\n");
	ck_assert_int_eq(FLOOR("added", "add", "frobbing", "read,write", "*.frob"), 0);
	ck_assert_int_eq(FLOOR("added", "add", "infra", "command", "terraform", "destroy"), 0);
	file_is("frobbing command frob\nfrobbing read,write *.frob\ninfra command terraform "
		"destroy\n");
	/* one's own alone can be removed */
	ck_assert_int_eq(FLOOR("there is no entry 'twisting'", "remove", "twisting"), 1);
	ck_assert_int_eq(FLOOR("there is no entry 'ssh'", "remove", "ssh"), 1);
	ck_assert_int_eq(FLOOR("removed: frobbing", "remove", "frobbing"), 0);
	file_is("infra command terraform destroy\n");
	ck_assert_str_eq(verdict_of("frob x"), "allow");
	ck_assert_str_eq(verdict_of("twist x"), "ask");
}
END_TEST

/* What would not be read is not written, and what was written otherwise stays. */
/* Whoever adds at the same moment takes nothing from the others. */
START_TEST(added_at_once)
{
	struct run runs[12], r;
	char name[16];
	unsigned n = 0;

	for (unsigned i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "entry-%u", i);
		RUN(&runs[i], "floor", "add", name, "command", "frob");
	}
	for (unsigned i = 0; i < 12; i++) {
		run_close_in(&runs[i]);
		ck_assert_int_eq(run_wait(&runs[i]), 0);
		run_free(&runs[i]);
	}
	ck_assert_int_eq(RUN_WHOLE(&r, "floor", "list", "--json"), 0);
	for (const char *at = r.text; (at = strstr(at, "\"entry-")); at++)
		n++;
	ck_assert_uint_eq(n, 12);
	run_free(&r);
}
END_TEST

START_TEST(refused)
{
	static const char before[] = "# mine\n\nfrobbing command frob";
	static const char *const wrong[][4] = {
		{"a.b", "all", "*.x", "a name is made of"},
		{"unread", "all", "*.x", "this name is taken"},
		{"x", "everything", "*.x", "not all, command"},
		{"x", "read,", "*.x", "not all, command"},
		{"x", "all", "*", "on every path"},
		{"x", "all", "../y", "lead upwards"},
		{"x", "all", "a[", "bracket"},
		{"x", "command", "rm $x", "plain words"},
		{"x", "all", "y\nz all *.z", "line feed"},
		{"#x", "all", "*.y", "says nothing"},
	};
	struct stat st;
	char path[160];

	snprintf(path, sizeof(path), "%s/own", b.dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	file_write(file, before);
	ck_assert_int_eq(chmod(file, 0644), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_int_eq(
			FLOOR(wrong[i][3], "add", wrong[i][0], wrong[i][1], wrong[i][2]), 65);
	ck_assert_int_eq(FLOOR("add takes", "add", "x", "all"), 2);
	file_is(before);
	/* the last line had no end */
	ck_assert_int_eq(FLOOR("added", "add", "x", "all", "*.x"), 0);
	file_is("# mine\n\nfrobbing command frob\nx all *.x\n");
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0644);
	/* somebody else's mistake in it */
	file_write(file, "good all *.g\nbad\n");
	ck_assert_int_eq(FLOOR("floor:2: column 4:", "add", "x", "all", "*.x"), 65);
	ck_assert_int_eq(FLOOR("floor:2: column 4:", "remove", "good"), 65);
	file_is("good all *.g\nbad\n");
	expect("frobbing", "user", "command", false, false);
	ck_assert_int_eq(FLOOR("floor:2: column 4:", "remove", "bad"), 65);
}
END_TEST

/* A file that is kept elsewhere stays a link. */
START_TEST(linked)
{
	char path[160], target[192];
	struct stat st;

	snprintf(path, sizeof(path), "%s/own", b.dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(target, sizeof(target), "%s/kept", path);
	file_write(target, "x all *.x\n");
	ck_assert_int_eq(chmod(target, 0644), 0);
	ck_assert_int_eq(symlink("kept", file), 0);
	ck_assert_int_eq(FLOOR("added", "add", "y", "all", "*.y"), 0);
	file_is("x all *.x\ny all *.y\n");
	ck_assert_int_eq(lstat(file, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

static struct wire_frame call(struct raw *f, const char *method)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(f, method));
	wire_close(&m);
	return raw_reply(f, raw_send(f));
}

/* The broker reads again for people alone, and tells when it can't. */
START_TEST(reloaded)
{
	struct raw f;

	raw_connect(&f, b.frontend);
	ck_assert(!raw_hello_frontend(&f, "observer").error.data);
	ck_assert(bytes_is(raw_text(call(&f, "reload").error, "code"), "forbidden"));
	raw_close(&f);
	raw_connect(&f, b.frontend);
	ck_assert(!raw_hello_frontend(&f, "human").error.data);
	ck_assert(!call(&f, "reload").error.data);
	configure("off = no-such-entry\n");
	ck_assert(bytes_is(raw_text(call(&f, "reload").error, "code"), "invalid"));
	ck_assert_int_eq(FLOOR("is no entry of the floor", "add", "x", "all", "*.x"), 1);
	configure("off = delete\n");
	ck_assert(!call(&f, "reload").error.data);
	expect("delete", "shipped", "command", true, false);
	expect("x", "user", "all", false, false);
	raw_close(&f);
}
END_TEST

START_TEST(pages)
{
	struct raw f;
	struct raw_pages list = {.r = &f, .method = "floor_list", .limit = 7};
	unsigned n = 0, all = 0;
	struct bytes page, item;
	struct wire_iter it;
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "floor", "--json"), 0);
	for (const char *p = r.text; (p = strchr(p, '\n')); p++)
		all++;
	run_free(&r);
	raw_connect(&f, b.frontend);
	ck_assert(!raw_hello_frontend(&f, "observer").error.data);
	while (raw_pages_next(&list, &page, &it)) {
		ck_assert_uint_le(list.len, 16);
		while (wire_array_next(&it, &item))
			n++;
		ck_assert(bytes_is(raw_text(page, "user_file"), file));
	}
	ck_assert_uint_eq(n, all);
	ck_assert_uint_gt(n, 30);
	raw_close(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("floor list");
	TCase *tc = tcase_create("floor list");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, listed);
	tcase_add_test(tc, added);
	tcase_add_test(tc, added_at_once);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, linked);
	tcase_add_test(tc, reloaded);
	tcase_add_test(tc, pages);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
