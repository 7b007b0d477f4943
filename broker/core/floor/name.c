/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/name.h"

#include "broker/core/floor/entry.h"
#include "broker/core/floor/floor.h"

/* ---- extensions ---- */

enum extension_class {
	EXT_KEY = 1,	 /* holds a key */
	EXT_KEYRING = 2, /* is a password store */
	EXT_DATA = 4,	 /* holds data, for names like secrets.yaml */
	EXT_SOURCE = 8,	 /* speaks about keys, for names like id_rsa_parse.c */
	EXT_BACKUP = 16, /* a name with it is what it would be without it */
	EXT_SAMPLE = 32, /* holds no secret, but shows how one would look */
	EXT_SCRIPT = 64, /* a program that is run as it is */
};

struct extension {
	char text[12];
	uint8_t len;
	uint8_t classes; /* enum extension_class */
};
#define EXT(text, classes)                                                                     \
	{                                                                                      \
		text, sizeof(text) - 1, classes                                                \
	}

/* In the order of their text; all in lower case. */
static const struct extension extensions[] = {
	EXT("age", EXT_DATA),
	EXT("asc", EXT_DATA),
	EXT("backup", EXT_BACKUP),
	EXT("bak", EXT_BACKUP),
	EXT("bash", EXT_SCRIPT),
	EXT("bat", EXT_SCRIPT),
	EXT("c", EXT_SOURCE),
	EXT("cc", EXT_SOURCE),
	EXT("cfg", EXT_DATA),
	EXT("cjs", EXT_SCRIPT),
	EXT("cmd", EXT_SCRIPT),
	EXT("conf", EXT_DATA),
	EXT("config", EXT_DATA),
	EXT("cpp", EXT_SOURCE),
	EXT("cs", EXT_SOURCE),
	EXT("csh", EXT_SCRIPT),
	EXT("css", EXT_SOURCE),
	EXT("csv", EXT_DATA),
	EXT("db", EXT_DATA),
	EXT("dist", EXT_SAMPLE),
	EXT("enc", EXT_DATA),
	EXT("env", EXT_DATA),
	EXT("example", EXT_SAMPLE),
	EXT("fish", EXT_SCRIPT),
	EXT("go", EXT_SOURCE),
	EXT("gpg", EXT_DATA),
	EXT("h", EXT_SOURCE),
	EXT("hpp", EXT_SOURCE),
	EXT("html", EXT_SOURCE),
	EXT("ini", EXT_DATA),
	EXT("java", EXT_SOURCE),
	EXT("jks", EXT_KEY),
	EXT("js", EXT_SOURCE | EXT_SCRIPT),
	EXT("json", EXT_DATA),
	EXT("json5", EXT_DATA),
	EXT("jsonc", EXT_DATA),
	EXT("jsx", EXT_SOURCE),
	EXT("kdb", EXT_KEYRING),
	EXT("kdbx", EXT_KEYRING),
	EXT("key", EXT_KEY | EXT_DATA),
	EXT("keyring", EXT_KEYRING),
	EXT("keystore", EXT_KEY),
	EXT("ksh", EXT_SCRIPT),
	EXT("kt", EXT_SOURCE),
	EXT("local", EXT_DATA),
	EXT("md", EXT_SOURCE),
	EXT("mjs", EXT_SOURCE | EXT_SCRIPT),
	EXT("old", EXT_BACKUP),
	EXT("orig", EXT_BACKUP),
	EXT("p12", EXT_KEY),
	EXT("p8", EXT_KEY),
	EXT("pem", EXT_KEY | EXT_DATA),
	EXT("pfx", EXT_KEY),
	EXT("php", EXT_SOURCE),
	EXT("pl", EXT_SOURCE | EXT_SCRIPT),
	EXT("pm", EXT_SOURCE),
	EXT("ppk", EXT_KEY),
	EXT("properties", EXT_DATA),
	EXT("ps1", EXT_SCRIPT),
	EXT("pub", EXT_SOURCE),
	EXT("py", EXT_SOURCE | EXT_SCRIPT),
	EXT("rb", EXT_SOURCE | EXT_SCRIPT),
	EXT("rs", EXT_SOURCE),
	EXT("rst", EXT_SOURCE),
	EXT("sample", EXT_SAMPLE),
	EXT("save", EXT_BACKUP),
	EXT("scala", EXT_SOURCE),
	EXT("sh", EXT_SOURCE | EXT_SCRIPT),
	EXT("sqlite", EXT_DATA),
	EXT("swift", EXT_SOURCE),
	EXT("swp", EXT_BACKUP),
	EXT("template", EXT_SAMPLE),
	EXT("tfvars", EXT_DATA),
	EXT("tmp", EXT_BACKUP),
	EXT("toml", EXT_DATA),
	EXT("ts", EXT_SOURCE),
	EXT("tsx", EXT_SOURCE),
	EXT("txt", EXT_DATA),
	EXT("xml", EXT_DATA),
	EXT("yaml", EXT_DATA),
	EXT("yml", EXT_DATA),
	EXT("zsh", EXT_SCRIPT),
};
#define N_EXTENSIONS (sizeof(extensions) / sizeof(extensions[0]))

