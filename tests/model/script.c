/* SPDX-License-Identifier: MIT */
/*
 * Lines of a test: who, what, words and options.
 *
 *	A hello s1 [pid=10] [chain=10,11] [parent=s0] [claim=plan] [channel=ms] [fail_closed]
 *[new] A request c1 Bash [input=x] [timeout=ms] [channel=ms] [keep] [cancel] [elsewhere]
 *[edits] [fail_closed] [mutating] [inside] [harmless] [floor] [type=question] [turn=T] A check
 *c1 Bash ...; a call "-" has no id A cancel c1; A settled [c1|- tool input=x] [allow] A outcome
 *c1 succeeded; A outcome - succeeded tool=Bash input=x A begin [T]; A end [T]; A usage SEQ IN;
 *A mode plan; A bye [end]; A gone H hello [name=n] [headless] [answers=1]; H subscribe [limit];
 *H page [limit] H allow c1 [reason=r] [edit=x] [floor] [answers=x] [digest=none|bad]; H deny c1
 *... P allow|deny|ask|defer c1 [reason=r] H suspend s1|all [reason=r]; H resume s1|all; H
 *endturn s1; H ceiling s1 plan; H bye; H gone tick [ms]; wait ms; clock ms; died PID; slept;
 *restart [ms]; config name=number
 *	A hello and A begin also tokens=N time=ms wall=ms calls=N cost=N, ceilings that the
 *	agent asks for; H resume the same, by which it raises; config the same, and
 *	session-tokens=N and so on, for everybody
 *
 * Actors whose name begins with H are human, O observers, P policies; a second
 * letter x means another uid, r that the frontend answers for all uids.
 */
#include "tests/model/world.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 24

struct line {
	char text[512];
	char *word[WORDS];
	unsigned n;
};

static void split(struct line *l, const char *text)
{
	char *save = NULL;

	snprintf(l->text, sizeof(l->text), "%s", text);
	l->n = 0;
	for (char *p = strtok_r(l->text, " ", &save); p && l->n < WORDS;
		p = strtok_r(NULL, " ", &save))
		l->word[l->n++] = p;
}

/* The value of an option, NULL where it is not given. */
static const char *option(const struct line *l, const char *name)
{
	size_t n = strlen(name);

	for (unsigned i = 1; i < l->n; i++)
		if (strncmp(l->word[i], name, n) == 0 && l->word[i][n] == '=')
			return l->word[i] + n + 1;
	return NULL;
}

static bool flag(const struct line *l, const char *name)
{
	for (unsigned i = 2; i < l->n; i++)
		if (strcmp(l->word[i], name) == 0)
			return true;
	return false;
}

static long number(const struct line *l, const char *name, long otherwise)
{
	const char *v = option(l, name);

	return v ? strtol(v, NULL, 10) : otherwise;
}

/* A positional word after who and what. */
static const char *argument(const struct line *l, unsigned i)
{
	return i + 2 < l->n && !strchr(l->word[i + 2], '=') ? l->word[i + 2] : NULL;
}

void script_hash(struct bytes text, uint8_t *out, size_t n)
{
	const uint8_t *p = text.data;
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < text.len; i++)
		h = (h ^ p[i]) * 1099511628211u;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ i) * 1099511628211u;
		out[i] = (uint8_t)(h >> 32);
	}
}

void script_signature(struct bytes tool, struct bytes input, uint8_t out[16])
{
	script_hash(input, out, 16);
	out[0] ^= (uint8_t)(tool.len ? *(const char *)tool.data : 0);
}

struct parsed {
	struct line line;
	struct command c;
	struct process_id chain[8];
	struct command_decision decision;
	struct facts facts;
	char text[8][64];
};

static struct bytes none;

static struct bytes text_of(const char *s)
{
	return s ? bytes_of(s) : none;
}

static enum mode mode_of(struct world *w, const char *name)
{
	int m = mode_parse(text_of(name));

	if (m < 0)
		world_fail(w, "no such mode");
	return (enum mode)m;
}

