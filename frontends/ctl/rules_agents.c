/* SPDX-License-Identifier: MIT */
/* What `approvalctl rules` does as commands with options of their own. */
#include "config.h"

#include "frontends/ctl/ctl.h"

static const struct command commands[] = {
	{"import", "FILE", "Make rules of another agent's settings",
		"The rules go to standard output, what could not be said so to standard "
		"error. FILE may be -, standard input. Exits with 0 if all rules were taken over, "
		"1 if some were refused or narrowed, 65 if FILE is not what it should be.",
		ctl_rules_import_options, false, ctl_rules_import},
	{"test", "[--] COMMAND [ARGUMENT]...\n--path PATH\n--url URL\n--input JSON",
		"Tell what each rule says of a call",
		"Exits with what the rules say: 0 for allow, 77 for deny, 79 for ask, 1 for "
		"nothing. One operand is a command line of a shell, as it stands.",
		ctl_rules_test_options, true, ctl_rules_test},
	{"trust", "[PROJECT]", "Let the rules that a project brings along allow, too",
		"Shows the file whole before it asks. A file that is changed is not trusted any "
		"more.",
		ctl_rules_trust_options, false, ctl_rules_trust},
	{NULL},
};

static const struct program program = {
	.name = "approvalctl rules",
	.version = PACKAGE_VERSION,
	.summary = "Make, try and trust rules",
	.more = "See approvalctl(1).",
	.commands = commands,
};

int ctl_rules_agents(void *ctl, struct options *o)
{
	struct options inner;

	if (options_command(&inner, &program, o->argc, o->argv) == OPTIONS_EXIT)
		return inner.status;
	return inner.command->run(ctl, &inner);
}
