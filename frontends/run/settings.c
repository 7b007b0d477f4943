/* SPDX-License-Identifier: MIT */
/* What was asked for. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/common/options.h"
#include "frontends/run/run.h"

enum {
	OPTION_NAME = 256,
	OPTION_MODE,
	OPTION_FREEZE,
	OPTION_STOP,
	OPTION_PROTOCOL,
	OPTION_SOCKET,
	OPTION_BUDGET, /* and those after it, as in amounts[] */
	OPTION_TOKENS = OPTION_BUDGET,
	OPTION_TIME,
	OPTION_WALL,
	OPTION_CALLS,
	OPTION_COST,
};

static const char *const amounts[] = {"tokens", "time_ms", "wall_ms", "calls", "cost_microusd"};
#define AMOUNTS (sizeof(amounts) / sizeof(amounts[0]))

static const struct option_def options[] = {
	{OPTION_NAME, "name", "NAME",
		"how people are told of it (default: the program's name)"},
	{OPTION_TOKENS, "budget-tokens", "N", "suspend a turn that has used so many tokens"},
	{OPTION_TIME, "budget-time", "DURATION", "that was active for so long"},
	{OPTION_WALL, "budget-wall", "DURATION", "that has lasted so long"},
	{OPTION_CALLS, "budget-calls", "N", "that has made so many tool calls"},
	{OPTION_COST, "budget-cost", "AMOUNT", "that has cost so much, as 5.00"},
	{OPTION_MODE, "mode", "MODE", "claim plan, normal, auto-edit or yolo for it"},
	{OPTION_FREEZE, "freeze", NULL, "freeze it while it is suspended, or do not run it"},
	{OPTION_STOP, "stop", NULL, "stop it by signals while it is suspended"},
	{OPTION_PROTOCOL, "protocol", NULL, "neither: only nothing is released"},
	{OPTION_SOCKET, "socket", "PATH", "the broker's socket (default: the usual places)"},
	{0},
};

static const struct program program = {
	.name = "approval-run",
	.version = PACKAGE_VERSION,
};

static const struct command command = {
	.operands = "[--] PROGRAM [ARGUMENT]...",
	.summary = "Run a program as an agent, in a cgroup and a session of its own",
	.more = "Exits as the program does, with 128 and the number of a signal that ended it; "
		"69\n"
		"without a broker.",
	.options = options,
	.stops = true,
};

/* An amount of money in millionths: digits, and at most six behind a point. */
static int cost_read(const struct options *o, int64_t *out)
{
	const char *s = o->value;
	int64_t v = 0;
	int decimals = -1;

	for (; *s; s++) {
		if (*s == '.' && decimals < 0 && s != o->value) {
			decimals = 0;
			continue;
		}
		if (*s < '0' || *s > '9' || decimals >= 6 || v > INT64_C(100000000000))
			break;
		v = v * 10 + (*s - '0');
		decimals += decimals >= 0;
	}
	if (*s || decimals == 0) {
		options_wrong(o, "'%s' is no amount like 5.00", o->value);
		return -EINVAL;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 6; decimals++)
		v *= 10;
	*out = v;
	return 0;
}

static int amount_read(struct run *r, const struct options *o, int key)
{
	int64_t *out = &r->amounts[key - OPTION_BUDGET];
	uint64_t n = 0;
	int err;

	if (key == OPTION_COST)
		return cost_read(o, out);
	if (key == OPTION_TIME || key == OPTION_WALL)
		return options_duration(o, o->value, out);
	err = options_number(o, o->value, UINT64_C(1) << 53, &n);
	*out = (int64_t)n;
	return err;
}

static int enforce_read(struct run *r, const struct options *o, const char *how)
{
	if (r->forced && strcmp(r->enforce, how))
		return options_wrong(o, "only one of --freeze, --stop and --protocol");
	r->enforce = how;
	r->forced = true;
	return STATUS_OK;
}

int settings_read(struct run *r, int argc, char **argv)
{
	static const char *const modes[] = {"plan", "normal", "auto-edit", "yolo", NULL};
	struct options given, *o = &given;
	int key, wrong = 0;

	options_single(o, &program, &command, argc, argv);

	while (!wrong && (key = options_next(o)) > OPTIONS_END)
		switch (key) {
		case OPTION_NAME: r->name = o->value; break;
		case OPTION_SOCKET: r->socket = o->value; break;
		case OPTION_FREEZE: wrong = enforce_read(r, o, "freeze"); break;
		case OPTION_STOP: wrong = enforce_read(r, o, "stop"); break;
		case OPTION_PROTOCOL: wrong = enforce_read(r, o, "protocol"); break;
		case OPTION_MODE:
			r->mode = o->value;
			wrong = options_word(o, o->value, modes);
			break;
		default: wrong = amount_read(r, o, key); break;
		}
	if (wrong)
		return STATUS_USAGE;
	if (key == OPTIONS_EXIT)
		return o->status;
	if (!o->n_operands)
		return options_wrong(o, "the program to be run is missing");
	r->argv = o->operands;
	if (!r->name) {
		const char *slash = strrchr(r->argv[0], '/');

		r->name = slash && slash[1] ? slash + 1 : r->argv[0];
	}
	return -1;
}

int budget_make(struct run *r)
{
	size_t n = 0;
	int err;

	for (size_t i = 0; i < AMOUNTS; i++)
		n += r->amounts[i] >= 0;
	if (!n)
		return 0;
	err = approval_pack_new(&r->budget);
	if (err)
		return err;
	err = approval_pack_map(r->budget, n);
	for (size_t i = 0; i < AMOUNTS && !err; i++) {
		if (r->amounts[i] < 0)
			continue;
		err = approval_pack_str(r->budget, amounts[i]);
		if (!err)
			err = approval_pack_int(r->budget, r->amounts[i]);
	}
	return err;
}