static int extension_compare(const struct extension *e, const char *text, size_t len)
{
	const int c = memcmp(e->text, text, e->len < len ? e->len : len);

	return c ? c : (int)e->len - (int)len;
}

static unsigned extension_classes(struct bytes ext)
{
	size_t low = 0, high = N_EXTENSIONS;

	if (ext.len == 0 || ext.len >= sizeof(extensions[0].text))
		return 0;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		const int c = extension_compare(&extensions[middle], ext.data, ext.len);

		if (c == 0)
			return extensions[middle].classes;
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* A name in its parts: what is before the last dot that is not the first character. */
struct name {
	const char *text;
	size_t len;
	size_t stem;	  /* len where there is no extension */
	unsigned classes; /* of the extension */
};

static struct name name_of(const char *text, size_t len)
{
	struct name n = {text, len, len, 0};

	const char *const dot = len > 1 ? memrchr(text + 1, '.', len - 1) : NULL;

	if (!dot)
		return n;
	n.stem = (size_t)(dot - text);
	n.classes = extension_classes((struct bytes){dot + 1, len - n.stem - 1});
	return n;
}

static bool starts(const struct name *n, const char *start, size_t len)
{
	return n->len >= len && memcmp(n->text, start, len) == 0;
}
#define STARTS(n, start) starts(n, start, sizeof(start) - 1)

/* ---- rules ---- */

static bool is_env(const struct name *n)
{
	if (!STARTS(n, ".env") || (n->len > 4 && n->text[4] != '.'))
		return false;
	return !(n->classes & EXT_SAMPLE);
}

static struct name drop_backup(struct name n)
{
	while (n.len > 1 && n.text[n.len - 1] == '~')
		n = name_of(n.text, n.len - 1);
	return n.classes & EXT_BACKUP ? name_of(n.text, n.stem) : n;
}

static const struct {
	const char *text;
	uint8_t len;
} key_names[] = {{"id_rsa", 6}, {"id_dsa", 6}, {"id_ecdsa", 8}, {"id_ed25519", 10},
	{"id_xmss", 7}, {"id_ed448", 8}};

/* id_rsa, id_rsa_work, id_rsa.old; not id_rsa.pub, id_rsa_parse.c or id_rsamore */
static bool is_key_name(const struct name *n)
{
	if (n->classes & EXT_SOURCE)
		return false;
	if (n->text[0] == 's')
		return STARTS(n, "ssh_host_"); /* the host's own */
	if (!STARTS(n, "id_"))
		return false;
	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++) {
		const size_t len = key_names[i].len;

		if (!starts(n, key_names[i].text, len))
			continue;
		if (n->len == len || (n->text[len] && strchr("_-.+@ ", n->text[len])))
			return true;
	}
	return false;
}

bool name_is_secret_folder(struct bytes name)
{
	static const char *const folders[] = {"secret", "secrets", "credentials"};
	const char *p = name.data;

	if (name.len < 6)
		return false;
	if (*p == '.') {
		name.data = ++p;
		name.len--;
	}
	if (*p != 's' && *p != 'c')
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (bytes_is(name, folders[i]))
			return true;
	return false;
}

/* In one pass, since most names hold neither. */
static bool speaks_of_secrets(const struct name *n)
{
	const char *const end = n->text + n->len;

	for (const char *p = n->text; end - p >= 6; p++) {
		if (*p == 's' && memcmp(p, "secret", 6) == 0)
			return true;
		if (*p == 'c' && end - p >= 10 && memcmp(p, "credential", 10) == 0)
			return true;
	}
	return false;
}

static bool is_secret(const struct name *n, unsigned use, bool in_secrets)
{
	if (n->stem < n->len) {
		if (!(n->classes & EXT_DATA))
			return false;
	} else if (n->text[0] != '.' && (use & (FLOOR_FILE | FLOOR_FOLDER)) != FLOOR_FILE) {
		/* a folder of sources, a branch, a test, a package … */
		return false;
	}
	return in_secrets || speaks_of_secrets(n);
}

static bool is_deploy(const struct name *n)
{
	if (!STARTS(n, "deploy") && !STARTS(n, "release"))
		return false;
	return n->classes & EXT_SCRIPT || (n->len == 6 && n->text[0] == 'd');
}

/* Does a name look like a part of code or of prose rather than like a file's? */
static bool is_phrase(const struct name *n)
{
	for (size_t i = 0; i < n->len; i++) {
		const char c = n->text[i];

		if ((unsigned char)c <= ' ' ? c != 0 : strchr("\"'`()<>;|&", c) != NULL)
			return true;
	}
	return false;
}

/* ---- the whole ---- */

