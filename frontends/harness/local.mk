# SPDX-License-Identifier: MIT
bin_PROGRAMS += approval-harness
approval_harness_SOURCES = \
	frontends/harness/client.c \
	frontends/harness/expect.c \
	frontends/harness/harness.h \
	frontends/harness/main.c \
	frontends/harness/packing.c \
	frontends/harness/packing.h \
	frontends/harness/pattern.c \
	frontends/harness/rawlink.c \
	frontends/harness/rawlink.h \
	frontends/harness/run.c \
	frontends/harness/scenario.c \
	frontends/harness/verb_call.c \
	frontends/harness/verb_call.h \
	frontends/harness/verbs.c \
	frontends/harness/worker.c
conformancedir = $(pkgdatadir)/conformance
approval_harness_CPPFLAGS = $(AM_CPPFLAGS) -DPKG_CONFORMANCEDIR='"$(conformancedir)"'
approval_harness_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
approval_harness_LDADD = frontends/common/libfcommon.la libapproval.la $(JSON_LIBS)
