/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/path.h"

#include <check.h>
#include <ctype.h>
#include <fnmatch.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/floor/place.h"
#include "libapproval/limits.h"

#define HOME "/home/u"

struct path_case {
	const char *path;
	const char *entry; /* NULL: not protected */
};

static void check_paths(const struct path_case *cases, size_t n, const char *home)
{
	for (size_t i = 0; i < n; i++) {
		const char *entry = path_protected(bytes_of(cases[i].path), bytes_of(home));

		if (cases[i].entry)
			ck_assert_msg(entry && strcmp(entry, cases[i].entry) == 0,
				"%s: %s, not %s", cases[i].path, entry ? entry : "(none)",
				cases[i].entry);
		else
			ck_assert_msg(!entry, "%s: %s", cases[i].path, entry);
	}
}
#define CHECK_PATHS(cases, home) check_paths(cases, sizeof(cases) / sizeof((cases)[0]), home)

START_TEST(places)
{
	static const struct path_case cases[] = {
		{"/home/u/.ssh", "ssh"},
		{"/home/u/.ssh/", "ssh"},
		{"/home/u/.ssh/config", "ssh"},
		{"~/.ssh/authorized_keys", "ssh"},
		{"~/.ssh", "ssh"},
		{".ssh/known_hosts", "ssh"},
		{"/root/.ssh/id_rsa", "ssh"},
		{"/w/proj/.sshd/config", NULL},
		{"/w/proj/ssh/config", NULL},
		{"/w/proj/x.ssh/config", NULL},
		{"/home/u/.gnupg/pubring.kbx", "gnupg"},
		{"/run/user/1000/gnupg/S.gpg-agent", "gnupg"},
		{"/w/run/user/1000/gnupg/x", NULL},
		{"~/.password-store/mail.gpg", "gnupg"},
		{"/home/u/.aws/config", "cloud"},
		{"~/.aws/sso/cache/x.json", "cloud"},
		{"~/.azure/accessTokens.json", "cloud"},
		{"~/.config/gcloud/access_tokens.db", "cloud"},
		{"~/.config/gh/hosts.yml", "cloud"},
		{"/w/proj/gcloud/main.tf", NULL},
		{"~/.vault-token", "cloud"},
		{"~/.kube/config", "cluster"},
		{"~/.kube", "cluster"},
		{"~/.kubectl", NULL},
		{"/etc/kubernetes/admin.conf", "cluster"},
		{"/run/secrets/db", "cluster"},
		{"/var/run/secrets/kubernetes.io/serviceaccount/token", "cluster"},
		{"~/.netrc", "netrc"},
		{"/w/_netrc", "netrc"},
		{"~/.authinfo.gpg", "netrc"},
		{"~/.netrc.d/readme", NULL},
		{"~/.pgpass", "pgpass"},
		{"~/.docker/config.json", "docker"},
		{"/w/proj/.docker/config.json", "docker"},
		{"/w/proj/.docker/Dockerfile", NULL},
		{"~/.docker/contexts/meta/x", "docker"},
		{"/home/u/.docker/contexts/meta/x", "docker"},
		{"/run/user/1000/containers/auth.json", "docker"},
		{"~/.npmrc", "npm"},
		{"/w/proj/.npmrc", "npm"},
		{"~/.yarnrc.yml", "npm"},
		{"/w/proj/.yarnrc.yml", NULL},
		{"~/.pypirc", "pypi"},
		{"~/.mozilla/firefox/a.default/logins.json", "browser"},
		{"~/.config/google-chrome/Default/Cookies", "browser"},
		{"~/.config/google-chrome-beta/Default/Cookies", "browser"},
		{"~/.config/chromium/Default/Login Data", "browser"},
		{"~/.config/BraveSoftware/Brave-Browser/x", "browser"},
		{"~/snap/firefox/common/x", "browser"},
		{"/w/proj/snap/firefox/x", NULL},
		{"~/.var/app/org.mozilla.firefox/x", "browser"},
		{"~/.local/share/keyrings/login.keyring", "keyring"},
		{"~/.local/share/keyrings", "keyring"},
		{"~/.local/share/other", NULL},
		{"/run/user/1000/keyring/control", "keyring"},
		{"/w/proj/pass.kdbx", "keyring"},
		{"/etc/ssl/private/x", "private-key"},
		{"/etc/ssl/certs/x", NULL},
		{"/w/etc/ssl/private/x", NULL},
	};

	CHECK_PATHS(cases, HOME);
}
END_TEST

