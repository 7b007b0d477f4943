# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += frontends/common/libfcommon.la
frontends_common_libfcommon_la_SOURCES = \
	frontends/common/cgroup.c \
	frontends/common/cgroup.h \
	frontends/common/duration.c \
	frontends/common/duration.h \
	frontends/common/exit.h \
	frontends/common/json.c \
	frontends/common/json.h \
	frontends/common/options.c \
	frontends/common/options.h \
	frontends/common/output.c \
	frontends/common/output.h \
	frontends/common/start.h \
	frontends/common/table.c \
	frontends/common/table.h \
	frontends/common/text.c \
	frontends/common/text.h
frontends_common_libfcommon_la_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
frontends_common_libfcommon_la_LIBADD = $(JSON_LIBS)