int name_entry(const struct normal *path, unsigned use, uint64_t off, bool in_secrets)
{
	const struct bytes last = normal_component(path, path->n - 1u);
	const struct name whole = name_of(last.data, last.len);
	struct name n;
	int found = ENTRY_NONE;

	if (last.len == 0)
		return ENTRY_NONE;
	n = drop_backup(whole);
	/* .env.old is one, whatever comes before the suffix */
	if ((is_env(&whole) || is_env(&n)) && entry_guards(ENTRY_ENV, use, off))
		return ENTRY_ENV;
	if ((n.classes & EXT_KEY || is_key_name(&n)) &&
		entry_guards(ENTRY_PRIVATE_KEY, use, off))
		found = ENTRY_PRIVATE_KEY;
	else if (n.classes & EXT_KEYRING && entry_guards(ENTRY_KEYRING, use, off))
		found = ENTRY_KEYRING;
	else if (is_secret(&n, use, in_secrets) && entry_guards(ENTRY_SECRET, use, off))
		found = ENTRY_SECRET;
	else if (!(use & FLOOR_FOLDER) && is_deploy(&n) && entry_guards(ENTRY_DEPLOY, use, off))
		found = ENTRY_DEPLOY;
	if (found != ENTRY_NONE && !(use & FLOOR_FILE) && is_phrase(&n))
		return ENTRY_NONE;
	return found;
}

/* ---- for patterns ---- */

static const struct {
	const char *text;
	int entry;
} names[] = {
	{".env", ENTRY_ENV},
	{".env.local", ENTRY_ENV},
	{".env.dev", ENTRY_ENV},
	{".env.development", ENTRY_ENV},
	{".env.test", ENTRY_ENV},
	{".env.staging", ENTRY_ENV},
	{".env.prod", ENTRY_ENV},
	{".env.production", ENTRY_ENV},
	{"id_rsa", ENTRY_PRIVATE_KEY},
	{"id_dsa", ENTRY_PRIVATE_KEY},
	{"id_ecdsa", ENTRY_PRIVATE_KEY},
	{"id_ed25519", ENTRY_PRIVATE_KEY},
	{"secret", ENTRY_SECRET},
	{"secrets", ENTRY_SECRET},
	{"secrets.json", ENTRY_SECRET},
	{"secrets.yaml", ENTRY_SECRET},
	{"secrets.yml", ENTRY_SECRET},
	{"credentials", ENTRY_SECRET},
	{"credentials.json", ENTRY_SECRET},
	{".git-credentials", ENTRY_SECRET},
	{"deploy.sh", ENTRY_DEPLOY},
	{"release.sh", ENTRY_DEPLOY},
};

const char *name_at(unsigned i, int *entry)
{
	if (i >= sizeof(names) / sizeof(names[0]))
		return NULL;
	*entry = names[i].entry;
	return names[i].text;
}

static const struct {
	const char *text;
	int entry;
} suffixes[] = {
	{".pem", ENTRY_PRIVATE_KEY},
	{".key", ENTRY_PRIVATE_KEY},
	{".p12", ENTRY_PRIVATE_KEY},
	{".pfx", ENTRY_PRIVATE_KEY},
	{".jks", ENTRY_PRIVATE_KEY},
	{".kdbx", ENTRY_KEYRING},
};

const char *name_extension_at(unsigned i, int *entry)
{
	if (i >= sizeof(suffixes) / sizeof(suffixes[0]))
		return NULL;
	*entry = suffixes[i].entry;
	return suffixes[i].text;
}

/* ---- for people ---- */

/* What the documentation says of names. */
static const struct {
	const char *text;
	uint8_t entry;
	uint8_t classes;    /* of the extensions that follow */
	const char *before; /* each of them */
} rules[] = {
	{".env and .env.*, but not with one of these extensions:", ENTRY_ENV, EXT_SAMPLE, "."},
	{"id_rsa, id_dsa, id_ecdsa, id_ed25519, id_ed448 and id_xmss, alone or going on after "
	 "one of _ - . + @; and ssh_host_*; but not with one of these extensions:",
		ENTRY_PRIVATE_KEY, EXT_SOURCE, "."},
	{"", ENTRY_PRIVATE_KEY, EXT_KEY, "*."},
	{"", ENTRY_KEYRING, EXT_KEYRING, "*."},
	{"*secret* and *credential*, and what lies in a folder secret, secrets or credentials "
	 "(also with a dot before it), without an extension or with one of these:",
		ENTRY_SECRET, EXT_DATA, "."},
	{"deploy", ENTRY_DEPLOY, 0, ""},
	{"deploy* and release* with one of these extensions:", ENTRY_DEPLOY, EXT_SCRIPT, "."},
};

/* Appends as far as there is room; the length that it would have. */
static size_t put(char *out, size_t size, size_t at, const char *text)
{
	for (; *text; text++, at++)
		if (at < size)
			out[at] = *text;
	return at;
}

size_t name_rule_print(unsigned i, int *entry, char *out, size_t size)
{
	size_t at = 0;

	if (i >= sizeof(rules) / sizeof(rules[0]))
		return 0;
	*entry = rules[i].entry;
	at = put(out, size, at, rules[i].text);
	for (size_t k = 0; k < N_EXTENSIONS; k++) {
		if (!(extensions[k].classes & rules[i].classes))
			continue;
		at = put(out, size, at, at > 0 ? " " : "");
		at = put(out, size, at, rules[i].before);
		at = put(out, size, at, extensions[k].text);
	}
	if (size > 0)
		out[at < size ? at : size - 1] = 0;
	return at;
}
