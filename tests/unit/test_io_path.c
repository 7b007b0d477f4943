/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "broker/io/path.h"
#include "broker/io/workspace.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

static char *dir;
static char top[PATH_MAX];
static int root, fds_before;

static void setup(void)
{
	fds_before = fd_count();
	dir = folder_make();
	ck_assert_ptr_nonnull(realpath(dir, top));
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void teardown(void)
{
	close(root);
	folder_remove(dir);
	ck_assert_int_eq(fd_count(), fds_before);
}

static void dir_make(const char *name)
{
	ck_assert_int_eq(mkdir(below(dir, name), 0755), 0);
}

static void link_make(const char *target, const char *name)
{
	ck_assert_int_eq(symlink(target, below(dir, name)), 0);
}

static void lexical_is(const char *path, const char *cwd, const char *home, const char *want)
{
	char *got;

	ck_assert_int_eq(path_lexical(bytes_of(path), cwd, home, &got), 0);
	if (want)
		ck_assert_str_eq(got, want);
	else
		ck_assert_ptr_null(got);
	free(got);
}

START_TEST(lexical)
{
	char *got, *longest = malloc(LIMIT_TEXT + 2);

	lexical_is("/", NULL, NULL, "/");
	lexical_is("/a//b/./c/", NULL, NULL, "/a/b/c");
	lexical_is("/a/../b", NULL, NULL, "/b");
	lexical_is("/../../a", NULL, NULL, "/a");
	lexical_is("/a/..", NULL, NULL, "/");
	lexical_is("/a/b/../../..", NULL, NULL, "/");
	lexical_is("/...", NULL, NULL, "/...");
	lexical_is("/..a/.b", NULL, NULL, "/..a/.b");
	lexical_is("x", "/w", NULL, "/w/x");
	lexical_is("../x", "/w/v", NULL, "/w/x");
	lexical_is(".", "/w", NULL, "/w");
	lexical_is("x", "/", NULL, "/x");
	lexical_is("~", "/w", "/home/u", "/home/u");
	lexical_is("~/x", "/w", "/home/u", "/home/u/x");
	lexical_is("~/../x", "/w", "/home/u", "/home/x");
	lexical_is("a/~", "/w", "/home/u", "/w/a/~");
	lexical_is("./~", "/w", "/home/u", "/w/~");
	/* what can't be known */
	lexical_is("~root/x", "/w", "/home/u", NULL);
	lexical_is("~/x", "/w", NULL, NULL);
	lexical_is("x", NULL, "/home/u", NULL);
	lexical_is("x", "relative", NULL, NULL);
	lexical_is("", "/w", "/home/u", NULL);
	ck_assert_int_eq(path_lexical((struct bytes){"/a\0b", 4}, "/w", NULL, &got), 0);
	ck_assert_ptr_null(got);
	memset(longest, 'a', LIMIT_TEXT + 1);
	longest[0] = '/';
	ck_assert_int_eq(
		path_lexical((struct bytes){longest, LIMIT_TEXT + 1}, NULL, NULL, &got), 0);
	ck_assert_ptr_null(got);
	ck_assert_int_eq(
		path_lexical((struct bytes){longest, LIMIT_TEXT}, NULL, NULL, &got), 0);
	ck_assert_uint_eq(strlen(got), LIMIT_TEXT);
	free(got);
	free(longest);
}
END_TEST

START_TEST(components)
{
	ck_assert(path_inside("/a/b", "/a/b"));
	ck_assert(path_inside("/a/b", "/a/b/c"));
	ck_assert(!path_inside("/a/b", "/a/bc"));
	ck_assert(!path_inside("/a/b", "/a"));
	ck_assert(!path_inside("/a/b", "/"));
	ck_assert(path_inside("/", "/a"));
	ck_assert(path_inside("/", "/"));
	ck_assert(!path_inside("", "/a"));
	ck_assert_str_eq(path_below("/a", "/a/b/c"), "/b/c");
	ck_assert_str_eq(path_below("/a", "/a"), "/");
	ck_assert_str_eq(path_below("/", "/a"), "/a");
}
END_TEST

static void resolved_is(const char *path, const char *want)
{
	char *got;

	ck_assert_int_eq(path_resolve(root, path, false, &got), 0);
	if (want)
		ck_assert_msg(got && strcmp(got, want) == 0, "%s: %s, not %s", path, got, want);
	else
		ck_assert_msg(!got, "%s: %s", path, got);
	free(got);
}

#define IN(name)  below(dir, name)
#define TOP(name) below(top, name)

START_TEST(links)
{
	dir_make("d");
	dir_make("d/e");
	file_write(IN("d/f"), "");
	link_make("d", "l");
	link_make("d/e", "le");
	link_make(IN("d/f"), "abs");
	link_make("loop2", "loop1");
	link_make("loop1", "loop2");
	link_make("/", "rootlink");
	resolved_is(IN("d/f"), TOP("d/f"));
	resolved_is(IN("l/f"), TOP("d/f"));
	resolved_is(IN("abs"), TOP("d/f"));
	/* ".." is that of the folder that the link leads to */
	resolved_is(IN("le/../f"), TOP("d/f"));
	resolved_is(IN("./d//e/."), TOP("d/e"));
	resolved_is(IN("loop1"), NULL);
	resolved_is(IN("loop1/x"), NULL);
	resolved_is(IN("rootlink"), "/");
	resolved_is("/", "/");
	resolved_is("/..", "/");
	resolved_is(IN("d/f/x"), NULL);
	resolved_is(IN("d/f/.."), NULL);
}
END_TEST

START_TEST(missing)
{
	char deep[PATH_MAX];

	dir_make("d");
	dir_make("d/e");
	dir_make("secret");
	link_make("d", "l");
	link_make("secret/new", "dangling");
	link_make("../secret/deep/er", "d/dangling");
	link_make("dangling", "twice");
	link_make("nowhere1", "nowhere2");
	link_make("nowhere2", "nowhere1");
	resolved_is(IN("new"), TOP("new"));
	resolved_is(IN("l/new/er/"), TOP("d/new/er"));
	resolved_is(IN("l/new/../x"), TOP("d/x"));
	resolved_is(IN("new/../../../../../../../x"), "/x");
	/* behind what is missing, links are links again */
	resolved_is(IN("new/../l/x"), TOP("d/x"));
	resolved_is(IN("new/er/../../l/../x"), TOP("x"));
	/* writing to it writes where the link points */
	resolved_is(IN("dangling"), TOP("secret/new"));
	resolved_is(IN("dangling/x"), TOP("secret/new/x"));
	resolved_is(IN("l/dangling"), TOP("secret/deep/er"));
	resolved_is(IN("l/dangling/../../y"), TOP("secret/y"));
	resolved_is(IN("twice"), TOP("secret/new"));
	resolved_is(IN("new/../twice"), TOP("secret/new"));
	resolved_is(IN("nowhere1/x"), NULL);
	resolved_is(IN("new/../nowhere1"), NULL);

	/* no buffer is outgrown */
	snprintf(deep, sizeof(deep), "%s", TOP("n"));
	while (strlen(deep) + 12 < sizeof(deep))
		strcat(deep, "/xxxxxxxxxx");
	resolved_is(deep, deep);
}
END_TEST

/* Each of many dangling links: up to the limit, and over it. */
START_TEST(chain)
{
	char name[32], target[32];

	/* links of links that dangle are counted by the kernel's rule too */
	for (unsigned i = 0; i <= LIMIT_SYMLINKS + 1; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		snprintf(target, sizeof(target), "c%u", i + 1);
		link_make(i == LIMIT_SYMLINKS + 1 ? "end" : target, name);
	}
	resolved_is(IN("c20"), TOP("end"));
	resolved_is(IN("c0"), NULL);
}
END_TEST

START_TEST(proc)
{
	char self[64];

	/* the broker's own place in /proc is not that of the agent */
	resolved_is("/proc/self/environ", NULL);
	resolved_is("/proc/self/cwd/x", NULL);
	resolved_is("/proc/thread-self/comm", NULL);
	resolved_is("/proc/self/root/etc", NULL);
	resolved_is("/proc/self/fd/0/x", NULL);
	resolved_is("/dev/fd/0/x", NULL);
	resolved_is("/dev/fd/0/../1", NULL);
	resolved_is("/dev/stdin/x", NULL);
	/* but what is open, and what it says of itself, is the same thing for each */
	resolved_is("/dev/fd/0", "/dev/fd/0");
	resolved_is("//dev/stderr", "/dev/stderr");
	resolved_is("/proc/self/fd", "/proc/self/fd");
	resolved_is("/proc/self/fd/12", "/proc/self/fd/12");
	resolved_is("/proc/self/status", "/proc/self/status");
	snprintf(self, sizeof(self), "/proc/%d/status", (int)getpid());
	resolved_is(self, NULL);
	resolved_is("/proc/version", "/proc/version");
}
END_TEST

START_TEST(deleted)
{
	dir_make("x (deleted)");
	dir_make("d");
	link_make("../x (deleted)", "d/l");
	resolved_is(IN("x (deleted)/y"), TOP("x (deleted)/y"));
	/* by way of a link it can't be told from one that was removed */
	resolved_is(IN("d/l"), NULL);
	resolved_is(IN("d/l/y"), NULL);
}
END_TEST

START_TEST(forbidden)
{
	pid_t pid;
	int status;

	dir_make("shut");
	dir_make("shut/in");
	ck_assert_int_eq(chmod(IN("shut"), 0), 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	pid = fork();
	if (pid == 0) {
		char *got;

		if (getuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(2);
		_exit(path_resolve(root, IN("shut/in"), false, &got) != 0 || got ||
			path_resolve(root, IN("shut/new"), false, &got) != 0 || got);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	chmod(IN("shut"), 0755);
}
END_TEST

/* Under another root a path can't leave it, and is named from there. */
START_TEST(other_root)
{
	int fd;
	char *got;

	dir_make("r");
	dir_make("r/etc");
	dir_make("out");
	file_write(IN("r/etc/passwd"), "");
	link_make("/etc", "r/abs");
	link_make("../../../../etc", "r/up");
	link_make("/new", "r/dangling");
	fd = open(IN("r"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(path_resolve(fd, "/etc/passwd", false, &got), 0);
	ck_assert_str_eq(got, "/etc/passwd");
	free(got);
	ck_assert_int_eq(path_resolve(fd, "/abs/passwd", false, &got), 0);
	ck_assert_str_eq(got, "/etc/passwd");
	free(got);
	ck_assert_int_eq(path_resolve(fd, "/up/../etc/x", false, &got), 0);
	ck_assert_str_eq(got, "/etc/x");
	free(got);
	ck_assert_int_eq(path_resolve(fd, "/../out/x", false, &got), 0);
	ck_assert_str_eq(got, "/out/x");
	free(got);
	ck_assert_int_eq(path_resolve(fd, "/dangling", false, &got), 0);
	ck_assert_str_eq(got, "/new");
	free(got);
	ck_assert_int_eq(path_resolve(fd, "/", false, &got), 0);
	ck_assert_str_eq(got, "/");
	free(got);
	close(fd);
}
END_TEST

/* From the caches alone the answer is the same one, or none. */
START_TEST(cached)
{
	char *got;
	int rc;

	dir_make("d");
	link_make("d", "l");
	resolved_is(IN("l"), TOP("d"));
	rc = path_resolve(root, IN("l"), true, &got);
	if (rc == 0) {
		ck_assert_str_eq(got, TOP("d"));
		free(got);
	} else {
		ck_assert_int_eq(rc, -EAGAIN);
	}
	link_make("gone", "dangling");
	rc = path_resolve(root, IN("dangling"), true, &got);
	ck_assert_int_eq(rc, -EAGAIN);
}
END_TEST

static void workspace_is(const char *cwd, const char *home, const char *want)
{
	char *got;

	ck_assert_int_eq(workspace_find(root, cwd, home, false, &got), 0);
	if (want)
		ck_assert_msg(got && strcmp(got, want) == 0, "%s: %s, not %s", cwd, got, want);
	else
		ck_assert_msg(!got, "%s: %s", cwd, got);
	free(got);
}

START_TEST(workspace)
{
	dir_make("home");
	dir_make("home/u");
	dir_make("home/u/p");
	dir_make("home/u/p/.git");
	dir_make("home/u/p/a");
	dir_make("home/u/p/a/b");
	dir_make("home/u/q");
	dir_make("home/u/q/a");
	link_make("home/u", "me");
	workspace_is(TOP("home/u/p/a/b"), TOP("home/u"), TOP("home/u/p"));
	workspace_is(TOP("home/u/p"), TOP("home/u"), TOP("home/u/p"));
	workspace_is(TOP("home/u/q/a"), TOP("home/u"), TOP("home/u/q/a"));
	/* a file does as well: a work tree, a submodule */
	file_write(IN("home/u/p/a/.git"), "gitdir: …\n");
	workspace_is(TOP("home/u/p/a/b"), TOP("home/u"), TOP("home/u/p/a"));
	/* never home, nor anything above, .git in it or not */
	workspace_is(TOP("home/u"), TOP("home/u"), NULL);
	workspace_is(TOP("home"), TOP("home/u"), NULL);
	workspace_is("/", TOP("home/u"), NULL);
	workspace_is("/", NULL, NULL);
	dir_make("home/u/.git");
	dir_make("home/.git");
	workspace_is(TOP("home/u"), TOP("home/u"), NULL);
	workspace_is(TOP("home"), TOP("home/u"), NULL);
	workspace_is(TOP("home/u/q/a"), TOP("home/u"), TOP("home/u/q/a"));
	/* home by another name is home */
	workspace_is(TOP("home/u"), TOP("me"), NULL);
	workspace_is(TOP("home/u/q/a"), TOP("me"), TOP("home/u/q/a"));
	/* outside of home it goes up as far as it finds something */
	workspace_is(TOP("home"), "/nonexistent", TOP("home"));
	workspace_is("relative", NULL, NULL);
	workspace_is(NULL, NULL, NULL);
}
END_TEST

/* 1: *len and the text are right; 0: it says that it does not know. */
static int plain(const char *path, const char *cwd, const char *home_dir, const char *want)
{
	char buf[PATH_MAX];
	size_t len = 0;

	for (int own = 0; own < 2; own++) {
		if (!path_resolve_plain(own ? -1 : root, bytes_of(path), cwd, home_dir, buf,
			    sizeof(buf), &len))
			return 0;
		ck_assert_uint_eq(len, strlen(buf));
		ck_assert_str_eq(buf, want);
	}
	return 1;
}

START_TEST(plain_ones)
{
	char want[PATH_MAX + 32], small[8];
	size_t len;
	int fd;

	dir_make("d");
	fd = open(below(dir, "d/file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	link_make("d", "link");
	link_make("d/file", "flink");
	snprintf(want, sizeof(want), "%s/d/file", top);
	ck_assert_int_eq(path_exists(root, want, false), 1);
	ck_assert_int_eq(plain(want, NULL, NULL, want), 1);
	ck_assert_int_eq(plain("d//./file/", top, NULL, want), 1);
	ck_assert_int_eq(plain("~/d/file", "/elsewhere", top, want), 1);
	snprintf(want, sizeof(want), "%s/d", top);
	ck_assert_int_eq(plain("d", top, NULL, want), 1);
	/* what does not exist */
	snprintf(want, sizeof(want), "%s/d/none/none", top);
	path_exists(root, want, false);
	ck_assert_int_eq(plain("d/none/none", top, NULL, want), 1);
	/* all that needs more than the text, or can't be */
	ck_assert_int_eq(plain("link", top, NULL, ""), 0);
	ck_assert_int_eq(plain("link/", top, NULL, ""), 0);
	ck_assert_int_eq(plain("link/file", top, NULL, ""), 0);
	ck_assert_int_eq(plain("link/none", top, NULL, ""), 0);
	ck_assert_int_eq(plain("flink", top, NULL, ""), 0);
	ck_assert_int_eq(plain("d/..", top, NULL, ""), 0);
	snprintf(want, sizeof(want), "%s/d/..x", top);
	path_exists(root, want, false);
	ck_assert_int_eq(plain("d/..x", top, NULL, want), 1);
	ck_assert_int_eq(plain("d", NULL, NULL, ""), 0);
	ck_assert_int_eq(plain("~", top, NULL, ""), 0);
	ck_assert_int_eq(plain("~u/d", top, top, ""), 0);
	ck_assert_int_eq(plain("", top, NULL, ""), 0);
	ck_assert_int_eq(plain("/proc/self/environ", NULL, NULL, ""), 0);
	snprintf(want, sizeof(want), "/proc/%d/environ", (int)getpid());
	path_exists(root, want, false);
	ck_assert_int_eq(plain(want, NULL, NULL, ""), 0);
	ck_assert_int_eq(path_resolve_plain(root, bytes_of("/abcdefg"), NULL, NULL, small,
				 sizeof(small), &len),
		0);
}
END_TEST

START_TEST(home)
{
	char *got;

	setenv("HOME", "/some//where/", 1);
	ck_assert_int_eq(workspace_home(getuid(), &got), 0);
	ck_assert_str_eq(got, "/some/where");
	free(got);
	/* of another uid: never from the broker's own environment */
	ck_assert_int_eq(workspace_home(getuid() + 54321, &got), 0);
	ck_assert(!got || strcmp(got, "/some/where") != 0);
	free(got);
	setenv("HOME", "relative", 1);
	ck_assert_int_eq(workspace_home(getuid(), &got), 0);
	ck_assert(!got || got[0] == '/');
	free(got);
}
END_TEST

static Suite *suite_make(void)
{
	Suite *s = suite_create("io_path");
	TCase *t = tcase_create("path");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, lexical);
	tcase_add_test(t, components);
	tcase_add_test(t, links);
	tcase_add_test(t, missing);
	tcase_add_test(t, chain);
	tcase_add_test(t, proc);
	tcase_add_test(t, deleted);
	tcase_add_test(t, forbidden);
	tcase_add_test(t, other_root);
	tcase_add_test(t, cached);
	tcase_add_test(t, plain_ones);
	tcase_add_test(t, workspace);
	tcase_add_test(t, home);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return kernel_is_known() ? run_suite(suite_make()) : EXIT_SKIPPED;
}
