/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/addition.h"
#include "broker/core/floor/form.h"
#include "broker/core/floor/wild.h"
#include "broker/core/floor/walk.h"

static uint64_t off_of(const struct floor *floor)
{
	return floor ? floor->off : 0;
}

static bool is_off(const struct floor_world *world, int entry)
{
	return off_of(world->floor) >> entry & 1;
}

static struct floor_world world_of(const struct floor *floor, const struct floor_call *call)
{
	return (struct floor_world){.floor = floor,
		.cwd = call->cwd,
		.workspace = call->workspace,
		.home = call->home,
		.tmpdir = call->tmpdir};
}

/* ---- targets ---- */

#define TARGET (FLOOR_DELETE | FLOOR_MOVE | FLOOR_PERMIT)

/* Is the last component a pattern of all that is there? Then text becomes what holds it. */
static bool is_content(struct bytes *text)
{
	const char *const p = text->data;
	size_t end = text->len, start;
	struct bytes last;

	while (end > 0 && p[end - 1] == '/')
		end--;
	for (start = end; start > 0 && p[start - 1] != '/'; start--)
		;
	last = (struct bytes){p + start, end - start};
	if (!wild_is(last) || wild_literals(last) > 1 ||
		(wild_literals(last) == 1 && *(const char *)last.data != '.' &&
			!bytes_is(last, "*.*")))
		return false;
	*text = start > 0 ? (struct bytes){p, start} : bytes_of(".");
	return true;
}

static bool target_is_out(const struct floor_world *world, struct bytes folder,
	struct bytes text, unsigned use, bool pattern)
{
	const bool content = pattern && is_content(&text);
	enum path_region region;
	struct normal n;

	/* a home of one's own is written out for what compares by the very bytes */
	if (text.len > 0 && *(const char *)text.data == '~' &&
		path_normal(world, &n, folder, text))
		region = path_region(world, (struct bytes){NULL, 0},
			n.absolute ? (struct bytes){n.text, n.len} : text);
	else
		region = path_region(world, folder, text);
	if (region == PATH_TOP)
		return content || !(use & FLOOR_PARTS);
	return region == PATH_OUTSIDE;
}

static bool target_on_floor(const struct floor_world *world, struct bytes folder,
	struct bytes text, unsigned use, bool pattern, struct floor_found *out)
{
	static const struct {
		unsigned use;
		int entry;
	} targets[] = {{FLOOR_DELETE, ENTRY_DELETE}, {FLOOR_MOVE, ENTRY_MOVE},
		{FLOOR_PERMIT, ENTRY_PERMISSION}};

	if (!(use & TARGET) || !target_is_out(world, folder, text, use, pattern))
		return false;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		const int entry = targets[i].entry;

		if (!(use & targets[i].use) || is_off(world, entry))
			continue;
		*out = (struct floor_found){
			floor_entries[entry].name, floor_entries[entry].about, 0};
		return true;
	}
	return false;
}

/* ---- one path, from one folder ---- */

static bool deep_on_floor(const struct floor_world *world, struct bytes folder,
	struct bytes text, bool pattern, struct floor_found *out)
{
	struct normal n;

	if (is_off(world, ENTRY_READ_ALL))
		return false;
	if (pattern && !is_content(&text))
		return false;
	if (!path_normal(world, &n, folder, text) || !path_holds_protected(world, &n))
		return false;
	*out = (struct floor_found){floor_entries[ENTRY_READ_ALL].name,
		floor_entries[ENTRY_READ_ALL].about, FLOOR_READ};
	return true;
}

static bool one_on_floor(const struct floor_world *world, struct bytes folder,
	struct bytes text, unsigned use, bool pattern, unsigned flags, struct floor_found *out)
{
	struct normal n;

	if (target_on_floor(world, folder, text, use, pattern, out))
		return true;
	if (use & FLOOR_DEEP && deep_on_floor(world, folder, text, pattern, out))
		return true;
	if (!path_normal(world, &n, folder, text))
		return false;
	return pattern ? pattern_guarded(world, &n, use, flags, out)
		       : path_guarded(world, &n, use, out);
}

/* ---- paths of the call ---- */