START_TEST(env)
{
	static const struct path_case cases[] = {
		{".env", "env"},
		{"./.env", "env"},
		{"/w/proj/.env", "env"},
		{"/w/proj/.env/", "env"},
		{".ENV", "env"},
		{".Env.Local", "env"},
		{".env.local", "env"},
		{".env.production", "env"},
		{".env.example", NULL},
		{".env.sample", NULL},
		{".env.template", NULL},
		{".env.dist", NULL},
		{".ENV.EXAMPLE", NULL},
		{"/w/.env.production.example", NULL},
		{".env.example.local", "env"},
		{".env.bak", "env"},
		{".env~", "env"},
		{".env.swp", "env"},
		{".environment", NULL},
		{".envrc", NULL},
		{"env", NULL},
		{"x.env", NULL},
		{"/w/.env/bin/python", NULL},
		{"src/.env.ts/x.c", NULL},
	};

	CHECK_PATHS(cases, HOME);
}
END_TEST

START_TEST(keys)
{
	static const struct path_case cases[] = {
		{"id_rsa", "private-key"},
		{"/w/deploy/id_ed25519", "private-key"},
		{"/w/ID_RSA", "private-key"},
		{"id_ecdsa_sk", "private-key"},
		{"id_rsa_work", "private-key"},
		{"id_rsa.old", "private-key"},
		{"id_rsa.work", "private-key"},
		{"id_rsa.pub", NULL},
		{"id_rsa.pub.bak", NULL},
		{"id_rsa_parse.c", NULL},
		{"id_rsamore", NULL},
		{"id_card", NULL},
		{"grid_rsa", NULL},
		{"/etc/ssh/ssh_host_ed25519_key", "private-key"},
		{"/etc/ssh/ssh_host_ed25519_key.pub", NULL},
		{"server.pem", "private-key"},
		{"server.PEM", "private-key"},
		{"tls/server.key", "private-key"},
		{"server.key.bak", "private-key"},
		{"server.key~", "private-key"},
		{"x.p12", "private-key"},
		{"x.pfx", "private-key"},
		{"x.jks", "private-key"},
		{"x.key.c", NULL},
		{"monkey", NULL},
		{"key", NULL},
		{"keys.c", NULL},
		{"server.pem/readme.c", NULL},
	};

	CHECK_PATHS(cases, HOME);
}
END_TEST

START_TEST(secrets)
{
	static const struct path_case cases[] = {
		{"credentials", "secret"},
		{"/w/credentials.json", "secret"},
		{"/w/my-secrets.yaml", "secret"},
		{"/w/SECRETS.YML", "secret"},
		{"/w/client_secret.toml", "secret"},
		{"/w/secret.ini", "secret"},
		{"/w/secret.txt", "secret"},
		{"/w/.secret", "secret"},
		{"/w/.git-credentials", "secret"},
		{"/w/credentials.json.bak", "secret"},
		{"~/.cargo/credentials.toml", "secret"},
		{"/w/src/credentials.ts", NULL},
		{"/w/src/secret.c", NULL},
		{"/w/src/secrets.py", NULL},
		{"/w/docs/secret-handling.md", NULL},
		{"/w/secrets.yaml.example", NULL},
		{"/w/secrets/prod.yaml", "secret"},
		{"/w/secrets/token", "secret"},
		{"/w/secrets/load.go", NULL},
		{"/w/secret-service/src/package.json", NULL},
		{"/w/secret-service/package.json", NULL},
		{"/w/README", NULL},
		{"/w/a.json", NULL},
	};

	CHECK_PATHS(cases, HOME);
}
END_TEST

