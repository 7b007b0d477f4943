/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "frontends/ctl/ctl.h"

static const struct option_def common_options[] = {
	OPTION_DEF_SOCKET,
	{0},
};

static const struct command commands[] = {
	{"ask", "[--] COMMAND [ARGUMENT]...", "Run a command once it is allowed",
		"Exits as the command does; with 77 if it was denied, 75 if nobody answered "
		"in time, 69 without a broker.",
		ctl_ask_options, true, ctl_ask},
	{"check", "[--] COMMAND [ARGUMENT]...",
		"Tell what would be said without asking a person",
		"Exits with 0 for allow, 77 for deny, 79 for ask. An allow or a deny is "
		"recorded.",
		ctl_check_options, true, ctl_check},
	{"list", NULL, "Show what waits for an answer", NULL, ctl_list_options, false,
		ctl_list},
	{"show", "ID...", "Show everything about a request, session or turn",
		"An id may be a unique beginning or end of one, of at least 4 characters.",
		ctl_show_options, false, ctl_show},
	{"allow", "ID...", "Allow requests, once",
		"An id may be a unique beginning or end of one, of at least 4 characters.",
		ctl_allow_options, false, ctl_allow},
	{"deny", "ID...", "Deny requests",
		"An id may be a unique beginning or end of one, of at least 4 characters.",
		ctl_deny_options, false, ctl_deny},
	{"watch", NULL, "Show events as they come, until interrupted", NULL, ctl_watch_options,
		false, ctl_watch},
	{"sessions", NULL, "Show the sessions of agents", NULL, ctl_sessions_options, false,
		ctl_sessions},
	{"turns", NULL, "Show the turns of sessions, with their usage", NULL, ctl_turns_options,
		false, ctl_turns},
	{"mode", "SESSION MODE", "Set the highest mode that a session may have",
		"Modes are plan, normal, auto-edit and yolo.", ctl_mode_options, false,
		ctl_mode},
	{"budget", "[SESSION]", "Show ceilings, and what is used of them", NULL,
		ctl_budget_options, false, ctl_budget},
	{"suspend", "SESSION|--all", "Suspend the present turn: nothing is released any more",
		NULL, ctl_suspend_options, false, ctl_suspend},
	{"resume", "SESSION|--all", "Resume suspended turns",
		"What a ceiling has suspended gets as much again as is configured, or what is "
		"given.",
		ctl_resume_options, false, ctl_resume},
	{"end-turn", "SESSION", "End the present turn: its calls are denied", NULL,
		ctl_end_turn_options, false, ctl_end_turn},
	{"kill", "SESSION", "End the processes of a session",
		"They get SIGTERM, and what is left after the grace SIGKILL; at once where they "
		"are frozen or stopped.",
		ctl_kill_options, false, ctl_kill},
	{"history", NULL, "Show what was decided, the newest first", NULL, ctl_history_options,
		false, ctl_history},
	{"explain", "[--] COMMAND [ARGUMENT]...\n--input JSON\n--request ID\n--offline --stdin",
		"Tell what rules, floor and mode say of calls, and why",
		"Exits with 0 for allow, 77 for deny, 79 for ask. Nothing is recorded or counted. "
		"One operand is a command line of a shell, as it stands. With --offline --stdin "
		"it reads one JSON object on each line and writes one for each: verdict (allow, "
		"deny, ask, or error), source, rule, step, floor, about, what, message, path; and "
		"exits with 0.",
		ctl_explain_options, true, ctl_explain},
	{"rules",
		"[list]\nadd RULE\nremove NUMBER...\nreload\nlint\ntest COMMAND [ARGUMENT]...\n"
		"trust [PROJECT]\nimport --from AGENT FILE",
		"Show and change the rules in force",
		"A rule of a file is changed in its file. 'rules test', 'rules trust' and 'rules "
		"import' have a --help of their own. See approval-rules(5).",
		ctl_rules_options, false, ctl_rules},
	{"floor", "[list]\nadd NAME GUARDS PATTERN...\nremove NAME",
		"Show what always asks a person, and add to it",
		"GUARDS is all, command, or some of read,write,run. See approval-floor(5).",
		ctl_floor_options, false, ctl_floor},
	{"stats", NULL, "Show the broker's counters", NULL, ctl_stats_options, false,
		ctl_stats},
	{"doctor", NULL, "Find out whether all is well, and what to do if not", NULL,
		ctl_doctor_options, false, ctl_doctor},
	{NULL},
};

static const struct program program = {
	.name = "approvalctl",
	.version = PACKAGE_VERSION,
	.summary = "Answer the tool calls of agents, and look after their broker",
	.more = "'approvalctl COMMAND --help' tells more; so does approvalctl(1).",
	.common = common_options,
	.commands = commands,
};

void ctl_option(struct ctl *c, const struct options *o, int key)
{
	if (key == OPTION_SOCKET)
		c->socket = o->value;
	else if (key == OPTION_JSON)
		c->json = true;
}

void ctl_say(const struct ctl *c, const char *format, ...)
{
	struct text said = {0}, shown = {0};
	va_list ap;

	va_start(ap, format);
	text_vprintf(&said, format, ap);
	va_end(ap);
	text_add(&shown, "approvalctl: ");
	text_terminal(&shown, text_string(&said), said.len, 0);
	text_add(&shown, "\n");
	output_text(&c->err, &shown);
	text_free(&said);
}

int ctl_own(const struct ctl *c, int r)
{
	if (!r)
		return STATUS_OK;
	ctl_say(c, "%s", strerror(-r));
	return STATUS_INTERNAL;
}

int main(int argc, char **argv)
{
	struct ctl c = {0};
	struct options o;
	int status;

	output_locale();
	output_init(&c.out, stdout);
	output_init(&c.err, stderr);
	if (options_command(&o, &program, argc, argv) == OPTIONS_EXIT)
		status = o.status;
	else
		status = o.command->run(&c, &o);
	approval_free(c.client);

	int r = output_finish(&c.out);
	if (r) {
		ctl_say(&c, "can't write to standard output: %s", strerror(-r));
		status = status ? status : STATUS_FAILED;
	}
	return status;
}
