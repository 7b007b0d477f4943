/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/form.h"

#include "broker/core/floor/normal.h"
#include "broker/core/floor/place.h"

typedef bool form_fn(const struct shell_command *c, const struct shell_word **word);

static bool starts(struct bytes text, const char *start)
{
	const size_t n = strlen(start);

	return text.len >= n && memcmp(text.data, start, n) == 0;
}

static bool always(const struct shell_command *c, const struct shell_word **word)
{
	*word = c->words;
	return true;
}

/* ---- git push ---- */

/* Long options may be shortened as far as they are not mistaken for others. */
static bool is_long_force(struct bytes word)
{
	static const struct {
		const char *name;
		size_t least; /* characters that it takes to be known */
	} options[] = {{"--force", 6}, {"--force-with-lease", 8}, {"--force-if-includes", 8},
		{"--mirror", 4}, {"--delete", 5}, {"--prune", 6}};
	const char *const equal = memchr(word.data, '=', word.len);

	if (equal)
		word.len = (size_t)(equal - (const char *)word.data);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (word.len >= options[i].least && word.len <= strlen(options[i].name) &&
			memcmp(word.data, options[i].name, word.len) == 0)
			return true;
	return false;
}

static bool is_short_force(struct bytes word)
{
	const char *const p = word.data;

	for (size_t i = 1; i < word.len && p[i] != 'o'; i++)
		if (p[i] == 'f' || p[i] == 'd')
			return true;
	return false;
}

/* +ref, and :ref, which deletes it; a lone colon is a way to say "all that match". */
static bool is_forced_ref(struct bytes word)
{
	const char first = word.len ? *(const char *)word.data : 0;

	return word.len > 1 && (first == '+' || first == ':');
}

static bool is_push(const struct shell_command *c, uint32_t *k)
{
	struct shell_args args;
	struct shell_arg arg;

	shell_args_begin(&args, c->words, c->nwords);
	while (shell_args_next(&args, &arg)) {
		if (arg.kind != SHELL_ARG_SUBCOMMAND)
			continue;
		*k = (uint32_t)(arg.word - c->words) + 1;
		return bytes_is(arg.value, "push") || bytes_is(arg.value, "send-pack");
	}
	return false;
}

static bool force_push(const struct shell_command *c, const struct shell_word **word)
{
	bool options = true;
	uint32_t k;

	if (!is_push(c, &k))
		return false;
	for (; k < c->nwords; k++) {
		const struct bytes text = c->words[k].text;

		*word = &c->words[k];
		if (options && bytes_is(text, "--"))
			options = false;
		else if (options && starts(text, "--") && is_long_force(text))
			return true;
		else if (options && starts(text, "-") && !starts(text, "--")) {
			if (is_short_force(text))
				return true;
			k += bytes_is(text, "-o");
		} else if (is_forced_ref(text)) {
			return true;
		}
	}
	return false;
}

/* ---- chmod ---- */

static bool is_octal(struct bytes mode)
{
	const char *const p = mode.data;

	for (size_t i = 0; i < mode.len; i++)
		if (p[i] < '0' || p[i] > '7')
			return false;
	return mode.len > 0 && mode.len <= 5;
}

static unsigned octal_value(struct bytes mode)
{
	unsigned v = 0;

	for (size_t i = 0; i < mode.len; i++)
		v = v * 8 + (unsigned)(((const char *)mode.data)[i] - '0');
	return v;
}

/* Does a clause such as ugo+rwx give this permission to one of these? */
static bool clause_gives(struct bytes clause, const char *who, char permission)
{
	const char *const p = clause.data;
	bool for_them = false, gives = false;
	size_t i = 0;

	for (; i < clause.len && p[i] && strchr("ugoa", p[i]); i++)
		for_them |= strchr(who, p[i]) != NULL;
	/* nobody named is everybody, as far as umask lets; that matters for s alone */
	if (i == 0)
		for_them = permission == 's';
	for (; i < clause.len; i++) {
		if (p[i] == '+' || p[i] == '=' || p[i] == '-')
			gives = p[i] != '-';
		else if (p[i] == permission && gives && for_them)
			return true;
	}
	return false;
}

static bool mode_gives(struct bytes mode, unsigned bit, const char *who, char permission)
{
	const char *p = mode.data;
	const char *const end = p + mode.len;

	if (is_octal(mode))
		return octal_value(mode) & bit;
	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));

		if (!comma)
			comma = end;
		if (clause_gives((struct bytes){p, (size_t)(comma - p)}, who, permission))
			return true;
		p = comma + 1;
	}
	return false;
}

