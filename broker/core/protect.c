/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "broker/core/protect.h"

#include <stdbool.h>
#include <stdint.h>

#include "libapproval/limits.h"

/* What stands in a table is in lower case, as is the path by the time it is compared. */

enum place_flag {
	PLACE_TREE = 0, /* the folder or file, and all below it */
	PLACE_HOME =
		1, /* only directly below home (or "~"); anywhere while home is not known */
	PLACE_ROOT = 2,	  /* only at the root */
	PLACE_EXACT = 4,  /* nothing below it */
	PLACE_PREFIX = 8, /* the last component may go on */
};

/* One or more whole components, wherever they stand in a path. */
struct place {
	const char *name; /* of the entry */
	const char *path;
	uint8_t flags;
};

static const struct place places[] = {
	{"ssh", ".ssh"},
	{"gnupg", ".gnupg"},
	{"gnupg", "run/user/*/gnupg", PLACE_ROOT},
	{"gnupg", ".password-store"},
	/* clouds and clusters */
	{"cloud", ".aws"},
	{"cloud", ".azure"},
	{"cloud", ".oci"},
	{"cloud", ".boto", PLACE_EXACT},
	{"cloud", ".s3cfg", PLACE_EXACT},
	{"cloud", ".config/gcloud"},
	{"cloud", ".config/gh"},
	{"cloud", ".config/hub"},
	{"cloud", ".config/glab-cli"},
	{"cloud", ".config/doctl"},
	{"cloud", ".config/hcloud"},
	{"cloud", ".config/op"},
	{"cloud", ".config/rclone"},
	{"cloud", ".config/sops"},
	{"cloud", ".terraformrc", PLACE_EXACT},
	{"cloud", ".vault-token", PLACE_EXACT},
	{"cluster", ".kube"},
	{"cluster", "etc/kubernetes", PLACE_ROOT},
	{"cluster", "etc/rancher", PLACE_ROOT},
	{"cluster", "var/lib/kubelet", PLACE_ROOT},
	{"cluster", "run/secrets", PLACE_ROOT},
	{"cluster", "var/run/secrets", PLACE_ROOT},
	/* logins kept in files */
	{"netrc", ".netrc", PLACE_EXACT},
	{"netrc", "_netrc", PLACE_EXACT},
	{"netrc", ".authinfo", PLACE_EXACT | PLACE_PREFIX},
	{"pgpass", ".pgpass", PLACE_EXACT},
	{"pgpass", ".pg_service.conf", PLACE_EXACT},
	{"docker", ".docker/config.json", PLACE_EXACT},
	{"docker", ".docker", PLACE_HOME},
	{"docker", ".dockercfg", PLACE_EXACT},
	{"docker", ".dockerconfigjson", PLACE_EXACT},
	{"docker", "containers/auth.json", PLACE_EXACT},
	{"npm", ".npmrc", PLACE_EXACT},
	{"npm", ".yarnrc", PLACE_HOME | PLACE_EXACT},
	{"npm", ".yarnrc.yml", PLACE_HOME | PLACE_EXACT},
	{"pypi", ".pypirc", PLACE_EXACT},
	/* browsers */
	{"browser", ".mozilla"},
	{"browser", ".thunderbird"},
	{"browser", ".librewolf"},
	{"browser", ".config/google-chrome", PLACE_PREFIX},
	{"browser", ".config/chromium", PLACE_PREFIX},
	{"browser", ".config/bravesoftware"},
	{"browser", ".config/microsoft-edge", PLACE_PREFIX},
	{"browser", ".config/vivaldi", PLACE_PREFIX},
	{"browser", ".config/opera", PLACE_PREFIX},
	{"browser", ".config/mozilla"},
	{"browser", ".var/app/org.mozilla.", PLACE_PREFIX},
	{"browser", ".var/app/com.google.chrome", PLACE_PREFIX},
	{"browser", ".var/app/org.chromium.", PLACE_PREFIX},
	{"browser", ".var/app/com.brave.browser", PLACE_PREFIX},
	{"browser", "snap/firefox", PLACE_HOME},
	{"browser", "snap/chromium", PLACE_HOME},
	{"browser", "snap/brave", PLACE_HOME},
	/* keyrings */
	{"keyring", ".local/share/keyrings"},
	{"keyring", ".local/share/kwalletd"},
	{"keyring", ".gnome2/keyrings"},
	{"keyring", ".kde/share/apps/kwallet"},
	{"keyring", "library/keychains"},
	{"keyring", "run/user/*/keyring", PLACE_ROOT},
	{"private-key", "etc/ssl/private", PLACE_ROOT},
	{"private-key", "etc/letsencrypt", PLACE_ROOT},
	{"private-key", "etc/wireguard", PLACE_ROOT},
};

