# SPDX-License-Identifier: MIT
bin_PROGRAMS += approval-run
approval_run_SOURCES = \
	frontends/run/child.c \
	frontends/run/child.h \
	frontends/run/group.c \
	frontends/run/group.h \
	frontends/run/main.c \
	frontends/run/run.h \
	frontends/run/scope.c \
	frontends/run/settings.c \
	frontends/run/terminal.c \
	frontends/run/watch.c
approval_run_CFLAGS = $(AM_CFLAGS)
approval_run_LDADD = frontends/common/libfcommon.la libapproval.la