/* One path, written in other ways. */
START_TEST(spellings)
{
	static const struct path_case cases[] = {
		{"/home/u//.ssh///config", "ssh"},
		{"/home/u/./.ssh/./config", "ssh"},
		{"/home/u/x/../.ssh/config", "ssh"},
		{"/home/u/.ssh/../x/config", NULL},
		{"/home/u/.ssh/..", NULL},
		{"../../.ssh/config", "ssh"},
		{"a/../../.env", "env"},
		{"../.env", "env"},
		{".env/.", "env"},
		{".env/x/..", "env"},
		{"/../../.env", "env"},
		{"/home/u/.SSH/config", "ssh"},
		{"/home/u/.sSh", "ssh"},
		{"~/.AWS/x", "cloud"},
		{"~/.Config/GCloud/x", "cloud"},
		{"/HOME/U/SNAP/firefox/x", "browser"},
		{"/home/u/../u/snap/firefox/x", "browser"},
		{"/home/uu/snap/firefox/x", NULL},
		{"/", NULL},
		{"", NULL},
		{".", NULL},
		{"..", NULL},
		{"~", NULL},
		{"/home/u", NULL},
		{"///", NULL},
	};
	char longest[LIMIT_TEXT + 2];

	CHECK_PATHS(cases, HOME);
	ck_assert_ptr_null(path_protected((struct bytes){NULL, 0}, bytes_of(HOME)));
	/* within a path that goes on after a NUL */
	ck_assert_ptr_nonnull(path_protected((struct bytes){".ssh/a\0b", 8}, bytes_of(HOME)));

	memset(longest, 'a', sizeof(longest));
	ck_assert_ptr_null(path_protected((struct bytes){longest, LIMIT_TEXT}, bytes_of(HOME)));
	ck_assert_str_eq(
		path_protected((struct bytes){longest, LIMIT_TEXT + 1}, bytes_of(HOME)),
		"unreadable");
	memcpy(longest + LIMIT_TEXT - 5, "/.env", 5);
	ck_assert_str_eq(
		path_protected((struct bytes){longest, LIMIT_TEXT}, bytes_of(HOME)), "env");
	/* the most components there can be */
	for (size_t i = 0; i < LIMIT_TEXT; i++)
		longest[i] = i % 2 ? '/' : '.';
	ck_assert_ptr_null(path_protected((struct bytes){longest, LIMIT_TEXT}, bytes_of(HOME)));
}
END_TEST

START_TEST(homes)
{
	/* without a home, folders of a home are found anywhere */
	static const struct path_case unknown[] = {
		{"/data/u/snap/firefox/x", "browser"},
		{"/w/.docker/Dockerfile", "docker"},
		{"/home/u/.ssh/x", "ssh"},
		{"/w/a.c", NULL},
	};
	static const struct path_case root[] = {
		{"/snap/firefox/x", "browser"},
		{"/w/snap/firefox/x", NULL},
	};

	CHECK_PATHS(unknown, NULL);
	CHECK_PATHS(unknown, "");
	CHECK_PATHS(root, "/");
	CHECK_PATHS(root, "///");
}
END_TEST

/*
 * Of the collected cases, those about one path: what the floor must hold, as far
 * as it guards reading, and what must not be on it.
 */
static const char *const later[] = {
	/* guards of writing, for the whole floor */
	"own configuration is on the floor",
	"editing a git hook",
};

static bool is_later(const char *name)
{
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (strcmp(later[i], name) == 0)
			return true;
	return false;
}

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : NULL;
}