/* The mode of chmod, or of install -m. */
static const struct shell_word *mode_of(const struct shell_command *c)
{
	const bool install = bytes_is(shell_name(c), "install");

	for (uint32_t k = 1; k < c->nwords; k++) {
		const struct bytes text = c->words[k].text;
		const char *const p = text.data;

		if (install) {
			if (starts(text, "-") && !starts(text, "--") &&
				p[text.len - 1] == 'm' && k + 1 < c->nwords)
				return &c->words[k + 1];
			continue;
		}
		if (starts(text, "--"))
			continue;
		/* -w takes a permission away, -R is an option */
		if (text.len > 1 && *p == '-' && strchr("Rvcfh", p[1]))
			continue;
		return &c->words[k];
	}
	return NULL;
}

static bool is_recursive(const struct shell_command *c)
{
	struct shell_args args;
	struct shell_arg arg;

	shell_args_begin(&args, c->words, c->nwords);
	while (shell_args_next(&args, &arg))
		if (arg.kind == SHELL_ARG_OPTION && bytes_is(arg.name, "R"))
			return true;
	return false;
}

static bool world_writable(const struct shell_command *c, const struct shell_word **word)
{
	*word = mode_of(c);
	return *word && is_recursive(c) && mode_gives((*word)->text, 02, "oa", 'w');
}

static bool gives_setuid(const struct shell_command *c, const struct shell_word **word)
{
	*word = mode_of(c);
	return *word && mode_gives((*word)->text, 04000, "ua", 's');
}

/* ---- dd ---- */

static bool dd_device(const struct shell_command *c, const struct shell_word **word)
{
	for (uint32_t k = 1; k < c->nwords; k++) {
		const struct bytes text = c->words[k].text;
		struct normal n;

		*word = &c->words[k];
		if (!starts(text, "of=") ||
			!normal_make(
				&n, (struct bytes){(const char *)text.data + 3, text.len - 3}))
			continue;
		if (n.absolute && n.n > 1 && bytes_is(normal_component(&n, 0), "dev") &&
			!place_is_plain_device(normal_component(&n, 1)))
			return true;
	}
	return false;
}

/* ---- the table ---- */

#define FORM(name, is, entry)                                                                  \
	{                                                                                      \
		name, sizeof(name) - 1, entry, is                                              \
	}

static const struct {
	char name[10];
	uint8_t len;
	uint8_t entry;
	form_fn *is;
} forms[] = {
	FORM("sudo", always, ENTRY_PRIVILEGE),
	FORM("doas", always, ENTRY_PRIVILEGE),
	FORM("su", always, ENTRY_PRIVILEGE),
	FORM("pkexec", always, ENTRY_PRIVILEGE),
	FORM("sudoedit", always, ENTRY_PRIVILEGE),
	FORM("runuser", always, ENTRY_PRIVILEGE),
	FORM("run0", always, ENTRY_PRIVILEGE),
	FORM("git", force_push, ENTRY_FORCE_PUSH),
	FORM("chmod", world_writable, ENTRY_WORLD_WRITABLE),
	FORM("chmod", gives_setuid, ENTRY_SETUID),
	FORM("install", gives_setuid, ENTRY_SETUID),
	FORM("crontab", always, ENTRY_CRONTAB),
	FORM("dd", dd_device, ENTRY_DD),
	FORM("mkfs", always, ENTRY_MKFS),
	FORM("mke2fs", always, ENTRY_MKFS),
};

static bool is_named(struct bytes name, size_t i)
{
	if (forms[i].entry == ENTRY_MKFS && starts(name, "mkfs."))
		return true;
	return name.len == forms[i].len && memcmp(name.data, forms[i].name, name.len) == 0;
}

int form_entry(const struct shell_command *c, uint64_t off, const struct shell_word **word)
{
	const struct bytes name = shell_name(c);

	if (name.len == 0 || c->flags & SHELL_KEYWORD)
		return ENTRY_NONE;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (is_named(name, i) && !(off >> forms[i].entry & 1) && forms[i].is(c, word))
			return forms[i].entry;
	return ENTRY_NONE;
}

const char *form_at(unsigned i, int *entry)
{
	if (i >= sizeof(forms) / sizeof(forms[0]))
		return NULL;
	*entry = forms[i].entry;
	return forms[i].name;
}