/* Ceilings by their names; false: there are none. */
static bool parse_amounts(
	const struct line *l, const char *prefix, struct budget_amounts *out)
{
	char name[32];

	for (int k = 0; k < BUDGET_N; k++) {
		snprintf(name, sizeof(name), "%s%s", prefix,
			budget_kind_name((enum budget_kind)k));
		out->of[k] = number(l, name, BUDGET_NONE);
		if (out->of[k] > 0 && (k == BUDGET_TIME || k == BUDGET_WALL))
			out->of[k] *= 1000;
	}
	return !budget_is_clear(out);
}

static void parse_hello(struct world *w, struct parsed *p)
{
	struct command_hello *h = &p->c.hello;
	const char *chain = option(&p->line, "chain");
	uint32_t pid = (uint32_t)number(&p->line, "pid", 10);

	p->c.type = COMMAND_HELLO;
	h->agent = bytes_of("agent");
	h->key = text_of(argument(&p->line, 0));
	if (h->key.data && bytes_is(h->key, "-"))
		h->key = none;
	h->parent_key = text_of(option(&p->line, "parent"));
	h->cwd = bytes_of("/w");
	h->subject = (struct process_id){pid, pid ? 7 : 0};
	h->chain = p->chain;
	p->chain[h->n_chain++] = (struct process_id){pid, 7};
	while (chain && *chain && h->n_chain < 8) {
		p->chain[h->n_chain++] =
			(struct process_id){(uint32_t)strtoul(chain, NULL, 10), 7};
		chain = strchr(chain, ',');
		chain += chain != NULL;
	}
	h->claim = option(&p->line, "claim") ? (int)mode_of(w, option(&p->line, "claim")) : -1;
	h->channel_ms = number(&p->line, "channel", 0);
	h->fail_closed = flag(&p->line, "fail_closed");
	h->no_resume = flag(&p->line, "new");
	h->has_budget = parse_amounts(&p->line, "", &h->budget);
}

static void facts_fill(
	struct world *w, struct parsed *p, struct facts *f, struct bytes tool, struct bytes input)
{
	script_hash(input, f->input_hash, 16);
	script_signature(tool, input, f->signature);
	script_hash(input, f->digest, 32);
	f->command = tool.data && !flag(&p->line, "edits") ? none : input;
	if (flag(&p->line, "floor")) {
		if (!w->judge.floor && judge_init(&w->judge, FLOOR_USER) < 0)
			world_fail(w, "no memory");
		w->e.judge = &w->judge;
		f->command = bytes_of("sudo true");
	}
	f->kind = flag(&p->line, "inside") ? KIND_READ : KIND_EXECUTE;
	f->mutating = flag(&p->line, "mutating");
	f->flags = (uint8_t)((flag(&p->line, "inside") ? FACT_INSIDE : 0) |
			     (flag(&p->line, "harmless") ? FACT_HARMLESS : 0));
}

static void parse_request(struct world *w, struct parsed *p)
{
	struct command_request *m = &p->c.request;
	const char *call = argument(&p->line, 0), *tool = argument(&p->line, 1);
	const char *type = option(&p->line, "type");

	if (!call || !tool)
		world_fail(w, "a request wants a call and a tool");
	p->c.type = COMMAND_REQUEST;
	m->type = type ? (enum request_type)request_type_parse(bytes_of(type))
		       : REQUEST_TYPE_TOOL_CALL;
	m->call = strcmp(call, "-") == 0 ? none : bytes_of(call);
	m->tool = bytes_of(tool);
	m->input = bytes_of(option(&p->line, "input") ? option(&p->line, "input") : call);
	m->turn_key = text_of(option(&p->line, "turn"));
	m->cwd = text_of(option(&p->line, "cwd"));
	facts_fill(w, p, &m->facts, m->tool, m->input);
	m->timeout_ms = number(&p->line, "timeout", 0);
	m->channel_ms = number(&p->line, "channel", 0);
	m->on_disconnect = flag(&p->line, "keep")     ? DISCONNECT_KEEP
			   : flag(&p->line, "cancel") ? DISCONNECT_CANCEL
						      : DISCONNECT_WAIT;
	m->fail_closed = flag(&p->line, "fail_closed");
	m->elsewhere = flag(&p->line, "elsewhere");
	m->takes_input = flag(&p->line, "edits");
	m->check = strcmp(p->line.word[1], "check") == 0;
}