START_TEST(collected)
{
	FILE *f = fopen(TEST_CASES, "re");
	unsigned on = 0, off = 0;
	char line[8192];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		struct json_object *o = json_tokener_parse(line), *input;
		const char *path, *source, *home, *entry;

		ck_assert_ptr_nonnull(o);
		ck_assert(json_object_object_get_ex(o, "input", &input));
		path = text_of(input, "file_path");
		if (path && !is_later(text_of(o, "name"))) {
			source = text_of(o, "source");
			home = text_of(o, "home");
			entry = path_protected(bytes_of(path), bytes_of(home));
			if (source && strcmp(source, "floor") == 0) {
				ck_assert_msg(entry != NULL, "%s", text_of(o, "name"));
				on++;
			} else {
				ck_assert_msg(!entry, "%s", text_of(o, "name"));
				off++;
			}
		}
		json_object_put(o);
	}
	fclose(f);
	ck_assert_uint_ge(on, 1);
	ck_assert_uint_ge(off, 10);
}
END_TEST

/* The words of the collected commands that are paths on the floor, and some that are not. */
START_TEST(operands)
{
	static const struct path_case cases[] = {
		{"~/.ssh/k", "ssh"},
		{"~/.ssh/id_ed25519", "ssh"},
		{"~/.ssh/authorized_keys", "ssh"},
		{".ENV", "env"},
		{".env.example", NULL},
		{"~/.aws/credentials", "cloud"},
		{".ssh/config", "ssh"},
		{"notes.md", NULL},
		{".gitignore", NULL},
		{"~/.pi", NULL},
		{"/w/proj/scripts/deploy.sh", NULL},
		{"/dev/null", NULL},
		{"/etc/p", NULL},
	};

	CHECK_PATHS(cases, HOME);
}
END_TEST

/* ---- against a slower way to find places ---- */

#define PARTS_MAX 64

