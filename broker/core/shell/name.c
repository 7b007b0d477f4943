/* SPDX-License-Identifier: MIT */
#include "broker/core/shell/shell.h"

struct bytes shell_name(const struct shell_command *command)
{
	struct bytes text = {0};
	const char *slash;

	if (command->nwords == 0 || command->words[0].flags & (SHELL_DYNAMIC | SHELL_GLOB))
		return text;
	text = command->words[0].text;
	slash = text.len ? memrchr(text.data, '/', text.len) : NULL;
	if (slash) {
		text.len -= (size_t)(slash + 1 - (const char *)text.data);
		text.data = slash + 1;
	}
	return text;
}
