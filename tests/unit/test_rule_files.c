/* SPDX-License-Identifier: MIT */
/* Files of rules and of the floor; and a set that takes the place of another. */
#include <fcntl.h>
#include <sys/stat.h>

#include "broker/io/rule_files.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

static char *dir;
static char admin[128], rules_file[128], floor_file[128], log_file[128];
static struct log log_;
static struct ruleset *rules;
static struct floor *floor_;

static void setup(void)
{
	dir = folder_make();
	strcpy(admin, below(dir, "rules.d"));
	strcpy(rules_file, below(dir, "rules"));
	strcpy(floor_file, below(dir, "floor"));
	strcpy(log_file, below(dir, "log"));
	ck_assert_int_eq(mkdir(admin, 0700), 0);
	log_.fd = open(log_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	log_.level = LOG_LEVEL_DEBUG;
	ck_assert_int_ge(log_.fd, 0);
	umask(022);
	rules = ruleset_new();
	floor_ = floor_new(FLOOR_USER);
}

static void teardown(void)
{
	close(log_.fd);
	ruleset_free(rules);
	floor_free(floor_);
	folder_remove(dir);
}

static int load(void)
{
	const struct rule_places places = {admin, rules_file, floor_file, 1000};

	ck_assert_int_eq(ftruncate(log_.fd, 0), 0);
	ck_assert_int_eq(lseek(log_.fd, 0, SEEK_SET), 0);
	return rule_files_load(rules, floor_, &places, &log_);
}

static const char *logged(void)
{
	static char text[8192];
	ssize_t n = pread(log_.fd, text, sizeof(text) - 1, 0);

	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	return text;
}

static void refused(const char *why)
{
	ck_assert_int_eq(load(), -EINVAL);
	ck_assert_msg(strstr(logged(), why) != NULL, "%s instead of %s", logged(), why);
}

static bool floor_has(const char *name, enum floor_owner owner)
{
	struct floor_entry e;

	for (size_t i = 0; floor_at(floor_, i, &e); i++)
		if (strcmp(e.name, name) == 0 && e.added && e.owner == owner)
			return true;
	return false;
}

START_TEST(none)
{
	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(rmdir(admin), 0);
	ck_assert_int_eq(load(), 0);
	ck_assert_uint_eq(ruleset_count(rules), 0);
}
END_TEST

START_TEST(ordered)
{
	const struct rule_entry *e = NULL;
	static const char *const names[] = {"first", "second", "third", "fourth"};
	static const uint8_t scopes[] = {RULE_ADMIN, RULE_ADMIN, RULE_ADMIN, RULE_USER};

	file_write(below(admin, "20.rules"), "allow Bash(third)");
	file_write(
		below(admin, "10.rules"), "# one\nallow Bash(first)\n\nallow Bash(second)\n");
	file_write(below(admin, "10.rules.bak"), "no rule");
	file_write(below(admin, ".hidden.rules"), "no rule");
	file_write(below(admin, "site.floor"), "backups all ~/backups/**\n");
	file_write(rules_file, "allow Bash(fourth)\n");
	file_write(floor_file, "# mine\nmine write *.sqlite");
	ck_assert_int_eq(load(), 0);
	for (size_t i = 0; i < 4; i++) {
		e = ruleset_next(rules, e);
		ck_assert_ptr_nonnull(e);
		ck_assert(bytes_is(e->rule->text, names[i]));
		ck_assert_uint_eq(e->scope, scopes[i]);
		ck_assert_uint_eq(e->uid, i < 3 ? RULE_ANY_UID : 1000);
		ck_assert_int_gt(e->made, 0);
	}
	ck_assert_ptr_null(ruleset_next(rules, e));
	ck_assert(floor_has("backups", FLOOR_ADMIN));
	ck_assert(floor_has("mine", FLOOR_USER));
	ck_assert_int_eq(floor_off(floor_, bytes_of("backups"), FLOOR_USER), -EPERM);
}
END_TEST

START_TEST(mistakes)
{
	char want[256];

	/* every one is told, with its place */
	file_write(
		below(admin, "10.rules"), "allow Bash(x)\nallow @nothing\n\n  permit Bash\n");
	file_write(floor_file, "ok all x\nbad nothing x\n");
	snprintf(want, sizeof(want), "%s/10.rules:2:7: no kind of tool", admin);
	refused(want);
	snprintf(want, sizeof(want), "%s/10.rules:4:3: a rule begins with", admin);
	ck_assert_msg(strstr(logged(), want) != NULL, "%s", logged());
	snprintf(want, sizeof(want), "%s:2:5: not all, command", floor_file);
	ck_assert_msg(strstr(logged(), want) != NULL, "%s", logged());
}
END_TEST

START_TEST(owners)
{
	file_write(rules_file, "allow Bash(x)\n");
	ck_assert_int_eq(chmod(rules_file, 0620), 0);
	refused("others may write");
	ck_assert_int_eq(chmod(rules_file, 0602), 0);
	refused("others may write");
	ck_assert_int_eq(chmod(rules_file, 0600), 0);
	ck_assert_int_eq(load(), 0);
	file_write(below(admin, "a.rules"), "deny Bash(y)\n");
	ck_assert_int_eq(chmod(below(admin, "a.rules"), 0666), 0);
	refused("a.rules: others may write");
	ck_assert_int_eq(chmod(below(admin, "a.rules"), 0644), 0);
	ck_assert_int_eq(chmod(admin, 0777), 0);
	refused("rules.d: others may write");
	ck_assert_int_eq(chmod(admin, 0755), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(rules_file, 12345, 0), 0);
		refused("another user");
		ck_assert_int_eq(chown(rules_file, 0, 0), 0);
		ck_assert_int_eq(chown(admin, 12345, 0), 0);
		refused("another user");
	}
}
END_TEST

