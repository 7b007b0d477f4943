/* SPDX-License-Identifier: MIT */
#include "broker/io/facts.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/floor/path.h"
#include "broker/core/tool.h"
#include "broker/io/command_words.h"
#include "broker/io/patch.h"
#include "libapproval/wire/value.h"

/* The walk over one input. */
struct reader {
	struct facts_draft *d;
	const struct tool *tool;
	uint8_t seen; /* bits (1 << enum tool_role) */
	bool unread;  /* not as the table says */
	bool opaque;  /* it has a field of which the table knows only that it matters */
	bool climbs;  /* a pattern leaves, by "..", the folder that it is below */
	int error;
};

static void add_path(struct facts_draft *d, struct bytes path)
{
	if (path.len > LIMIT_TEXT || d->n_paths == LIMIT_PATHS) {
		d->flags |= FACT_UNRESOLVED | FACT_UNSEEN;
		return;
	}
	d->paths[d->n_paths++] = path;
}

/* ---- texts ---- */

static void read_patch(struct reader *r, struct bytes text)
{
	struct bytes file;
	bool found = false, sure;

	while (patch_next(&text, &file, &sure)) {
		found = true;
		if (!sure)
			r->d->flags |= FACT_UNRESOLVED;
		add_path(r->d, file);
	}
	if (!found)
		r->unread = true;
}

static bool holds(struct bytes text, const char *characters)
{
	const char *const p = text.data;

	for (size_t i = 0; i < text.len; i++)
		if (p[i] && strchr(characters, p[i]))
			return true;
	return false;
}

static bool has_up(struct bytes text)
{
	const char *p = text.data;
	const char *const end = p + text.len;

	while (p < end) {
		const char *const slash = memchr(p, '/', (size_t)(end - p));
		const char *const stop = slash ? slash : end;

		if (stop - p == 2 && p[0] == '.' && p[1] == '.')
			return true;
		p = slash ? slash + 1 : end;
	}
	return false;
}

/* Could groups or escapes make a ".." or an absolute path that is not there in plain text? */
static bool is_tricky(struct bytes text)
{
	const char *const p = text.data;
	char kept = 0, before = 0;

	if (!holds(text, "{[(\\"))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		const char c = p[i];

		if (c == '/' && before && strchr("{[(,|\\", before))
			return true;
		before = c;
		if (c && strchr("{}[](),|\\!@+?", c))
			continue;
		if (c == '.' && kept == '.')
			return true;
		kept = c;
	}
	return false;
}

static void read_pattern(struct reader *r, struct bytes text)
{
	struct facts_draft *d = r->d;
	const char *const p = text.data;

	/* what it chooses is looked at as a path, so that the floor is asked about it */
	if (path_protected(text, d->in.home))
		add_path(d, text);
	if (text.len > 0 && (*p == '/' || *p == '~')) {
		add_path(d, text);
	} else if (has_up(text)) {
		r->climbs = true;
		add_path(d, text);
	}
	if (is_tricky(text))
		d->flags |= FACT_UNRESOLVED;
}

/* ---- fields ---- */

static void read_text(struct reader *r, enum tool_role role, struct bytes text)
{
	struct facts_draft *d = r->d;

	switch (role) {
	case TOOL_COMMAND: d->command = text; break;
	case TOOL_PATH: add_path(d, text); break;
	case TOOL_FILES:
		if (holds(text, "*?[{(\\"))
			d->flags |= FACT_UNRESOLVED;
		add_path(d, text);
		break;
	case TOOL_PATTERN: read_pattern(r, text); break;
	case TOOL_PATCH: read_patch(r, text); break;
	case TOOL_URL: d->url = text; break;
	case TOOL_OPAQUE: break;
	}
}

static void read_words(struct reader *r, struct bytes array)
{
	struct facts_draft *d = r->d;
	const int rc = command_join(array, &d->text, &d->command);

	if (rc == -ENOMEM)
		r->error = rc;
	else if (rc < 0)
		r->unread = true;
}

static void read_list(struct reader *r, enum tool_role role, struct bytes array)
{
	struct wire_iter it;
	struct bytes element, text;

	if (wire_iter_array(&it, array)) {
		r->unread = true;
		return;
	}
	while (wire_array_next(&it, &element)) {
		if (wire_text(element, &text)) {
			r->unread = true;
			return;
		}
		/* the rest would be dropped one by one */
		if (r->d->n_paths == LIMIT_PATHS) {
			r->d->flags |= FACT_UNRESOLVED | FACT_UNSEEN;
			return;
		}
		read_text(r, role, text);
	}
	if (it.left > 0)
		r->unread = true;
}