static const char *const env_samples[] = {"example", "sample", "template", "dist", NULL};

/* A name with one more of these is what it would be without it. */
static const char *const backups[] = {
	"bak", "backup", "old", "orig", "save", "swp", "tmp", NULL};

static const char *const key_extensions[] = {
	"pem", "key", "p12", "pfx", "jks", "keystore", "ppk", "p8", NULL};

static const char *const keyring_extensions[] = {"kdbx", "kdb", "keyring", NULL};

/* of files that hold data, for names like secrets.yaml */
static const char *const data_extensions[] = {"json", "jsonc", "json5", "yaml", "yml", "toml",
	"ini", "txt", "key", "pem", "xml", "conf", "cfg", "config", "properties", "env", "csv",
	"tfvars", "db", "sqlite", "gpg", "asc", "enc", "age", "local", NULL};

/* of files that speak about keys, for names like id_rsa_parse.c */
static const char *const source_extensions[] = {"pub", "c", "h", "cc", "cpp", "hpp", "cs", "go",
	"rs", "py", "rb", "js", "mjs", "ts", "jsx", "tsx", "java", "kt", "scala", "swift",
	"php", "pl", "pm", "sh", "md", "rst", "html", "css", NULL};

static const char *const key_names[] = {
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss", "id_ed448", NULL};

static const char *const secret_folders[] = {
	"secret", "secrets", ".secret", ".secrets", "credentials", ".credentials", NULL};

static bool in_list(struct bytes text, const char *const *list)
{
	if (text.len == 0)
		return false;
	for (; *list; list++)
		if (**list == *(const char *)text.data && bytes_is(text, *list))
			return true;
	return false;
}

static bool starts_with(struct bytes text, const char *start)
{
	const size_t n = strlen(start);

	return text.len >= n && memcmp(text.data, start, n) == 0;
}

static bool contains(struct bytes text, const char *part)
{
	return memmem(text.data, text.len, part, strlen(part)) != NULL;
}

/* ---- the path, made normal and lower by its text alone ---- */

struct normal {
	char text[LIMIT_TEXT + 1];
	size_t len;
	bool absolute; /* text has no leading slash, only slashes between components */
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static void drop_last(struct normal *n)
{
	while (n->len > 0 && n->text[n->len - 1] != '/')
		n->len--;
	if (n->len > 0)
		n->len--;
}

static bool last_is_up(const struct normal *n)
{
	return (n->len == 2 || (n->len > 2 && n->text[n->len - 3] == '/')) &&
	       n->text[n->len - 1] == '.' && n->text[n->len - 2] == '.';
}

static void add_component(struct normal *n, const char *p, size_t len)
{
	if (len == 0 || (len == 1 && p[0] == '.'))
		return;
	if (len == 2 && p[0] == '.' && p[1] == '.') {
		if (n->len > 0 && !last_is_up(n)) {
			drop_last(n);
			return;
		}
		if (n->absolute)
			return;
	}
	if (n->len > 0)
		n->text[n->len++] = '/';
	for (size_t i = 0; i < len; i++)
		n->text[n->len++] = lower(p[i]);
}

/* false: too long */
static bool normalise(struct normal *n, struct bytes path)
{
	const char *p = path.data;
	const char *const end = p + path.len;

	n->len = 0;
	if (path.len > LIMIT_TEXT)
		return false;
	n->absolute = path.len > 0 && *p == '/';
	while (p < end) {
		const char *slash = memchr(p, '/', (size_t)(end - p));

		if (!slash)
			slash = end;
		add_component(n, p, (size_t)(slash - p));
		p = slash < end ? slash + 1 : end;
	}
	return true;
}

/* ---- entries by place ---- */

/*
 * Does the path, from `at` on, begin with the place's components? *rest is what
 * comes after them, 0 at the end of the path.
 */
static bool place_matches(const struct place *e, const char *at, const char *end)
{
	const char *want = e->path;

	while (*want) {
		if (*want == '*') { /* one whole component */
			while (at < end && *at != '/')
				at++;
			want++;
			continue;
		}
		if (at == end || *at != *want)
			return false;
		at++;
		want++;
	}
	if (e->flags & PLACE_PREFIX)
		while (at < end && *at != '/')
			at++;
	return at == end || (*at == '/' && !(e->flags & PLACE_EXACT));
}

/* Where what is below home begins: NULL when the path is not below it. */
static const char *below_home(const struct normal *n, struct bytes home)
{
	struct normal h;

	if (n->len >= 2 && memcmp(n->text, "~/", 2) == 0)
		return n->text + 2;
	if (!n->absolute || !normalise(&h, home) || !h.absolute)
		return NULL;
	if (n->len <= h.len || memcmp(n->text, h.text, h.len) != 0)
		return NULL;
	if (h.len == 0)
		return n->text;
	return n->text[h.len] == '/' ? n->text + h.len + 1 : NULL;
}

static const char *match_places(const struct normal *n, struct bytes home)
{
	const char *const end = n->text + n->len;
	const char *const in_home = below_home(n, home);
	const bool home_known = home.len > 0;

	for (const char *at = n->text; at < end;) {
		const char *slash = memchr(at, '/', (size_t)(end - at));

		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			const struct place *e = &places[i];

			if (*at != e->path[0])
				continue;
			if (e->flags & PLACE_ROOT && !(n->absolute && at == n->text))
				continue;
			if (e->flags & PLACE_HOME && home_known && at != in_home)
				continue;
			if (place_matches(e, at, end))
				return e->name;
		}
		if (!slash)
			break;
		at = slash + 1;
	}
	return NULL;
}

/* ---- entries by the file's name ---- */

/* Takes the part after the last dot (that is not the first character) off the name. */
static struct bytes take_extension(struct bytes *name)
{
	const char *const p = name->data;

	for (size_t i = name->len; i-- > 1;)
		if (p[i] == '.') {
			const struct bytes ext = {p + i + 1, name->len - i - 1};

			name->len = i;
			return ext;
		}
	return (struct bytes){p + name->len, 0};
}

static void drop_backup(struct bytes *name)
{
	struct bytes stem;

	while (name->len > 1 && ((const char *)name->data)[name->len - 1] == '~')
		name->len--;
	stem = *name;
	if (in_list(take_extension(&stem), backups) && stem.len > 0)
		*name = stem;
}

static bool is_env(struct bytes name)
{
	if (!starts_with(name, ".env") || (name.len > 4 && ((const char *)name.data)[4] != '.'))
		return false;
	return !in_list(take_extension(&name), env_samples);
}

/* id_rsa, id_rsa_work, id_rsa.old; not id_rsa.pub, id_rsa_parse.c or id_rsamore */
static bool is_key_name(struct bytes name)
{
	const struct bytes whole = name;

	if (!starts_with(whole, "id_") && !starts_with(whole, "ssh_host_"))
		return false;
	if (in_list(take_extension(&name), source_extensions))
		return false;
	for (const char *const *k = key_names; *k; k++) {
		const size_t n = strlen(*k);

		if (!starts_with(whole, *k))
			continue;
		if (whole.len == n || strchr("_-.+@ ", ((const char *)whole.data)[n]))
			return true;
	}
	/* the host's own */
	return starts_with(whole, "ssh_host_");
}

static bool is_secret_name(struct bytes name, struct bytes folder)
{
	struct bytes stem = name;
	const struct bytes ext = take_extension(&stem);

	if (ext.len > 0 && !in_list(ext, data_extensions))
		return false;
	return contains(name, "secret") || contains(name, "credential") ||
	       in_list(folder, secret_folders);
}

static const char *match_name(const struct normal *n)
{
	const char *const slash = memrchr(n->text, '/', n->len);
	struct bytes folder = {NULL, 0}, name = {n->text, n->len}, stem;
	struct bytes ext;

	if (slash) {
		const char *const before = memrchr(n->text, '/', (size_t)(slash - n->text));
		const char *const start = before ? before + 1 : n->text;

		folder = (struct bytes){start, (size_t)(slash - start)};
		name = (struct bytes){slash + 1, n->len - (size_t)(slash + 1 - n->text)};
	}
	if (is_env(name)) /* .env.old is one, whatever comes before the suffix */
		return "env";
	drop_backup(&name);
	if (is_env(name))
		return "env";
	stem = name;
	ext = take_extension(&stem);
	if (in_list(ext, key_extensions) || is_key_name(name))
		return "private-key";
	if (in_list(ext, keyring_extensions))
		return "keyring";
	if (is_secret_name(name, folder))
		return "secret";
	return NULL;
}

const char *path_protected(struct bytes path, struct bytes home)
{
	struct normal n;
	const char *name;

	if (!normalise(&n, path))
		return "unreadable";
	if (n.len == 0)
		return NULL;
	name = match_places(&n, home);
	return name ? name : match_name(&n);
}
