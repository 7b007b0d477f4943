/* SPDX-License-Identifier: MIT */
/* kill: end a session's processes */
#include "config.h"

#include <stdlib.h>

#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"

enum { OPTION_GRACE = OPTION_OTHER };

const struct option_def ctl_kill_options[] = {
	{OPTION_GRACE, "grace", "DURATION", "from SIGTERM to SIGKILL (default: 10s)"},
	{OPTION_REASON, "reason", "TEXT", "shown in the history", .empty = true},
	OPTION_DEF_JSON,
	{0},
};

int ctl_kill(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	struct approval_value *result = NULL;
	const char *reason = NULL;
	char *session = NULL;
	int64_t grace = -1;
	int key;

	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_REASON: reason = o->value; break;
		case OPTION_GRACE:
			if (options_duration(o, o->value, &grace))
				return STATUS_USAGE;
			break;
		default: ctl_option(c, o, key);
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands != 1)
		return options_wrong(o, o->n_operands ? "one session" : "a session is missing");

	int status = ctl_open_frontend(c);

	if (!status)
		status = ctl_resolve(c, o->operands[0], "session", &session);
	if (!status) {
		const struct param params[] = {
			PARAM_TEXT("session", session),
			PARAM_INT("grace_ms", grace),
			PARAM_TEXT("reason", reason),
		};

		status = ctl_call(c, "kill", params, 3, &result);
	}
	if (!status && c->json)
		status = ctl_own(c, json_write_value(&c->out, result));
	else if (!status)
		output_printf(&c->out, "its processes are being ended\n");
	approval_value_free(result);
	free(session);
	return status;
}