static void parse_about(struct parsed *p, enum command_type type)
{
	struct command_about *a = &p->c.about;
	const char *call = argument(&p->line, 0), *what = argument(&p->line, 1);
	const char *input = option(&p->line, "input");

	p->c.type = type;
	if (call && strcmp(call, "-") != 0)
		a->call = bytes_of(call);
	a->reason = text_of(option(&p->line, "reason"));
	if (input) {
		a->has_input = true;
		script_hash(bytes_of(input), a->input_hash, 16);
	}
	if (option(&p->line, "tool"))
		a->tool = bytes_of(option(&p->line, "tool"));
	a->verdict = flag(&p->line, "allow")  ? VERDICT_ALLOW
		     : flag(&p->line, "deny") ? VERDICT_DENY
					      : VERDICT_NONE;
	a->outcome = what && strcmp(what, "failed") == 0    ? REQUEST_FAILED
		     : what && strcmp(what, "not_run") == 0 ? REQUEST_NOT_RUN
							    : REQUEST_SUCCEEDED;
}

static void parse_turn(struct parsed *p, enum command_type type)
{
	p->c.type = type;
	if (type != COMMAND_USAGE) {
		p->c.turn.key = text_of(argument(&p->line, 0));
		p->c.turn.has_budget = type == COMMAND_TURN_BEGIN &&
				       parse_amounts(&p->line, "", &p->c.turn.budget);
		if (type != COMMAND_TURN_END || !option(&p->line, "seq"))
			return;
		p->c.turn.has_usage = true;
		p->c.turn.usage_seq = (uint64_t)number(&p->line, "seq", 0);
		p->c.turn.usage.input = (uint64_t)number(&p->line, "in", 0);
		return;
	}
	p->c.turn.has_usage = true;
	p->c.turn.usage_seq = strtoul(argument(&p->line, 0), NULL, 10);
	p->c.turn.usage.input = strtoul(argument(&p->line, 1), NULL, 10);
	p->c.turn.usage.cost_microusd = (uint64_t)number(&p->line, "cost", 0);
	p->c.turn.key = text_of(option(&p->line, "of"));
	p->c.turn.cursor = text_of(option(&p->line, "cursor"));
}

static struct request *find_call(struct world *w, const char *call)
{
	static const struct uuid start;
	struct entity *x;

	for (x = registry_next(&w->e.r, &start); x; x = registry_next(&w->e.r, entity_id(x)))
		if (x->type == ENTITY_REQUEST &&
			bytes_is(request_call(ENTITY_OF(x, request)), call))
			return ENTITY_OF(x, request);
	return NULL;
}

static void parse_decision(struct world *w, struct parsed *p)
{
	struct command_decision *d = &p->decision;
	const char *call = argument(&p->line, 0), *digest = option(&p->line, "digest");
	const char *edit = option(&p->line, "edit");
	const struct seen_request *seen = call ? world_seen(w, call) : NULL;
	struct request *q = NULL;

	p->c.type = p->line.word[0][0] == 'P' ? COMMAND_VERDICT : COMMAND_DECIDE;
	p->c.by = bytes_of(p->line.word[0]);
	p->c.decide.items = d;
	p->c.decide.n = 1;
	d->verdict = (enum verdict)verdict_parse(bytes_of(p->line.word[1]));
	d->reason = text_of(option(&p->line, "reason"));
	d->answers = text_of(option(&p->line, "answers"));
	d->scope = flag(&p->line, "turnscope") ? SCOPE_TURN : SCOPE_ONCE;
	if (seen)
		q = request_find(&w->e.r, &seen->id);
	else if (call)
		q = find_call(w, call); /* a check has no record */
	if (seen || q)
		d->request = seen ? seen->id : q->s.r.id;
	d->has_digest = !digest || strcmp(digest, "none") != 0;
	if (q)
		memcpy(d->digest, q->s.r.digest, sizeof(d->digest));
	if (digest && strcmp(digest, "bad") == 0)
		d->digest[0] ^= 1;
	if (edit) {
		d->updated_input = bytes_of(edit);
		facts_fill(w, p, &p->facts, none, d->updated_input);
		d->facts = &p->facts;
	}
}

