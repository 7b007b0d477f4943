/* SPDX-License-Identifier: MIT */
/* check: what would be said at once, without asking a person */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/request.h"

#define FAREWELL_MS 2000
#define CHECK_MS    30000

enum { OPTION_INPUT = OPTION_OTHER };

const struct option_def ctl_check_options[] = {
	{OPTION_TOOL, "tool", "NAME", "the tool (default: " REQUEST_TOOL ")"},
	{OPTION_INPUT, "input", "JSON", "its input, instead of a command line"},
	OPTION_DEF_JSON,
	{0},
};

static int check_print(const struct ctl *c, const struct approval_decision *d)
{
	static const struct {
		const char *name;
		enum output_style style;
	} verdicts[] = {
		[APPROVAL_ALLOW] = {"allow", STYLE_GREEN},
		[APPROVAL_DENY] = {"deny", STYLE_RED},
		[APPROVAL_ASK] = {"ask", STYLE_YELLOW},
	};
	int r;

	if (c->json)
		return json_write_value(&c->out, d->result);
	output_styled(&c->out, verdicts[d->verdict].style, verdicts[d->verdict].name);
	output_printf(&c->out, "\n");
	r = output_field(&c->out, "Source", d->source, strlen(d->source));
	r = r ? r : output_field(&c->out, "Step", d->step, strlen(d->step));
	r = r ? r : output_field(&c->out, "Reason", d->reason, strlen(d->reason));
	return r ? r : output_field(&c->out, "Message", d->message, strlen(d->message));
}

static int check_run(struct ctl *c, const struct approval_request *r)
{
	const struct approval_decision *d;
	int status, result = approval_check_wait(c->client, r, CHECK_MS, &d);

	if (result)
		return ctl_broke(c, result, approval_last_error(c->client));
	switch (d->verdict) {
	case APPROVAL_ALLOW: status = STATUS_OK; break;
	case APPROVAL_DENY: status = STATUS_DENIED; break;
	case APPROVAL_ASK: status = STATUS_ASK; break;
	default: return ctl_broke(c, -EPROTO, NULL);
	}
	result = ctl_own(c, check_print(c, d));
	approval_bye(c->client, true, FAREWELL_MS);
	return result ? result : status;
}

int ctl_check(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	struct approval_options options;
	struct ctl_request q;
	const char *tool = NULL, *input = NULL, *why = "";
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_TOOL: tool = o->value; break;
		case OPTION_INPUT: input = o->value; break;
		default: ctl_option(c, o, key);
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	if (!input == !o->n_operands)
		return options_wrong(o, input ? "either --input or a command line"
					      : "a command line or --input is missing");

	int r = input ? request_json(&q, input, &why)
		      : request_words(&q, o->operands, o->n_operands);
	if (r == -EINVAL && input)
		status = options_wrong(o, "the input is no JSON: %s", why);
	else
		status = ctl_own(c, r);
	if (!status) {
		approval_options_init(&options, APPROVAL_AGENT);
		options.agent = REQUEST_AGENT;
		options.cwd = q.cwd;
		q.r.tool = tool ? tool : q.r.tool;
		status = ctl_open_once(c, &options);
	}
	if (!status)
		status = check_run(c, &q.r);
	request_free(&q);
	return status;
}
