# SPDX-License-Identifier: MIT
bin_PROGRAMS += approvalctl
approvalctl_SOURCES = \
	frontends/ctl/ask.c \
	frontends/ctl/budget.c \
	frontends/ctl/check.c \
	frontends/ctl/child.c \
	frontends/ctl/child.h \
	frontends/ctl/client.c \
	frontends/ctl/ctl.h \
	frontends/ctl/decide.c \
	frontends/ctl/doctor.c \
	frontends/ctl/doctor.h \
	frontends/ctl/explain.c \
	frontends/ctl/explain.h \
	frontends/ctl/explain_live.c \
	frontends/ctl/explain_offline.c \
	frontends/ctl/floor.c \
	frontends/ctl/floor_file.c \
	frontends/ctl/floor_file.h \
	frontends/ctl/frozen.c \
	frontends/ctl/frozen.h \
	frontends/ctl/stopped.c \
	frontends/ctl/stopped.h \
	frontends/ctl/history.c \
	frontends/ctl/history.h \
	frontends/ctl/item.c \
	frontends/ctl/item.h \
	frontends/ctl/kill.c \
	frontends/ctl/list.c \
	frontends/ctl/loop.c \
	frontends/ctl/main.c \
	frontends/ctl/replay.c \
	frontends/ctl/request.c \
	frontends/ctl/request.h \
	frontends/ctl/rules.c \
	frontends/ctl/rules_agents.c \
	frontends/ctl/rules_import.c \
	frontends/ctl/rules_match.c \
	frontends/ctl/rules_match.h \
	frontends/ctl/rules_test.c \
	frontends/ctl/session.c \
	frontends/ctl/trust.c \
	frontends/ctl/trust.h \
	frontends/ctl/watch.c
approvalctl_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
approvalctl_LDADD = frontends/ctl/libimport.la frontends/common/libfcommon.la libapproval.la \
	broker/io/libexplain.la $(JSON_LIBS)

# rules of other agents
noinst_LTLIBRARIES += frontends/ctl/libimport.la
frontends_ctl_libimport_la_SOURCES = \
	frontends/ctl/import.c \
	frontends/ctl/import.h \
	frontends/ctl/import_claude.c \
	frontends/ctl/import_codex.c \
	frontends/ctl/import_gemini.c \
	frontends/ctl/import_gemini.h \
	frontends/ctl/import_gemini_policy.c \
	frontends/ctl/import_gemini_settings.c \
	frontends/ctl/import_glob.c \
	frontends/ctl/import_glob.h \
	frontends/ctl/import_json.c \
	frontends/ctl/import_node.c \
	frontends/ctl/import_node.h \
	frontends/ctl/import_opencode.c \
	frontends/ctl/import_opencode.h \
	frontends/ctl/import_opencode_outside.c \
	frontends/ctl/import_order.c \
	frontends/ctl/import_path.c \
	frontends/ctl/import_rule.h \
	frontends/ctl/import_spec.c \
	frontends/ctl/import_starlark.c \
	frontends/ctl/import_text.c \
	frontends/ctl/import_text.h \
	frontends/ctl/import_toml.c
frontends_ctl_libimport_la_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
frontends_ctl_libimport_la_LIBADD = frontends/common/libfcommon.la $(JSON_LIBS)