static void parse_steer(struct world *w, struct parsed *p, enum command_type type)
{
	const char *who = argument(&p->line, 0);
	struct session *s;

	p->c.type = type;
	p->c.by = bytes_of(p->line.word[0]);
	p->c.steer.reason = text_of(option(&p->line, "reason"));
	p->c.steer.has_raise = parse_amounts(&p->line, "", &p->c.steer.raise);
	p->c.steer.all = who && strcmp(who, "all") == 0;
	if (who && !p->c.steer.all) {
		s = session_find_key(&w->e.r, 1000, bytes_of("agent"), bytes_of(who));
		if (s)
			p->c.steer.session = s->s.r.id;
	}
}

static void parse_greet(struct parsed *p)
{
	char role = p->line.word[0][0];

	p->c.type = COMMAND_FRONTEND_HELLO;
	p->c.greet.role = role == 'P' ? ROLE_POLICY : role == 'O' ? ROLE_OBSERVER : ROLE_HUMAN;
	p->c.greet.answers = (uint8_t)number(&p->line, "answers", 15);
	p->c.greet.headless = flag(&p->line, "headless");
	p->c.greet.name = text_of(option(&p->line, "name"));
}

static void parse_subscribe(struct world *w, struct parsed *p, bool more)
{
	const struct actor *a = world_actor(w, p->line.word[0]);
	const char *limit = argument(&p->line, 0);

	p->c.type = COMMAND_SUBSCRIBE;
	p->c.subscribe.has_cursor = more;
	p->c.subscribe.cursor = a->cursor;
	p->c.subscribe.limit = limit ? (unsigned)strtoul(limit, NULL, 10) : 0;
}

static bool parse_agent(struct world *w, struct parsed *p, const char *what)
{
	if (strcmp(what, "hello") == 0)
		parse_hello(w, p);
	else if (strcmp(what, "request") == 0 || strcmp(what, "check") == 0)
		parse_request(w, p);
	else if (strcmp(what, "cancel") == 0)
		parse_about(p, COMMAND_CANCEL);
	else if (strcmp(what, "settled") == 0)
		parse_about(p, COMMAND_SETTLED);
	else if (strcmp(what, "outcome") == 0)
		parse_about(p, COMMAND_OUTCOME);
	else if (strcmp(what, "begin") == 0)
		parse_turn(p, COMMAND_TURN_BEGIN);
	else if (strcmp(what, "end") == 0)
		parse_turn(p, COMMAND_TURN_END);
	else if (strcmp(what, "usage") == 0)
		parse_turn(p, COMMAND_USAGE);
	else if (strcmp(what, "bye") == 0)
		p->c.type = COMMAND_BYE, p->c.bye.end = flag(&p->line, "end");
	else if (strcmp(what, "gone") == 0)
		p->c.type = COMMAND_LINK_GONE;
	else if (strcmp(what, "mode") == 0)
		p->c.type = COMMAND_CLAIM, p->c.steer.mode = mode_of(w, argument(&p->line, 0));
	else
		return false;
	return true;
}

static bool parse_frontend(struct world *w, struct parsed *p, const char *what)
{
	if (strcmp(what, "hello") == 0)
		parse_greet(p);
	else if (strcmp(what, "subscribe") == 0 || strcmp(what, "page") == 0)
		parse_subscribe(w, p, *what == 'p');
	else if (verdict_parse(bytes_of(what)) > 0)
		parse_decision(w, p);
	else if (strcmp(what, "suspend") == 0)
		parse_steer(w, p, COMMAND_SUSPEND);
	else if (strcmp(what, "resume") == 0)
		parse_steer(w, p, COMMAND_RESUME);
	else if (strcmp(what, "endturn") == 0)
		parse_steer(w, p, COMMAND_END_TURN);
	else if (strcmp(what, "ceiling") == 0)
		parse_steer(w, p, COMMAND_CEILING),
			p->c.steer.mode = mode_of(w, argument(&p->line, 1));
	else if (strcmp(what, "bye") == 0)
		p->c.type = COMMAND_FRONTEND_BYE;
	else if (strcmp(what, "gone") == 0)
		p->c.type = COMMAND_FRONTEND_GONE;
	else
		return false;
	return true;
}

