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

conformancefrontenddir = $(conformancedir)/frontend
dist_conformancefrontend_DATA = \
	frontends/harness/conformance/frontend/1-snapshot.scn \
	frontends/harness/conformance/frontend/2-ends.scn \
	frontends/harness/conformance/frontend/3-restart.scn \
	frontends/harness/conformance/frontend/4-gone.scn
conformanceagentdir = $(conformancedir)/agent
dist_conformanceagent_DATA = \
	frontends/harness/conformance/agent/1-allow.scn \
	frontends/harness/conformance/agent/2-deny.scn \
	frontends/harness/conformance/agent/3-restart.scn \
	frontends/harness/conformance/agent/4-interrupt.scn \
	frontends/harness/conformance/agent/5-timeout.scn