static void read_field(struct reader *r, enum tool_role role, struct bytes value)
{
	const bool many = role == TOOL_PATH || role == TOOL_FILES || role == TOOL_PATTERN;
	struct bytes cursor = value, text;
	struct wire_value v;

	if (wire_read(&cursor, &v) == 0 && v.kind == WIRE_KIND_NIL)
		return; /* as good as absent */
	if (role == TOOL_OPAQUE) {
		r->opaque = true;
		return;
	}
	/* which of two it runs is not known */
	if (!many && r->seen & 1u << role) {
		r->unread = true;
		return;
	}
	r->seen |= (uint8_t)(1u << role);
	if (wire_text(value, &text) == 0)
		read_text(r, role, text);
	else if (role == TOOL_COMMAND)
		read_words(r, value);
	else if (many)
		read_list(r, role, value);
	else
		r->unread = true;
}

static void read_map(struct reader *r)
{
	struct bytes key, value, name;
	struct wire_iter it;

	if (wire_iter_map(&it, r->d->in.input)) {
		r->unread = true;
		return;
	}
	while (wire_map_next(&it, &key, &value)) {
		const struct tool_field *f;

		if (wire_text(key, &name))
			continue;
		f = tool_field_find(r->tool, name);
		if (f)
			read_field(r, (enum tool_role)f->role, value);
	}
	if (it.left > 0)
		r->unread = true;
}

static void read_input(struct reader *r)
{
	struct facts_draft *d = r->d;
	struct bytes text;

	if (r->tool->fields->len == 0)
		return;
	if (r->tool->needs & 1u << TOOL_PATCH && wire_text(d->in.input, &text) == 0) {
		/* a free-form tool has no map around its text */
		r->seen |= 1u << TOOL_PATCH;
		read_patch(r, text);
	} else {
		read_map(r);
	}
	if (r->tool->needs & ~r->seen)
		r->unread = true;
	if (r->tool->flags & TOOL_CWD && !(r->seen & 1u << TOOL_PATH)) {
		if (d->in.cwd.len > 0)
			add_path(d, d->in.cwd);
		else
			d->flags |= FACT_UNRESOLVED;
	} else if (r->climbs) {
		/* it is below the path given, not below cwd */
		d->flags |= FACT_UNRESOLVED;
	}
	if (r->unread)
		d->flags |= FACT_UNREAD;
	if (r->unread || r->opaque) {
		d->flags |= FACT_UNRESOLVED;
		d->mutating = true;
	}
}

/* ---- claims ---- */

static void apply_claims(struct facts_draft *d)
{
	if (d->in.claimed_kind >= 0) {
		const enum kind claimed = (enum kind)d->in.claimed_kind;
		const enum kind own = d->kind;

		d->kind = kind_tighten(own, claimed);
		if (d->kind != own)
			d->flags |= FACT_UNRESOLVED;
		/* what the table says as well tells nothing of this very call */
		if (claimed != own && kind_mutates(claimed)) {
			d->mutating = true;
			d->flags |= FACT_SAID_MUTATING;
		}
	}
	if (d->in.claimed_mutating) {
		d->mutating = true;
		d->flags |= FACT_SAID_MUTATING;
	}
	if (d->mutating || d->flags & FACT_UNRESOLVED)
		d->flags &= (uint8_t)~FACT_HARMLESS;
}

/* What its command names. Of those that don't fit the judge finds out itself. */
static void add_operands(struct judge *judge, struct facts_draft *d)
{
	struct judge_operands operands;

	judge_operands(
		judge, d->command, d->in.cwd, d->in.home, d->in.workspace, &operands);
	for (unsigned i = 0; i < operands.n; i++)
		d->paths[d->n_paths++] = operands.items[i].path;
	if (!operands.all)
		d->flags |= FACT_UNSEEN;
}

int facts_collect(
	struct judge *judge, const struct facts_input *in, struct facts_draft *draft)
{
	struct reader r = {.d = draft};

	memset(draft, 0, sizeof(*draft));
	draft->in = *in;
	draft->kind = KIND_OTHER;
	draft->mutating = true;
	if (in->type != REQUEST_TYPE_TOOL_CALL) {
		/* asking a person changes nothing, more rights do */
		draft->mutating = in->claimed_mutating || in->type == REQUEST_TYPE_PERMISSIONS;
		return 0;
	}
	r.tool = tool_find(in->tool);
	if (r.tool) {
		draft->kind = (enum kind)r.tool->kind;
		draft->mutating = r.tool->flags & TOOL_MUTATES;
		if (r.tool->flags & TOOL_HARMLESS)
			draft->flags |= FACT_HARMLESS;
		read_input(&r);
	}
	apply_claims(draft);
	draft->n_own = draft->n_paths;
	if (r.error == 0 && judge && draft->command.data)
		add_operands(judge, draft);
	return r.error;
}

