/* SPDX-License-Identifier: MIT */
#include "tests/unit/store_fixture.h"

#include <stdlib.h>

struct uuid test_id(unsigned n)
{
	uint8_t random[10] = {0};

	random[8] = (uint8_t)(n >> 8);
	random[9] = (uint8_t)n;
	return uuid_make(UINT64_C(1700000000000) + n, random);
}

/* Hostile bytes included: quotes, NUL, no UTF-8. */
static struct str *text(const char *name, unsigned seed, bool full)
{
	char buffer[128];
	int len;

	if (!full)
		return seed % 2 ? str_new("", 0) : NULL;
	len = snprintf(buffer, sizeof(buffer), "%s-%u '\";--%c\xff\xc3(", name, seed, '\0');
	return str_new(buffer, (size_t)len);
}

struct session_record test_session(unsigned id, unsigned seed, bool full)
{
	return (struct session_record){
		.id = test_id(id),
		.parent = full ? test_id(id + 1000) : (struct uuid){{0}},
		.parent_turn = full ? test_id(id + 2000) : (struct uuid){{0}},
		.agent = text("agent", seed, full),
		.key = text("key", seed + 1, full),
		.title = text("title", seed, full),
		.cwd = text("cwd", seed + 1, full),
		.workspace = text("workspace", seed, full),
		.exe = text("exe", seed + 1, full),
		.cursor = text("cursor", seed, full),
		.subject = {full ? UINT32_MAX - seed : 0, full ? UINT64_MAX - seed : 0},
		.since = -(int64_t)seed,
		.channel_ms = INT64_MAX - seed,
		.uid = UINT32_MAX - 1 - seed,
		.claim = MODE_PLAN,
		.ceiling = (uint8_t)(seed % MODE_N),
		.fail_closed = full,
		.ended = false,
	};
}

struct turn_record test_turn(unsigned id, unsigned session, unsigned seed, bool full)
{
	return (struct turn_record){
		.id = test_id(id),
		.session = test_id(session),
		.key = text("turn", seed, full),
		.reason = text("reason", seed + 1, full),
		.usage = {seed + 1, seed + 2, seed + 3, seed + 4, UINT64_MAX - seed},
		.usage_seq = seed + 5,
		.since = seed + 6,
		.ended_at = full ? seed + 7 : 0,
		.calls = seed + 8,
		.denied = seed + 9,
		.state = (uint8_t)(full ? TURN_SUSPENDED : TURN_RUNNING),
		.causes = full ? CAUSE_HAND | CAUSE_BUDGET : 0,
		.ended_by = (uint8_t)(seed % SOURCE_N),
	};
}

struct request_record test_request(
	unsigned id, unsigned session, unsigned turn, unsigned seed, bool full)
{
	struct request_record r = {
		.id = test_id(id),
		.session = test_id(session),
		.turn = test_id(turn),
		.call = text("call", seed, true),
		.tool = text("tool", seed, full),
		.input = text("input", seed + 1, full),
		.summary = text("summary", seed, full),
		.description = text("description", seed + 1, full),
		.command = text("command", seed, full),
		.cwd = text("cwd", seed + 1, full),
		.extra = text("extra", seed, full),
		.reason = text("reason", seed + 1, full),
		.by = text("by", seed, full),
		.updated_input = text("updated", seed + 1, full),
		.answers = text("answers", seed, full),
		.since = seed + 1,
		.deadline = full ? seed + 2 : 0,
		.decided_at = full ? seed + 3 : 0,
		.type = (uint8_t)(seed % REQUEST_TYPE_N),
		.kind = (uint8_t)((seed + 1) % KIND_N),
		.state = (uint8_t)(full ? REQUEST_HELD : REQUEST_REVIEW),
		.on_disconnect = (uint8_t)((seed + 2) % DISCONNECT_N),
		.step = (uint8_t)((seed + 3) % STEP_N),
		.verdict = (uint8_t)((seed + 4) % VERDICT_N),
		.source = (uint8_t)((seed + 5) % SOURCE_N),
		.scope = (uint8_t)((seed + 6) % SCOPE_N),
		.mutating = seed & 1,
		.elsewhere = seed & 2,
		.fail_closed = seed & 4,
		.takes_input = seed & 8,
		.multi = seed & 16,
		.delivered = seed & 32,
		.check = seed & 64,
	};

	if (!full)
		return r;
	memset(r.digest, (int)(seed & 0x7f) | 0x80, sizeof(r.digest));
	r.n_paths = 3;
	r.paths = calloc(r.n_paths, sizeof(*r.paths));
	ck_assert_ptr_nonnull(r.paths);
	for (unsigned i = 0; i < r.n_paths; i++) {
		r.paths[i].given = text("given", seed + i, true);
		r.paths[i].resolved = i == 1 ? NULL : text("resolved", seed, i == 0);
		r.paths[i].inside = i != 0;
	}
	return r;
}

