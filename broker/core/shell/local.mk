# SPDX-License-Identifier: MIT
# Reads commands as Bash does; pure, as all of the core.
noinst_LTLIBRARIES += broker/core/shell/libshell.la
broker_core_shell_libshell_la_SOURCES = \
	broker/core/shell/args.c \
	broker/core/shell/brace.c \
	broker/core/shell/compound.c \
	broker/core/shell/cond.c \
	broker/core/shell/expand.c \
	broker/core/shell/fetched.c \
	broker/core/shell/here_doc.c \
	broker/core/shell/git.c \
	broker/core/shell/lex.c \
	broker/core/shell/name.c \
	broker/core/shell/option.c \
	broker/core/shell/option.h \
	broker/core/shell/option_table.c \
	broker/core/shell/parameter.c \
	broker/core/shell/place.c \
	broker/core/shell/program.c \
	broker/core/shell/quote.c \
	broker/core/shell/read.c \
	broker/core/shell/reader.c \
	broker/core/shell/reader.h \
	broker/core/shell/readonly.c \
	broker/core/shell/redirect.c \
	broker/core/shell/runner.c \
	broker/core/shell/runner.h \
	broker/core/shell/shell.h \
	broker/core/shell/simple.c \
	broker/core/shell/special.c \
	broker/core/shell/text.c \
	broker/core/shell/word.c \
	broker/core/shell/wrapper.c \
	broker/core/shell/wrapper.h \
	broker/core/shell/wrapper_table.c