void facts_release(struct facts_draft *draft)
{
	free(draft->text);
	draft->text = NULL;
}

/* ---- after the resolver ---- */

static void hash_number(struct sha256_ctx *c, size_t n)
{
	const uint8_t b[4] = {
		(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};

	sha256_update(c, sizeof(b), b);
}

/* With its length before it, so that no two lists of values give the same bytes. */
static void hash_bytes(struct sha256_ctx *c, struct bytes b)
{
	hash_number(c, b.len);
	sha256_update(c, b.len, b.data);
}

static void hash_path(struct sha256_ctx *c, const struct str *path)
{
	if (path)
		hash_bytes(c, str_bytes(path));
	else
		hash_number(c, UINT32_MAX); /* no length that a path can have */
}

/* What a decision names: all that decides what the call would do. */
static void make_digest(const struct facts_draft *d, const uint8_t input[SHA256_DIGEST_SIZE],
	const struct request_path *paths, unsigned n, uint8_t out[SHA256_DIGEST_SIZE])
{
	struct sha256_ctx c;

	sha256_init(&c);
	hash_bytes(&c, bytes_of("approvald call 1"));
	hash_bytes(&c, bytes_of(request_type_name(d->in.type)));
	hash_bytes(&c, bytes_of(kind_name(d->kind)));
	hash_bytes(&c, d->in.tool);
	hash_bytes(&c, (struct bytes){input, SHA256_DIGEST_SIZE});
	hash_bytes(&c, d->in.cwd);
	hash_number(&c, n);
	for (unsigned i = 0; i < n; i++)
		hash_path(&c, paths[i].resolved);
	sha256_digest(&c, SHA256_DIGEST_SIZE, out);
}

/*
 * By what a call counts as the same one tried again. A search is not the same for
 * being in the same folder, and what was not read whole only by all of it.
 */
static void make_signature(const struct facts_draft *d, const uint8_t input[SHA256_DIGEST_SIZE],
	const struct request_path *paths, unsigned n, uint8_t out[16])
{
	const bool whole = !(d->flags & FACT_UNRESOLVED);
	struct sha256_ctx c;

	sha256_init(&c);
	hash_bytes(&c, d->in.tool);
	hash_bytes(&c, d->in.cwd);
	if (whole && d->command.data) {
		hash_bytes(&c, bytes_of("command"));
		hash_bytes(&c, d->command);
	} else if (whole && d->url.data) {
		hash_bytes(&c, bytes_of("url"));
		hash_bytes(&c, d->url);
	} else if (whole && n > 0 && d->kind != KIND_SEARCH) {
		hash_bytes(&c, bytes_of("paths"));
		for (unsigned i = 0; i < n; i++)
			hash_path(&c, paths[i].resolved ? paths[i].resolved : paths[i].given);
	} else {
		hash_bytes(&c, bytes_of("input"));
		sha256_update(&c, SHA256_DIGEST_SIZE, input);
	}
	sha256_digest(&c, 16, out);
}

int facts_finish(const struct facts_draft *draft, const struct request_path *paths, unsigned n,
	struct facts *out)
{
	uint8_t input[SHA256_DIGEST_SIZE];
	const unsigned own = n < draft->n_own ? n : draft->n_own;
	bool inside = own > 0 && draft->in.workspace.len > 0;
	struct sha256_ctx c;

	*out = (struct facts){.kind = draft->kind,
		.mutating = draft->mutating,
		.flags = draft->flags,
		.command = draft->command,
		.url = draft->url,
		.paths = paths,
		.n_paths = own,
		.n_operands = n - own};
	if (n != draft->n_paths)
		out->flags |= FACT_UNRESOLVED;
	for (unsigned i = 0; i < own; i++) {
		if (!paths[i].resolved)
			out->flags |= FACT_UNRESOLVED;
		if (!paths[i].inside)
			inside = false;
	}
	if (inside && !(out->flags & FACT_UNRESOLVED))
		out->flags |= FACT_INSIDE;

	sha256_init(&c);
	sha256_update(&c, draft->in.input.len, draft->in.input.data);
	sha256_digest(&c, sizeof(input), input);
	memcpy(out->input_hash, input, sizeof(out->input_hash));
	make_digest(draft, input, paths, own, out->digest);
	make_signature(draft, input, paths, own, out->signature);
	return 0;
}

void facts_input_hash(struct bytes input, uint8_t out[16])
{
	struct sha256_ctx c;

	sha256_init(&c);
	sha256_update(&c, input.len, input.data);
	sha256_digest(&c, 16, out);
}