struct rule_record test_rule(uint64_t id, unsigned seed, bool full)
{
	char line[64];

	snprintf(line, sizeof(line), "%s Bash(ls '-%u\xff\xc3(' *)", full ? "deny" : "allow",
		seed);
	return (struct rule_record){
		.id = id,
		.owner = full ? test_id(seed + 1000) : (struct uuid){{0}},
		.project = full ? str_new("/home/u/\nw", 10) : NULL,
		.text = str_new(line, strlen(line)),
		.by = str_new("uid 1000", 8),
		.origin = full ? str_new("settings.json:3", 15) : NULL,
		.made = 1000 + (int64_t)seed,
		.expires = full ? INT64_MAX - (int64_t)seed : 0,
		.matches = seed,
		.matched_at = seed ? 2000 + (int64_t)seed : 0,
		.uid = full ? RULE_UID_ADMIN - 1 - seed : RULE_UID_ADMIN,
		.scope = (uint8_t)(full ? (seed % 2 ? SCOPE_SESSION : SCOPE_TURN) : SCOPE_USER),
	};
}

struct trust_record test_trust(uint32_t uid, unsigned project, unsigned seed)
{
	char path[64];
	struct trust_record r = {.uid = uid, .made = 3000 + (int64_t)seed};

	snprintf(path, sizeof(path), "/home/u/'w-%u\n\xff\xc3(", project);
	r.project = str_new(path, strlen(path));
	snprintf(path, sizeof(path), "uid %u '\xff", seed);
	r.by = str_new(path, strlen(path));
	for (size_t i = 0; i < sizeof(r.hash); i++)
		r.hash[i] = (uint8_t)(seed + i);
	return r;
}

void session_release(struct session_record *r)
{
	struct str *all[] = {
		r->agent, r->key, r->title, r->cwd, r->workspace, r->exe, r->cursor, r->budget};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		str_unref(all[i]);
}

void turn_release(struct turn_record *r)
{
	str_unref(r->key);
	str_unref(r->reason);
	str_unref(r->budget);
}

void request_release(struct request_record *r)
{
	struct str *all[] = {r->call, r->tool, r->input, r->summary, r->description, r->command,
		r->cwd, r->extra, r->reason, r->by, r->updated_input, r->answers};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		str_unref(all[i]);
	for (unsigned i = 0; i < r->n_paths; i++) {
		str_unref(r->paths[i].given);
		str_unref(r->paths[i].resolved);
	}
	free(r->paths);
}

void rule_release(struct rule_record *r)
{
	str_unref(r->project);
	str_unref(r->text);
	str_unref(r->by);
	str_unref(r->origin);
}

void trust_release(struct trust_record *r)
{
	str_unref(r->project);
	str_unref(r->by);
}

struct history_row test_decision(
	unsigned seed, unsigned session, unsigned turn, unsigned request)
{
	struct history_row r = {
		.at = 1000000 * (int64_t)seed,
		.event = HISTORY_DECISION,
		.uid = 1000,
		.pid = seed,
		.session = test_id(session),
		.turn = test_id(turn),
		.request = test_id(request),
		.agent = bytes_of("claude"),
		.call = {"call\0x", 6},
		.tool = bytes_of(seed % 2 ? "Bash" : "Read"),
		.command = seed % 3 ? bytes_of("rm -r '\xff") : bytes_of(NULL),
		.cwd = bytes_of("/home/u"),
		.workspace = bytes_of(seed % 4 ? "/home/u/w" : ""),
		.exe = bytes_of("/usr/bin/node"),
		.input = {"\x81\xa1"
			  "a\x00",
			4},
		.reason = bytes_of(""),
		.by = bytes_of("uid 1000"),
		.rule = bytes_of(seed % 7 == 1 ? "allow Bash(rm *\xff)" : NULL),
		.floor = bytes_of(seed % 4 == 1 ? "private-keys" : NULL),
		.rule_id = seed % 7 == 1 ? seed : 0,
		.type = REQUEST_TYPE_TOOL_CALL,
		.kind = KIND_EXECUTE,
		.verdict = (uint8_t)(seed % 5 ? VERDICT_ALLOW : VERDICT_DENY),
		.source = (uint8_t)(seed % 5 ? SOURCE_MODE : SOURCE_USER),
		.scope = SCOPE_ONCE,
		.step = STEP_MODE,
		.state = (uint8_t)(seed % 5 ? REQUEST_ALLOWED : REQUEST_DENIED),
		.mode = MODE_NORMAL,
		.count = seed,
	};

	memset(r.digest, (int)(seed & 0xff), sizeof(r.digest));
	return r;
}