struct parts {
	char text[PARTS_MAX][64];
	unsigned n;
	bool absolute;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* A component of some place, or all of one, at times cut or in other letters. */
static void random_part(uint64_t *seed, char out[64])
{
	static const char *const plain[] = {
		"home", "u", "proj", "src", ".", "..", "", "a.c", ".cache"};
	const uint64_t roll = next_random(seed);
	const size_t n = n_floor_places + n_floor_roots;
	const size_t pick = next_random(seed) % n;
	const struct place *const p = pick < n_floor_places
					      ? &floor_places[pick]
					      : &floor_roots[pick - n_floor_places];
	char copy[64], *rest = copy, *part;

	if (roll % 3 == 0) {
		strcpy(out, plain[next_random(seed) % (sizeof(plain) / sizeof(plain[0]))]);
		return;
	}
	strcpy(copy, p->path);
	if (roll % 2 == 0) {
		part = copy; /* all of it; a star is a name like others, too */
	} else {
		do
			part = strsep(&rest, "/");
		while (rest && next_random(seed) % 2);
	}
	strcpy(out, part);
	if (roll % 11 == 0 && out[0])
		out[strlen(out) - 1] = 0;
	if (roll % 13 == 0)
		strcat(out, "x");
	for (char *c = out; *c && roll % 5 == 0; c++)
		if (next_random(seed) % 2)
			*c = (char)toupper(*c);
}

static void parts_of(const char *path, struct parts *out)
{
	char copy[1024], *rest = copy, *part;

	*out = (struct parts){.absolute = *path == '/'};
	strcpy(copy, path);
	while ((part = strsep(&rest, "/"))) {
		if (!*part || strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") != 0)
			strcpy(out->text[out->n++], part);
		else if (out->n > 0 && strcmp(out->text[out->n - 1], "..") != 0)
			out->n--;
		else if (!out->absolute)
			strcpy(out->text[out->n++], part);
	}
}

static bool slow_match(const struct place *p, const struct parts *path, unsigned i)
{
	char copy[64], *rest = copy, *part;

	strcpy(copy, p->path);
	while ((part = strsep(&rest, "/"))) {
		char pattern[66];

		snprintf(pattern, sizeof(pattern), "%s%s", part,
			!rest && p->flags & PLACE_PREFIX ? "*" : "");
		if (i == path->n || fnmatch(pattern, path->text[i++], FNM_CASEFOLD) != 0)
			return false;
	}
	return !(p->flags & PLACE_EXACT) || i == path->n;
}

static bool slow_home(const struct parts *path, unsigned i)
{
	return path->absolute && i == 2 && strcasecmp(path->text[0], "home") == 0 &&
	       strcasecmp(path->text[1], "u") == 0;
}

static bool slow_free(const struct place *p, const struct parts *path)
{
	if (p->entry == ENTRY_SYSTEM)
		return path->n > 1 && strcasecmp(path->text[0], "var") == 0 &&
		       strcasecmp(path->text[1], "tmp") == 0;
	return p->entry == ENTRY_DEVICE && path->n > 1 &&
	       (strcasecmp(path->text[1], "null") == 0 ||
		       strcasecmp(path->text[1], "tty") == 0);
}

static bool slow_find(const struct parts *path, const char *name)
{
	for (unsigned i = 0; i < path->n; i++)
		for (size_t k = 0; k < n_floor_places; k++)
			if (slow_match(&floor_places[k], path, i) &&
				(!(floor_places[k].flags & PLACE_HOME) || slow_home(path, i)) &&
				(!name || strcmp(name,
						  floor_entries[floor_places[k].entry].name) ==
						  0))
				return true;
	for (size_t k = 0; path->absolute && k < n_floor_roots; k++)
		if (slow_match(&floor_roots[k], path, 0) && !slow_free(&floor_roots[k], path) &&
			(!name || strcmp(name, floor_entries[floor_roots[k].entry].name) == 0))
			return true;
	return path->absolute && path->n == 0;
}

START_TEST(oracle)
{
	static const char *const names[] = {
		"env", "secret", "deploy", "private-key", "keyring"};
	struct floor *const floor = floor_new(FLOOR_USER);
	const struct floor_world world = {.floor = floor, .home = bytes_of(HOME)};
	unsigned on = 0;
	uint64_t seed = 1;

	for (unsigned i = 0; i < 40000; i++) {
		char path[1024] = "", part[64];
		struct floor_found found = {0};
		struct parts parts;
		struct normal n;
		bool fast, by_name = false;

		if (next_random(&seed) % 3 == 0)
			strcpy(path, next_random(&seed) % 2 ? "/home/u/" : "/");
		for (unsigned k = next_random(&seed) % 4; k < 5; k++) {
			random_part(&seed, part);
			strcat(path, part);
			strcat(path, k < 4 ? "/" : "");
		}
		parts_of(path, &parts);
		ck_assert(path_normal(&world, &n, (struct bytes){NULL, 0}, bytes_of(path)));
		fast = path_guarded(&world, &n, FLOOR_ALL, &found);
		on += fast;
		/* what only a name is on is not in the tables of places */
		for (size_t k = 0; fast && k < sizeof(names) / sizeof(names[0]); k++)
			by_name |= strcmp(found.name, names[k]) == 0;
		if (by_name && !slow_find(&parts, NULL))
			continue;
		ck_assert_msg(fast == slow_find(&parts, NULL), "%s: %s", path,
			fast ? found.name : "not found");
		if (fast && !by_name)
			ck_assert_msg(
				slow_find(&parts, found.name), "%s: %s", path, found.name);
	}
	ck_assert_uint_gt(on, 5000);
	floor_free(floor);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("floor_path");
	TCase *tc = tcase_create("paths");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, places);
	tcase_add_test(tc, env);
	tcase_add_test(tc, keys);
	tcase_add_test(tc, secrets);
	tcase_add_test(tc, spellings);
	tcase_add_test(tc, homes);
	tcase_add_test(tc, collected);
	tcase_add_test(tc, operands);
	tcase_add_test(tc, oracle);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
