# SPDX-License-Identifier: MIT
# Rules: parsed, found, compared with calls; pure as the rest of the core.
broker_core_libcore_la_SOURCES += \
	broker/core/rules/carry.c \
	broker/core/rules/command_pattern.c \
	broker/core/rules/command_pattern.h \
	broker/core/rules/command_view.c \
	broker/core/rules/command_view.h \
	broker/core/rules/cover.c \
	broker/core/rules/fold.c \
	broker/core/rules/fold.h \
	broker/core/rules/glob.c \
	broker/core/rules/glob.h \
	broker/core/rules/idna.c \
	broker/core/rules/idna.h \
	broker/core/rules/lint.c \
	broker/core/rules/lint.h \
	broker/core/rules/match.c \
	broker/core/rules/match_command.c \
	broker/core/rules/match_path.c \
	broker/core/rules/operand.c \
	broker/core/rules/operand.h \
	broker/core/rules/path_pattern.c \
	broker/core/rules/path_pattern.h \
	broker/core/rules/pathname.c \
	broker/core/rules/pathname.h \
	broker/core/rules/rule.c \
	broker/core/rules/rule.h \
	broker/core/rules/ruleset.c \
	broker/core/rules/ruleset.h \
	broker/core/rules/ruleset_index.c \
	broker/core/rules/ruleset_private.h \
	broker/core/rules/spec.c \
	broker/core/rules/spec.h \
	broker/core/rules/spec_words.c \
	broker/core/rules/spec_words.h \
	broker/core/rules/suggest.c \
	broker/core/rules/suggest.h \
	broker/core/rules/trie.c \
	broker/core/rules/trie.h \
	broker/core/rules/url.c \
	broker/core/rules/urlhost.c \
	broker/core/rules/urlhost.h
broker_core_libcore_la_LIBADD = broker/core/shell/libshell.la