/* ---- as text ---- */

static void dump_bytes(FILE *f, const char *name, struct bytes b)
{
	fprintf(f, " %s=", name);
	if (!b.data) {
		fputs("absent", f);
		return;
	}
	fputc('"', f);
	for (size_t i = 0; i < b.len; i++)
		fprintf(f, "%02x", ((const uint8_t *)b.data)[i]);
	fputc('"', f);
}

static void dump_str(FILE *f, const char *name, const struct str *s)
{
	dump_bytes(f, name, str_bytes(s));
}

static void dump_id(FILE *f, const char *name, const struct uuid *id)
{
	dump_bytes(f, name, (struct bytes){id->b, sizeof(id->b)});
}

static void dump_int(FILE *f, const char *name, int64_t v)
{
	fprintf(f, " %s=%lld", name, (long long)v);
}

#define STR(member)   dump_str(f, #member, r->member)
#define ID(member)    dump_id(f, #member, &r->member)
#define INT(member)   dump_int(f, #member, (int64_t)r->member)
#define BYTES(member) dump_bytes(f, #member, r->member)
#define HASH(member)  dump_bytes(f, #member, (struct bytes){r->member, sizeof(r->member)})

void dump_session(FILE *f, const struct session_record *r)
{
	fputs("session", f);
	ID(id), ID(parent), ID(parent_turn);
	STR(agent), STR(key), STR(title), STR(cwd), STR(workspace), STR(exe), STR(cursor);
	STR(budget);
	INT(subject.pid), INT(subject.start), INT(since), INT(channel_ms), INT(uid), INT(claim);
	INT(ceiling), INT(fail_closed), INT(ended);
	fputc('\n', f);
}

void dump_turn(FILE *f, const struct turn_record *r)
{
	fputs("turn", f);
	ID(id), ID(session);
	STR(key), STR(reason), STR(budget);
	INT(usage.input), INT(usage.output), INT(usage.cache_read), INT(usage.cache_write);
	INT(usage.cost_microusd), INT(usage_seq), INT(since), INT(ended_at), INT(calls);
	INT(denied), INT(state), INT(causes), INT(ended_by);
	fputc('\n', f);
}

void dump_request(FILE *f, const struct request_record *r)
{
	fputs("request", f);
	ID(id), ID(session), ID(turn);
	STR(call), STR(tool), STR(input), STR(summary), STR(description), STR(command),
		STR(cwd);
	STR(extra), STR(reason), STR(by), STR(updated_input), STR(answers);
	HASH(digest);
	INT(since), INT(deadline), INT(decided_at), INT(type), INT(kind), INT(state);
	INT(on_disconnect), INT(step), INT(verdict), INT(source), INT(scope), INT(mutating);
	INT(elsewhere), INT(fail_closed), INT(takes_input), INT(multi), INT(delivered);
	INT(check), INT(n_paths);
	for (unsigned i = 0; i < r->n_paths; i++) {
		STR(paths[i].given), STR(paths[i].resolved);
		INT(paths[i].inside);
	}
	fputc('\n', f);
}

void dump_rule(FILE *f, const struct rule_record *r)
{
	fputs("rule", f);
	INT(id), INT(scope), INT(uid);
	ID(owner);
	STR(project), STR(text), STR(by), STR(origin);
	INT(made), INT(expires), INT(matches), INT(matched_at);
	fputc('\n', f);
}

void dump_trust(FILE *f, const struct trust_record *r)
{
	fputs("trust", f);
	INT(uid);
	STR(project), STR(by);
	INT(made);
	HASH(hash);
	fputc('\n', f);
}

void dump_row(FILE *f, const struct history_row *r)
{
	fputs("row", f);
	INT(seq), INT(at), INT(event), INT(uid), INT(pid);
	ID(session), ID(turn), ID(request);
	BYTES(agent), BYTES(call), BYTES(tool), BYTES(command), BYTES(cwd), BYTES(workspace);
	BYTES(exe), BYTES(input), BYTES(reason), BYTES(by), BYTES(detail), BYTES(rule);
	BYTES(floor), INT(rule_id);
	HASH(digest);
	INT(type), INT(kind), INT(verdict), INT(source), INT(scope), INT(step), INT(state);
	INT(mode), INT(count);
	HASH(hash);
	fputc('\n', f);
}

void dump_state(FILE *f, const struct journal_state *r)
{
	fputs("state", f);
	INT(alive);
	ID(newest);
	INT(rule_id);
	fputc('\n', f);
}
