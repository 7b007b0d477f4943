/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "broker/config.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

static char *dir;
static char first[128], second[128];
static struct config config;
static struct config_error error;

static void setup(void)
{
	dir = folder_make();
	strcpy(first, below(dir, "first.conf"));
	strcpy(second, below(dir, "second.conf"));
	config_init(&config);
	error.text[0] = '\0';
}

static void teardown(void)
{
	config_release(&config);
	folder_remove(dir);
}

static int load(bool required)
{
	const char *files[] = {first, second};

	return config_load(&config, files, 2, required, &error);
}

static int load_text(const char *text)
{
	file_write(first, text);
	chmod(first, 0600);
	return load(false);
}

/* The text is refused, with the line, and a word that tells why. */
static void refused(const char *text, int line, const char *why)
{
	char want[256];

	ck_assert_msg(load_text(text) == -EINVAL, "taken: %s", text);
	snprintf(want, sizeof(want), "%s:%d: ", first, line);
	ck_assert_msg(strncmp(error.text, want, strlen(want)) == 0, "%s", error.text);
	ck_assert_msg(strstr(error.text, why) != NULL, "%s", error.text);
	ck_assert_uint_eq(config.repeat_limit, 1);
}

START_TEST(defaults)
{
	ck_assert_int_eq(load(false), 0);
	ck_assert_int_eq(config.when_alone, CONFIG_WAIT);
	ck_assert(!config.headless);
	ck_assert_int_eq(config.deadline_us, 0);
	ck_assert(!config.deadline_set);
	ck_assert_int_eq(config.default_mode, MODE_NORMAL);
	ck_assert_int_eq(config.policy_timeout_us, TIME_POLICY_MS * 1000);
	ck_assert_uint_eq(config.n_required_policies, 0);
	ck_assert_uint_eq(config.repeat_limit, 1);
	ck_assert_int_eq(config.grace_us, TIME_GRACE_MS * 1000);
	ck_assert_uint_eq(config.limits.connections, LIMIT_UID_CONNECTIONS);
	ck_assert_uint_eq(config.limits.pending_bytes, LIMIT_UID_PENDING_BYTES);
	ck_assert_ptr_null(config.store_path);
	ck_assert_int_eq(config.log_level, LOG_LEVEL_NOTICE);
	ck_assert_int_eq(load(true), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error.text, second));
}
END_TEST

START_TEST(everything)
{
	ck_assert_int_eq(load_text("# a comment\n"
				   "; another\n"
				   "\n"
				   "[broker]\n"
				   "when-alone = deny\n"
				   "  headless=yes ; and why\n"
				   "deadline: 10m\n"
				   "default-mode = auto-edit\n"
				   "policy-timeout = 500ms\n"
				   "required-policies = ci, other one ,third\n"
				   "repeat-limit = 3\n"
				   "grace = 1h\n"
				   "[limits]\n"
				   "connections = 10\n"
				   "pending = 20\n"
				   "pending-bytes = 4M\n"
				   "rate = 0\n"
				   "sessions = 30\n"
				   "[store]\n"
				   "path = /var/lib/x.db\n"
				   "retention-age = 30d\n"
				   "retention-size = 2G\n"
				   "[log]\n"
				   "\tlevel = debug"),
		0);
	ck_assert_int_eq(config.when_alone, CONFIG_DENY);
	ck_assert(config.when_alone_set);
	ck_assert(config.headless);
	ck_assert_int_eq(config.deadline_us, 600ll * 1000000);
	ck_assert(config.deadline_set);
	ck_assert_int_eq(config.default_mode, MODE_AUTO_EDIT);
	ck_assert_int_eq(config.policy_timeout_us, 500000);
	ck_assert_uint_eq(config.n_required_policies, 3);
	ck_assert_str_eq(config.required_policies[0], "ci");
	ck_assert_str_eq(config.required_policies[1], "other one");
	ck_assert_str_eq(config.required_policies[2], "third");
	ck_assert_uint_eq(config.repeat_limit, 3);
	ck_assert_int_eq(config.grace_us, 3600ll * 1000000);
	ck_assert_uint_eq(config.limits.connections, 10);
	ck_assert_uint_eq(config.limits.pending, 20);
	ck_assert_uint_eq(config.limits.pending_bytes, 4u << 20);
	ck_assert_uint_eq(config.limits.rate, 0);
	ck_assert_uint_eq(config.limits.sessions, 30);
	ck_assert_str_eq(config.store_path, "/var/lib/x.db");
	ck_assert_int_eq(config.store_age_us, 30ll * 86400 * 1000000);
	ck_assert_uint_eq(config.store_size, 2ull << 30);
	ck_assert_int_eq(config.log_level, LOG_LEVEL_DEBUG);

	/* the second file stands over the first, key by key */
	file_write(second, "[broker]\nrequired-policies = mine\ndeadline = never\n"
			   "[store]\npath = /b\nretention-size = unlimited\n");
	chmod(second, 0644);
	ck_assert_int_eq(load(true), 0);
	ck_assert_uint_eq(config.n_required_policies, 1);
	ck_assert_str_eq(config.required_policies[0], "mine");
	ck_assert_int_eq(config.deadline_us, 0);
	ck_assert_str_eq(config.store_path, "/b");
	ck_assert_uint_eq(config.store_size, 0);
	ck_assert_uint_eq(config.repeat_limit, 3);
}
END_TEST