static bool give(struct floor_hit *hit, const struct floor_found *found, struct bytes what,
	uint32_t offset)
{
	*hit = (struct floor_hit){
		found->name, found->about, what, offset, (uint16_t)found->use};
	return true;
}

static bool check_path(
	const struct floor_world *world, const struct floor_path *p, struct floor_hit *hit)
{
	static const struct floor_found too_long = {"unread", "the path is too long", 0};
	const bool same = bytes_equal(p->given, p->resolved);
	struct floor_found found;

	if (p->given.len > LIMIT_TEXT || p->resolved.len > LIMIT_TEXT)
		return give(hit, &too_long, p->given, SHELL_NONE);
	if (p->resolved.len > 0 &&
		one_on_floor(world, world->cwd, p->resolved, p->use, false, 0, &found))
		return give(hit, &found, p->given, SHELL_NONE);
	if (!same && one_on_floor(world, world->cwd, p->given, p->use, false, 0, &found))
		return give(hit, &found, p->given, SHELL_NONE);
	return false;
}

/* ---- words of a command ---- */

static bool is_rooted(struct bytes text)
{
	const char *const p = text.data;

	return text.len > 0 && (*p == '/' || (*p == '~' && (text.len == 1 || p[1] == '/')));
}

static bool give_unread(struct floor_hit *hit, const struct operand *o, const char *reason)
{
	const struct floor_found found = {"unread", reason, 0};

	return give(hit, &found, o->word->text, o->word->offset);
}

/* Begins it with something unknown, so that nobody knows where it is? */
static bool is_unknown(const struct operand *o)
{
	return o->word->flags & SHELL_DYNAMIC && *(const char *)o->text.data == 0;
}

/* Each component of a pattern is compared with all there is. */
static size_t cost_of(const struct walk *w, const struct operand *o)
{
	const uint32_t added = w->world.floor ? w->world.floor->n : 0;
	const size_t folders = w->command->cwd->n > 1 ? w->command->cwd->n : 1;

	return (64 + o->text.len * (o->pattern ? 256 : 1) + added * 64) * folders;
}

static bool visit_check(struct walk *w, const struct operand *o)
{
	const struct shell_cwd *const cwd = w->command->cwd;
	const bool rooted = is_rooted(o->text);
	struct floor_hit *const hit = w->arg;
	unsigned use = o->use;
	struct floor_found found;

	if (!walk_spend(w, cost_of(w, o)))
		return true;
	if (use & FLOOR_DELETE) {
		if (!o->text.data || o->word->flags & SHELL_DYNAMIC)
			return give_unread(hit, o, "what is deleted recursively is not known");
		if (!rooted && cwd->n == 0)
			return give_unread(hit, o, "where is deleted recursively is not known");
	}
	if (!o->text.data)
		return false;
	if (is_unknown(o) || (!rooted && cwd->n == 0))
		use &= ~(unsigned)TARGET;
	if (rooted || cwd->n == 0) {
		if (!one_on_floor(&w->world, (struct bytes){NULL, 0}, o->text, use, o->pattern,
			    o->flags, &found))
			return false;
		return give(hit, &found, o->word->text, o->word->offset);
	}
	for (uint32_t i = 0; i < cwd->n; i++)
		if (one_on_floor(&w->world, cwd->path[i], o->text, use, o->pattern, o->flags,
			    &found))
			return give(hit, &found, o->word->text, o->word->offset);
	return false;
}

/* ---- commands ---- */

static bool check_form(
	const struct floor_world *world, const struct shell_command *c, struct floor_hit *hit)
{
	const struct floor *const floor = world->floor;
	const struct shell_word *word = NULL;
	const int entry = form_entry(c, off_of(floor), &word);
	struct floor_found found;

	if (entry != ENTRY_NONE) {
		found = (struct floor_found){
			floor_entries[entry].name, floor_entries[entry].about, 0};
		return give(hit, &found, word->text, word->offset);
	}
	if (c->nwords == 0 || c->flags & SHELL_KEYWORD)
		return false;
	for (uint32_t i = 0; floor && i < floor->n; i++) {
		const struct addition *const a = &floor->additions[i];

		if (a->off || a->guards || !addition_matches_command(a, c))
			continue;
		found = (struct floor_found){a->name, a->pattern, 0};
		return give(hit, &found, c->words->text, c->words->offset);
	}
	return false;
}

