/* SPDX-License-Identifier: MIT */
#include "broker/core/types.h"

#include "libapproval/limits.h"

#include <errno.h>
#include <stdlib.h>

#define ENUM_TEXT(prefix, name, text) [prefix##_##name] = (text),

static const char *name_of(const char *const *names, unsigned n, unsigned v)
{
	return v < n ? names[v] : "?";
}

static int value_of(const char *const *names, unsigned n, struct bytes name)
{
	for (unsigned i = 0; i < n; i++) {
		if (bytes_is(name, names[i]))
			return (int)i;
	}
	return -EINVAL;
}

#define ENUM_TEXTS(noun, n, list, prefix)                                                      \
	static const char *const noun##_names[n] = {list(ENUM_TEXT, prefix)};
#define ENUM_NAME(noun, n, list, prefix)                                                       \
	ENUM_TEXTS(noun, n, list, prefix)                                                      \
	const char *noun##_name(enum noun v)                                                   \
	{                                                                                      \
		return name_of(noun##_names, n, (unsigned)v);                                  \
	}
#define ENUM_PARSE(noun, n)                                                                    \
	int noun##_parse(struct bytes name)                                                    \
	{                                                                                      \
		return value_of(noun##_names, n, name);                                        \
	}

/* clang-format off */
ENUM_NAME(request_type, REQUEST_TYPE_N, REQUEST_TYPE_LIST, REQUEST_TYPE)
ENUM_NAME(kind, KIND_N, KIND_LIST, KIND)
ENUM_NAME(verdict, VERDICT_N, VERDICT_LIST, VERDICT)
ENUM_NAME(source, SOURCE_N, SOURCE_LIST, SOURCE)
ENUM_NAME(scope, SCOPE_N, SCOPE_LIST, SCOPE)
ENUM_NAME(mode, MODE_N, MODE_LIST, MODE)
ENUM_TEXTS(disconnect, DISCONNECT_N, DISCONNECT_LIST, DISCONNECT)
ENUM_TEXTS(role, ROLE_N, ROLE_LIST, ROLE)
ENUM_NAME(step, STEP_N, STEP_LIST, STEP)
ENUM_NAME(request_state, REQUEST_STATE_N, REQUEST_STATE_LIST, REQUEST)
ENUM_NAME(turn_state, TURN_STATE_N, TURN_STATE_LIST, TURN)
ENUM_NAME(history_event, HISTORY_N, HISTORY_LIST, HISTORY)

ENUM_PARSE(request_type, REQUEST_TYPE_N)
ENUM_PARSE(kind, KIND_N)
ENUM_PARSE(verdict, VERDICT_N)
ENUM_PARSE(source, SOURCE_N)
ENUM_PARSE(scope, SCOPE_N)
ENUM_PARSE(mode, MODE_N)
ENUM_PARSE(disconnect, DISCONNECT_N)
ENUM_PARSE(role, ROLE_N)
ENUM_PARSE(history_event, HISTORY_N)
/* clang-format on */

bool uuid_is_nil(const struct uuid *u)
{
	static const struct uuid nil;

	return uuid_compare(u, &nil) == 0;
}

struct uuid uuid_make(uint64_t unix_ms, const uint8_t random[10])
{
	struct uuid u;

	for (int i = 0; i < 6; i++)
		u.b[i] = (uint8_t)(unix_ms >> (40 - 8 * i));
	memcpy(u.b + 6, random, 10);
	u.b[6] = (uint8_t)(0x70 | (u.b[6] & 0x0f));
	u.b[8] = (uint8_t)(0x80 | (u.b[8] & 0x3f));
	return u;
}

/* A UUID seen as its fields, so that carries skip version and variant. */
struct fields {
	uint64_t ms;	 /* 48 bits */
	uint64_t rand_a; /* 12 bits */
	uint64_t rand_b; /* 62 bits */
};

static struct uuid fields_join(const struct fields *f)
{
	uint8_t random[10] = {(uint8_t)(f->rand_a >> 8), (uint8_t)f->rand_a};

	for (int i = 0; i < 8; i++)
		random[2 + i] = (uint8_t)(f->rand_b >> (56 - 8 * i));
	return uuid_make(f->ms, random);
}

struct uuid uuid_next(const struct uuid *u)
{
	const uint64_t ms_max = (UINT64_C(1) << 48) - 1;
	const uint64_t a_max = (UINT64_C(1) << 12) - 1;
	const uint64_t b_max = (UINT64_C(1) << 62) - 1;
	unsigned version = u->b[6] >> 4, variant = u->b[8] >> 6;
	struct fields f = {0};

	for (int i = 0; i < 6; i++)
		f.ms = f.ms << 8 | u->b[i];
	f.rand_a = (uint64_t)(u->b[6] & 0x0f) << 8 | u->b[7];
	f.rand_b = u->b[8] & 0x3f;
	for (int i = 9; i < 16; i++)
		f.rand_b = f.rand_b << 8 | u->b[i];

	if (version < 7) {
		f.rand_a = f.rand_b = 0;
		return fields_join(&f);
	}
	if (version == 7 && variant < 2) {
		f.rand_b = 0;
		return fields_join(&f);
	}
	if (version == 7 && variant == 2 && f.rand_b < b_max) {
		f.rand_b++;
		return fields_join(&f);
	}
	f.rand_b = 0;
	if (version == 7 && f.rand_a < a_max) {
		f.rand_a++;
		return fields_join(&f);
	}
	f.rand_a = 0;
	if (f.ms < ms_max) {
		f.ms++;
		return fields_join(&f);
	}
	/* the year 10889: there is none above */
	f.rand_a = a_max;
	f.rand_b = b_max;
	return fields_join(&f);
}

static const char *const id_prefixes[] = {
	[ID_SESSION] = "ses_",
	[ID_TURN] = "turn_",
	[ID_REQUEST] = "req_",
};

static bool dash_at(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

void id_format(char out[ID_STRING_SIZE], enum id_type type, const struct uuid *u)
{
	static const char hex[] = "0123456789abcdef";
	size_t prefix = strlen(id_prefixes[type]), nibble = 0;
	char *p = out + prefix;

	memcpy(out, id_prefixes[type], prefix);
	for (size_t i = 0; i < 36; i++) {
		if (dash_at(i)) {
			p[i] = '-';
			continue;
		}
		p[i] = hex[nibble % 2 ? u->b[nibble / 2] & 0x0f : u->b[nibble / 2] >> 4];
		nibble++;
	}
	p[36] = '\0';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int id_parse(enum id_type type, struct bytes text, struct uuid *out)
{
	size_t prefix = strlen(id_prefixes[type]), nibble = 0;
	struct uuid u = {{0}};
	const char *p;

	if (text.len != prefix + 36 || memcmp(text.data, id_prefixes[type], prefix) != 0)
		return -EINVAL;
	p = (const char *)text.data + prefix;
	for (size_t i = 0; i < 36; i++) {
		int v;

		if (dash_at(i)) {
			if (p[i] != '-')
				return -EINVAL;
			continue;
		}
		v = hex_value(p[i]);
		if (v < 0)
			return -EINVAL;
		u.b[nibble / 2] = (uint8_t)(u.b[nibble / 2] << 4 | v);
		nibble++;
	}
	*out = u;
	return 0;
}

struct str *str_new(const void *data, size_t len)
{
	struct str *s;

	if (len > UINT32_MAX - sizeof(*s) - 1)
		return NULL;
	s = malloc(sizeof(*s) + len + 1);
	if (!s)
		return NULL;
	s->refs = 1;
	s->len = (uint32_t)len;
	if (len)
		memcpy(s->data, data, len);
	s->data[len] = '\0';
	return s;
}

struct str *str_ref(struct str *s)
{
	if (s)
		s->refs++;
	return s;
}

struct str *str_unref(struct str *s)
{
	if (s && --s->refs == 0)
		free(s);
	return NULL;
}

/* Absent and empty differ. */
bool str_equal(const struct str *a, struct bytes b)
{
	if (!a || !b.data)
		return !a && !b.data;
	return bytes_equal(str_bytes(a), b);
}

/* ---- records ---- */

static bool text_valid(const struct str *s, size_t max)
{
	return s && s->len > 0 && s->len <= max && !memchr(s->data, '\n', s->len) &&
	       !memchr(s->data, '\0', s->len);
}

bool trust_record_valid(const struct trust_record *r)
{
	static const uint8_t none[sizeof(r->hash)];

	return r->made >= 0 && r->project && r->project->len <= LIMIT_TEXT &&
	       r->project->data[0] == '/' && !memchr(r->project->data, '\0', r->project->len) &&
	       text_valid(r->by, LIMIT_TEXT) && memcmp(r->hash, none, sizeof(none)) != 0;
}

bool rule_record_valid(const struct rule_record *r)
{
	bool owned = r->scope == SCOPE_TURN || r->scope == SCOPE_SESSION;

	/* the store's integers are signed */
	if (r->id == 0 || r->id > INT64_MAX || r->made < 0 || r->expires < 0 ||
		r->matched_at < 0)
		return false;
	if (r->scope <= SCOPE_ONCE || r->scope >= SCOPE_N || owned == uuid_is_nil(&r->owner))
		return false;
	if (r->uid == RULE_UID_ADMIN && r->scope != SCOPE_USER)
		return false;
	if (r->project ? !r->project->len || r->project->len > LIMIT_TEXT
		       : r->scope == SCOPE_PROJECT)
		return false;
	return text_valid(r->text, LIMIT_RULE) && text_valid(r->by, LIMIT_TEXT) &&
	       (!r->origin || text_valid(r->origin, LIMIT_TEXT));
}