START_TEST(mistakes)
{
	char line[400];

	refused("[broker]\nwhen-alone = maybe\n", 2, "wait or deny");
	refused("\n\n[broker]\n\nwhenalone = wait\n", 5, "unknown key \"whenalone\"");
	refused("[limits]\nheadless = yes\n", 2, "unknown key");
	refused("[brokr]\n", 1, "unknown section \"brokr\"");
	refused("[broker]\nrepeat-limit = 5\n[other]\nx = 1\n", 3, "unknown section");
	refused("headless = yes\n", 1, "before the first section");
	refused("[broker\n", 1, "no end");
	refused("[broker] headless = yes\n", 1, "behind");
	refused("[broker]\nrepeat-limit = 7\nnonsense\n", 3, "NAME = VALUE");
	refused("[broker]\nrepeat-limit = 7\nheadless = yes\nheadless = no\n", 4, "twice");
	/* an indented line is a line */
	refused("[broker]\nrepeat-limit = 7\n  headless\n", 3, "NAME = VALUE");
	refused("[broker]\nheadless =\n", 2, "yes or no");
	refused("[broker]\nheadless = YES\n", 2, "yes or no");
	refused("[broker]\ndefault-mode = yolo\n", 2, "auto-edit");
	refused("[broker]\nrepeat-limit = 0\n", 2, "1 to 1000");
	refused("[broker]\nrepeat-limit = -1\n", 2, "1 to 1000");
	refused("[broker]\nrepeat-limit = 99999999999999999999\n", 2, "1 to 1000");
	refused("[broker]\nrepeat-limit = 5 6\n", 2, "1 to 1000");
	refused("[broker]\ngrace = never\n", 2, "duration");
	refused("[broker]\nrequired-policies = a,,b\n", 2, "names");
	refused("[broker]\nrequired-policies = a, a\n", 2, "names");
	refused("[limits]\npending-bytes = 1T\n", 2, "size");
	refused("[limits]\npending-bytes = 0\n", 2, "size");
	refused("[limits]\npending-bytes = 9999999999G\n", 2, "size");
	refused("[store]\npath = relative\n", 2, "absolute");
	refused("[log]\nlevel = loud\n", 2, "debug");
	/* the value is shown so that it can do no harm */
	refused("[log]\nlevel = \x1b[31m\n", 2, "\\x1b[31m");
	/* inih would read the end of a long line as a line of its own */
	memset(line, '#', sizeof(line));
	strcpy(line + 300, "\n");
	refused(line, 1, "longer");
	memset(line, ' ', sizeof(line));
	memcpy(line + 198, "headless = yes\n", 16);
	refused(line, 1, "longer");
}
END_TEST

START_TEST(all_or_nothing)
{
	ck_assert_int_eq(load_text("[broker]\nrepeat-limit = 9\nrequired-policies = a\n"
				   "[store]\npath = /a\n"),
		0);
	ck_assert_int_eq(load_text("[broker]\nrepeat-limit = 8\nrequired-policies = b\n"
				   "[store]\npath = b\n"),
		-EINVAL);
	ck_assert_uint_eq(config.repeat_limit, 9);
	ck_assert_str_eq(config.required_policies[0], "a");
	ck_assert_str_eq(config.store_path, "/a");
	/* the first file is good, the second is not */
	ck_assert_int_eq(load_text("[broker]\nrepeat-limit = 8\n"), 0);
	file_write(second, "[broker]\ngrace = x\n");
	ck_assert_int_eq(load_text("[broker]\nrepeat-limit = 7\n"), -EINVAL);
	ck_assert_uint_eq(config.repeat_limit, 8);
	ck_assert_ptr_nonnull(strstr(error.text, "second.conf:2: "));
}
END_TEST

