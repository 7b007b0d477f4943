/* SPDX-License-Identifier: MIT */
/* Claude Code's settings: our hooks in them. */
#ifndef HOOK_CLAUDE_SETTINGS_H
#define HOOK_CLAUDE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "frontends/common/text.h"
#include "frontends/hook/jsontext.h"

struct claude_hook {
	const char *event;
	const char *matcher; /* NULL: the event takes none */
	bool decides;
	unsigned timeout; /* seconds */
};

#define CLAUDE_HOOKS 9

extern const struct claude_hook claude_hooks[CLAUDE_HOOKS];

/* The settings file: $CLAUDE_CONFIG_DIR or ~/.claude. -ENOENT where neither is known. */
int claude_settings_path(char *out, size_t size);

/*
 * The same settings with all our hooks, run by `command`, or without any. Nothing
 * else is touched; the text stays the same where nothing is to be done. -EBADMSG
 * with a text in *why (to be freed by text_free) for settings that can't be read.
 */
int claude_settings_add(
	struct text *out, const char *text, size_t len, const char *command, struct text *why);
int claude_settings_remove(struct text *out, const char *text, size_t len, struct text *why);

/* Whether a hook of the settings, as it stands there, is ours, in whatever form. */
bool claude_settings_ours(const struct jsontext *t, const struct jsontext_node *hook);

#endif
