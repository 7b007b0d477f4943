/* SPDX-License-Identifier: MIT */
#include "tests/unit/floor_fixture.h"

#include "broker/core/tool.h"

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : NULL;
}

/* JSON's strings may hold a NUL. */
static struct bytes bytes_in(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		return (struct bytes){NULL, 0};
	return (struct bytes){json_object_get_string(v), (size_t)json_object_get_string_len(v)};
}

static void add_path(struct floor_case *c, struct json_object *input, const char *key)
{
	const struct bytes path = bytes_in(input, key);
	const struct tool *const tool = tool_find(bytes_of(c->tool));
	const enum kind kind = tool ? (enum kind)tool->kind : KIND_OTHER;
	unsigned use = floor_use_of(kind);

	if (!path.data)
		return;
	if (kind == KIND_SEARCH && strcmp(c->tool, "Grep") == 0)
		use |= FLOOR_DEEP;
	c->paths[c->n_paths++] = (struct floor_path){path, path, use};
}

void case_read(struct json_object *line, struct floor_case *c)
{
	struct json_object *input, *list;

	*c = (struct floor_case){
		.name = text_of(line, "name"),
		.tool = text_of(line, "tool"),
		.source = text_of(line, "source"),
		.floor = text_of(line, "floor"),
		.cwd = bytes_in(line, "cwd"),
		.workspace = bytes_in(line, "workspace"),
		.home = bytes_in(line, "home"),
	};
	if (json_object_object_get_ex(line, "expect", &list))
		c->expect = json_object_get_string(json_object_array_get_idx(list, 0));
	if (!json_object_object_get_ex(line, "input", &input))
		return;
	if (tool_find(bytes_of(c->tool)) &&
		tool_find(bytes_of(c->tool))->kind == KIND_EXECUTE) {
		c->command = text_of(input, "command");
	} else {
		add_path(c, input, "file_path");
		add_path(c, input, "path");
	}
}

static bool check(const struct floor *floor, const struct shell_arena *arena,
	struct floor_call *call, struct bytes command, struct floor_hit *hit)
{
	const struct shell_context context = {
		.cwd = call->cwd, .home = call->home, .tmpdir = call->tmpdir};
	struct shell shell;

	if (command.data) {
		shell_read(command, &context, arena, &shell);
		call->shell = &shell;
	}
	return floor_check(floor, call, hit);
}

bool case_check(const struct floor *floor, const struct shell_arena *arena,
	const struct floor_case *c, struct floor_hit *hit)
{
	struct floor_call call = {.paths = c->paths,
		.n_paths = c->n_paths,
		.cwd = c->cwd,
		.workspace = c->workspace,
		.home = c->home};

	return check(floor, arena, &call, bytes_of(c->command), hit);
}

bool command_check(const struct floor *floor, const struct shell_arena *arena,
	const char *command, struct floor_hit *hit)
{
	struct floor_call call = {.cwd = bytes_of("/w/proj"),
		.workspace = bytes_of("/w/proj"),
		.home = bytes_of("/home/u")};

	return check(floor, arena, &call, bytes_of(command), hit);
}