START_TEST(files)
{
	char *big;

	file_write(first, "");
	chmod(first, 0620);
	ck_assert_int_eq(load(false), -EPERM);
	ck_assert_ptr_nonnull(strstr(error.text, "others may write"));
	chmod(first, 0602);
	ck_assert_int_eq(load(false), -EPERM);
	chmod(first, 0644);
	ck_assert_int_eq(load(false), 0);
	if (getuid() == 0) {
		ck_assert_int_eq(chown(first, 65534, 65534), 0);
		ck_assert_int_eq(load(false), -EPERM);
		ck_assert_ptr_nonnull(strstr(error.text, "another user"));
		ck_assert_int_eq(chown(first, 0, 0), 0);
	}
	unlink(first);
	ck_assert_int_eq(mkdir(first, 0700), 0);
	ck_assert_int_eq(load(false), -EINVAL);
	rmdir(first);
	/* nobody writes to it: it must not be waited for */
	ck_assert_int_eq(mkfifo(first, 0600), 0);
	ck_assert_int_eq(load(false), -EINVAL);
	unlink(first);
	big = malloc(LIMIT_CONFIG + 2);
	memset(big, '\n', LIMIT_CONFIG + 1);
	big[LIMIT_CONFIG + 1] = '\0';
	ck_assert_int_eq(load_text(big), -EINVAL);
	big[LIMIT_CONFIG] = '\0';
	ck_assert_int_eq(load_text(big), 0);
	free(big);
	unlink(first);
	FILE *f = fopen(first, "w");
	fwrite("[log]\nlevel = debug\0\n", 1, 21, f);
	fclose(f);
	chmod(first, 0600);
	ck_assert_int_eq(load(false), -EINVAL);
}
END_TEST

START_TEST(owners)
{
	/* the first of the usual files is the administrator's */
	file_write(first, "[rules]\nadmin-dir = /a\n[floor]\noff = one, two\n");
	file_write(second, "[rules]\nuser-file = /u\n[floor]\nuser-file = /f\noff = three\n");
	chmod(first, 0600);
	chmod(second, 0600);
	ck_assert_int_eq(load(false), 0);
	ck_assert_str_eq(config.rules_admin_dir, "/a");
	ck_assert_str_eq(config.rules_user_file, "/u");
	ck_assert_str_eq(config.floor_user_file, "/f");
	ck_assert_uint_eq(config.floor_off[1].n, 2);
	ck_assert_str_eq(config.floor_off[1].items[1], "two");
	ck_assert_uint_eq(config.floor_off[0].n, 1);
	ck_assert_str_eq(config.floor_off[0].items[0], "three");
	/* whose folder of rules a user can't leave out */
	file_write(second, "[rules]\nadmin-dir = /b\n");
	ck_assert_int_eq(load(false), -EINVAL);
	ck_assert_str_eq(config.rules_admin_dir, "/a");
}
END_TEST

START_TEST(durations)
{
	static const char *const bad[] = {"", "0s", "s", "5", "-1s", "1 s", "1S", "1w", "1.5s",
		"3651d", "99999999999999999999s", "1s ", " 1s", "never"};
	static const struct {
		const char *text;
		int64_t us;
	} good[] = {{"1ms", 1000}, {"30s", 30000000}, {"10m", 600000000}, {"2h", 7200000000},
		{"7d", 604800000000}, {"3650d", 315360000000000}};
	int64_t us;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(config_duration_parse(bad[i], &us) == -EINVAL, "%s", bad[i]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_int_eq(config_duration_parse(good[i].text, &us), 0);
		ck_assert_int_eq(us, good[i].us);
	}
}
END_TEST

/* ---- ceilings ---- */

static const struct budget_amounts unset = BUDGET_CLEAR;