START_TEST(no_files)
{
	FILE *f;

	/* what the administrator's folder lists has to be there: it may deny */
	ck_assert_int_eq(symlink("/nonexistent", below(admin, "a.rules")), 0);
	refused("a.rules");
	ck_assert_int_eq(unlink(below(admin, "a.rules")), 0);
	ck_assert_int_eq(mkdir(below(admin, "b.rules"), 0700), 0);
	refused("not a file");
	ck_assert_int_eq(rmdir(below(admin, "b.rules")), 0);
	ck_assert_int_eq(mkfifo(below(admin, "c.floor"), 0600), 0);
	refused("not a file");
	ck_assert_int_eq(unlink(below(admin, "c.floor")), 0);
	f = fopen(rules_file, "w");
	ck_assert_int_eq(ftruncate(fileno(f), LIMIT_RULE_FILE + 1), 0);
	fclose(f);
	refused("too large");
}
END_TEST

/* ---- a set in the place of another ---- */

START_TEST(carried)
{
	const struct rule_origin standing = {.scope = RULE_PROJECT,
		.uid = 1000,
		.project = bytes_of("/home/u/p"),
		.by = bytes_of("uid 1000"),
		.made = 5,
		.expires = 99};
	struct rule_problem problem;
	const struct rule_entry *e = NULL;
	struct ruleset *old = rules;

	file_write(rules_file, "allow Bash(kept)\nallow Bash(gone)\n");
	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(
		ruleset_add(rules, &standing, 7, bytes_of("deny Bash(rm  *)"), &problem), 0);
	while ((e = ruleset_next(rules, e)))
		ruleset_set_matches(rules, e, e->id ? 3 : 40 + e->line, 1234);
	rules = ruleset_new();
	file_write(rules_file, "\nallow Bash(new)\nallow Bash(kept)\n");
	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(ruleset_carry(rules, old), 0);
	ck_assert_int_eq(ruleset_carry_matches(rules, old), 0);
	ruleset_free(old);
	ck_assert_uint_eq(ruleset_count(rules), 3);
	e = ruleset_find(rules, 7);
	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->scope, RULE_PROJECT);
	ck_assert_uint_eq(e->uid, 1000);
	ck_assert(str_equal(e->project, standing.project));
	ck_assert(str_equal(e->by, standing.by));
	ck_assert_int_eq(e->made, 5);
	ck_assert_int_eq(e->expires, 99);
	ck_assert_uint_eq(e->matches, 3);
	ck_assert_int_eq(e->matched_at, 1234);
	e = ruleset_next(rules, NULL);
	ck_assert(bytes_is(e->rule->text, "new"));
	ck_assert_uint_eq(e->matches, 0);
	e = ruleset_next(rules, e);
	ck_assert(bytes_is(e->rule->text, "kept"));
	ck_assert_uint_eq(e->matches, 41);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule files");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, none);
	tcase_add_test(t, ordered);
	tcase_add_test(t, mistakes);
	tcase_add_test(t, owners);
	tcase_add_test(t, no_files);
	tcase_add_test(t, carried);
	suite_add_tcase(s, t);
	return run_suite(s);
}