static bool check_fetched(
	const struct floor_world *world, const struct shell *shell, struct floor_hit *hit)
{
	const uint32_t i = shell_runs_fetched(shell);
	const struct floor_found found = {
		floor_entries[ENTRY_FETCHED].name, floor_entries[ENTRY_FETCHED].about, 0};
	const struct shell_command *c;

	if (i == SHELL_NONE || is_off(world, ENTRY_FETCHED))
		return false;
	c = &shell->commands[i];
	return give(hit, &found, c->nwords ? c->words->text : bytes_of(""), c->offset);
}

static bool check_command(
	const struct floor_world *world, const struct shell *shell, struct floor_hit *hit)
{
	static const struct floor_found too_much = {
		"unread", "it is too much to be checked", 0};
	struct walk w = {.world = *world,
		.shell = shell,
		.visit = visit_check,
		.arg = hit,
		.left = LIMIT_FLOOR_STEPS};

	for (uint32_t i = 0; i < shell->n; i++) {
		if (!check_form(world, &shell->commands[i], hit) && !walk_command(&w, i))
			continue;
		if (w.exhausted)
			give(hit, &too_much, bytes_of(""), shell->commands[i].offset);
		return true;
	}
	if (check_fetched(world, shell, hit))
		return true;
	if (shell->flags & SHELL_UNREAD) {
		const struct floor_found found = {
			floor_entries[ENTRY_UNREAD].name, shell->reason, 0};

		return give(hit, &found, bytes_of(""), shell->offset);
	}
	return false;
}

bool floor_check(
	const struct floor *floor, const struct floor_call *call, struct floor_hit *hit)
{
	const struct floor_world world = world_of(floor, call);

	for (uint32_t i = 0; i < call->n_paths; i++)
		if (check_path(&world, &call->paths[i], hit))
			return true;
	return call->shell && check_command(&world, call->shell, hit);
}

/* ---- what is worth resolving ---- */

struct emit {
	floor_operand_fn *each;
	void *arg;
};

static bool visit_emit(struct walk *w, const struct operand *o)
{
	const struct emit *const emit = w->arg;
	const struct shell_cwd *const cwd = w->command->cwd;
	const unsigned sure = FLOOR_FILE | FLOOR_WRITE | FLOOR_RUN | FLOOR_DEEP | TARGET;
	char joined[LIMIT_TEXT + 1];

	if (!walk_spend(w, o->text.len))
		return true;
	if (!o->text.data || o->pattern || o->text.len > LIMIT_TEXT ||
		o->word->flags & (SHELL_DYNAMIC | SHELL_GLOB))
		return false;
	if (!(o->use & sure) && !memchr(o->text.data, '/', o->text.len))
		return false;
	/* a bare name is looked for in PATH */
	if (o->use & FLOOR_RUN && o->word == w->command->words &&
		!memchr(o->text.data, '/', o->text.len))
		return false;
	if (*(const char *)o->text.data == '/')
		return !emit->each(emit->arg, o->text, o->use);
	if (is_rooted(o->text))
		return false;
	for (uint32_t i = 0; i < cwd->n; i++) {
		const size_t n = cwd->path[i].len;

		if (n + 1 + o->text.len > LIMIT_TEXT)
			continue;
		memcpy(joined, cwd->path[i].data, n);
		joined[n] = '/';
		memcpy(joined + n + 1, o->text.data, o->text.len);
		if (!emit->each(emit->arg, (struct bytes){joined, n + 1 + o->text.len}, o->use))
			return true;
	}
	return false;
}

bool floor_operands(const struct floor_call *call, floor_operand_fn *each, void *arg)
{
	struct emit emit = {each, arg};
	struct walk w = {.world = world_of(NULL, call),
		.shell = call->shell,
		.visit = visit_emit,
		.arg = &emit,
		.left = LIMIT_FLOOR_STEPS};

	for (uint32_t i = 0; call->shell && i < call->shell->n; i++)
		if (walk_command(&w, i))
			break;
	return !w.exhausted;
}