START_TEST(budgets)
{
	const struct budget_rule *r;

	ck_assert_int_eq(load(false), 0);
	ck_assert_uint_eq(config.n_budgets, 0);
	ck_assert_uint_eq(config.weights.cache_read, 100);
	file_write(second, "[budget]\ntokens = 5\nweight-input = 3\n");
	chmod(second, 0600);
	ck_assert_int_eq(load_text("[budget]\n"
				   "tokens = 2M\n"
				   "time = 0\n"
				   "session-calls = 7k\n"
				   "weight-cache-read = 0.125\n"
				   "weight-input = 0\n"
				   "[budget  uid=0\tagent=claude  project=/home/a b/c]\n"
				   "wall = 90m\n"
				   "cost = 0.25\n"
				   "[log]\n"
				   "level = debug\n"
				   "[budget]\n"
				   "calls = 0\n"),
		0);
	ck_assert_uint_eq(config.n_budgets, 3);
	r = config.budgets;
	ck_assert(!r->agent && !r->project && r->uid == -1);
	ck_assert_int_eq(r->turn.of[BUDGET_TOKENS], 2000000);
	ck_assert_int_eq(r->turn.of[BUDGET_TIME], 0);
	ck_assert_int_eq(r->turn.of[BUDGET_WALL], BUDGET_NONE);
	ck_assert_int_eq(r->turn.of[BUDGET_CALLS], 0);
	ck_assert_int_eq(r->session.of[BUDGET_CALLS], 7000);
	r++;
	ck_assert_str_eq(r->agent, "claude");
	ck_assert_str_eq(r->project, "/home/a b/c");
	ck_assert_int_eq(r->uid, 0);
	ck_assert_int_eq(r->turn.of[BUDGET_WALL], 5400000000);
	ck_assert_int_eq(r->turn.of[BUDGET_COST], 250000);
	ck_assert_mem_eq(&r->session, &unset, sizeof(unset));
	r++; /* of the other file: both hold, and the lower one counts */
	ck_assert(!r->agent && r->turn.of[BUDGET_TOKENS] == 5);
	ck_assert_uint_eq(config.weights.cache_read, 125);
	ck_assert_uint_eq(config.weights.input, 3000);
	ck_assert_uint_eq(config.weights.output, 1000);
	/* read anew, it begins from nothing */
	ck_assert_int_eq(load_text(""), 0);
	ck_assert_uint_eq(config.n_budgets, 1);
}
END_TEST

START_TEST(budgets_refused)
{
	static const char *const sections[] = {"[budgets]", "[budget agent]", "[budget agent=]",
		"[budget uid=x]", "[budget uid=-1]", "[budget uid=4294967295]",
		"[budget uid=1 uid=2]", "[budget agent=a agent=b]", "[budget project=here]",
		"[budget project=]", "[budget who=me]", "[budget", "[budget uid=99999999999999]"};
	static const char *const keys[] = {"token = 1", "tokens = -1", "tokens = ", "tokens = x",
		"tokens = 1K", "tokens = 1kk", "tokens = 9007199254740993",
		"tokens = 9007199254741k",
		"tokens = 99999999999999999999999", "time = 5", "time = never", "wall = 4000d",
		"cost = 1.", "cost = .5", "cost = 1.0000001", "cost = 1e3", "cost = 9007199255",
		"session-token = 1", "session- = 1", "weight-input = 1001", "weight-input = 0.0001",
		"weight-in = 1", "session-weight-input = 1"};
	char text[256];

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		snprintf(text, sizeof(text), "\n%s\ntokens = 1\n", sections[i]);
		refused(text, 2, "");
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(text, sizeof(text), "[budget]\n%s\n", keys[i]);
		refused(text, 2, "");
	}
	refused("[budget uid=1]\nweight-input = 1\n", 2, "[budget] alone");
	refused("[budget]\ntokens = 1\ntokens = 1\n", 3, "twice");
	refused("[budget]\nweight-input = 1\nweight-input = 1\n", 3, "twice");
	refused("[budget uid=1 agent=a]\ntokens = 1\n[budget agent=a uid=1]\ntokens = 1\n", 4,
		"twice");
}
END_TEST

START_TEST(budgets_in_number)
{
	char *text = calloc(LIMIT_BUDGETS + 2, 64);
	size_t n = 0;

	ck_assert_ptr_nonnull(text);
	for (unsigned i = 0; i < LIMIT_BUDGETS; i++)
		n += (size_t)sprintf(text + n, "[budget uid=%u]\ntokens = %u\n", i, i);
	ck_assert_int_eq(load_text(text), 0);
	ck_assert_uint_eq(config.n_budgets, LIMIT_BUDGETS);
	sprintf(text + n, "[budget]\ntokens = 1\n");
	ck_assert_int_eq(load_text(text), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "too many"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("config");
	TCase *t = tcase_create("config");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, defaults);
	tcase_add_test(t, budgets);
	tcase_add_test(t, budgets_refused);
	tcase_add_test(t, budgets_in_number);
	tcase_add_test(t, everything);
	tcase_add_test(t, mistakes);
	tcase_add_test(t, all_or_nothing);
	tcase_add_test(t, files);
	tcase_add_test(t, owners);
	tcase_add_test(t, durations);
	suite_add_tcase(s, t);
	return run_suite(s);
}