static void parse_config(struct world *w, struct parsed *p)
{
	struct engine_config *c = &w->config;
	const char *required = option(&p->line, "required");

	p->c.type = COMMAND_CONFIGURED;
	c->when_alone_deny = number(&p->line, "alone_deny", c->when_alone_deny);
	c->headless = number(&p->line, "headless", c->headless);
	c->deadline = number(&p->line, "deadline", c->deadline / 1000) * 1000;
	c->max_pending = (uint32_t)number(&p->line, "pending", c->max_pending);
	c->max_sessions = (uint32_t)number(&p->line, "sessions", c->max_sessions);
	c->max_pending_bytes = (uint64_t)number(&p->line, "bytes", (long)c->max_pending_bytes);
	c->repeat_limit = (unsigned)number(&p->line, "repeat", c->repeat_limit);
	if (required) {
		snprintf(w->required, sizeof(w->required), "%s", required);
		c->required[0] = w->required;
		c->n_required = 1;
	}
	if (parse_amounts(&p->line, "", &w->budget.turn) |
		parse_amounts(&p->line, "session-", &w->budget.session)) {
		w->budget.uid = -1;
		c->budgets = &w->budget;
		c->n_budgets = 1;
	}
	engine_configure(&w->e, c);
}

static bool parse(struct world *w, struct parsed *p, const char *text)
{
	struct line *l = &p->line;
	const char *what;
	struct actor *a;
	bool ok;

	memset(p, 0, sizeof(*p));
	split(l, text);
	if (!l->n)
		world_fail(w, "an empty line");
	what = l->n > 1 ? l->word[1] : "";
	if (strcmp(l->word[0], "tick") == 0) {
		w->now.mono += strtol(what, NULL, 10) * 1000;
		w->now.wall += strtol(what, NULL, 10) * 1000;
		p->c.type = COMMAND_TICK;
		return true;
	}
	if (strcmp(l->word[0], "due") == 0) { /* the moment at which something is due */
		int64_t due = engine_next_deadline(&w->e);

		if (due > w->now.mono) {
			w->now.wall += due - w->now.mono;
			w->now.mono = due;
		}
		p->c.type = COMMAND_TICK;
		return true;
	}
	if (strcmp(l->word[0], "died") == 0) {
		p->c.type = COMMAND_SUBJECT_DIED;
		p->c.died = (struct process_id){(uint32_t)strtoul(what, NULL, 10), 7};
		return true;
	}
	if (strcmp(l->word[0], "slept") == 0) {
		p->c.type = COMMAND_SLEPT;
		return true;
	}
	if (strcmp(l->word[0], "config") == 0) {
		parse_config(w, p);
		return true;
	}
	if (l->word[0][0] < 'A' || l->word[0][0] > 'Z')
		return false;
	a = world_actor(w, l->word[0]);
	p->c.link = a->link;
	p->c.frontend = a->frontend;
	p->c.call = ++w->calls;
	ok = a->link ? parse_agent(w, p, what) : parse_frontend(w, p, what);
	if (!ok)
		world_fail(w, "what is \"%s\"?", text);
	return true;
}

static void trace(struct world *w, const char *line)
{
	if (w->n_trace < WORLD_TRACE)
		w->trace[w->n_trace++] = strdup(line);
}

bool script_run(struct world *w, const char *line)
{
	struct parsed p;

	trace(w, line);
	if (parse(w, &p, line)) {
		world_step(w, &p.c);
		return true;
	}
	if (strcmp(p.line.word[0], "restart") == 0) {
		world_restart(w, p.line.n > 1 ? strtol(p.line.word[1], NULL, 10) * 1000 : 1000);
	} else if (strcmp(p.line.word[0], "wait") == 0) {
		w->now.mono += strtol(p.line.word[1], NULL, 10) * 1000;
		w->now.wall += strtol(p.line.word[1], NULL, 10) * 1000;
	} else if (strcmp(p.line.word[0], "clock") == 0) { /* is set */
		w->now.wall += strtol(p.line.word[1], NULL, 10) * 1000;
	} else {
		world_fail(w, "what is \"%s\"?", line);
	}
	return false;
}

void script_try(struct world *w, const char *line, void (*seen)(void *arg), void *arg)
{
	struct instant now = w->now;
	struct parsed p;

	trace(w, line);
	if (!parse(w, &p, line))
		world_fail(w, "\"%s\" can't be undone", line);
	world_try(w, &p.c, seen, arg);
	w->now = now;
	free(w->trace[--w->n_trace]);
}
