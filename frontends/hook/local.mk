# SPDX-License-Identifier: MIT
bin_PROGRAMS += approval-hook

# also linked into the tests of its parts
noinst_LTLIBRARIES += frontends/hook/libhook.la
frontends_hook_libhook_la_SOURCES = \
	frontends/hook/convert.c \
	frontends/hook/convert.h \
	frontends/hook/claude_event.c \
	frontends/hook/claude_event.h \
	frontends/hook/claude_settings.c \
	frontends/hook/claude_settings.h \
	frontends/hook/cursor.c \
	frontends/hook/jsontext.c \
	frontends/hook/jsontext.h \
	frontends/hook/settings_file.c \
	frontends/hook/settings_file.h \
	frontends/hook/stream.c \
	frontends/hook/stream.h \
	frontends/hook/transcript.c \
	frontends/hook/transcript.h
frontends_hook_libhook_la_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
frontends_hook_libhook_la_LIBADD = frontends/common/libfcommon.la $(JSON_LIBS)

approval_hook_SOURCES = \
	frontends/hook/channel.c \
	frontends/hook/channel.h \
	frontends/hook/claude.c \
	frontends/hook/claude.h \
	frontends/hook/claude_decide.c \
	frontends/hook/claude_doctor.c \
	frontends/hook/claude_probe.c \
	frontends/hook/doctor.c \
	frontends/hook/doctor.h \
	frontends/hook/guard.c \
	frontends/hook/guard.h \
	frontends/hook/hook.h \
	frontends/hook/install.c \
	frontends/hook/main.c \
	frontends/hook/probe.c \
	frontends/hook/probe.h \
	frontends/hook/report.c \
	frontends/hook/report.h \
	frontends/hook/watch_lock.c \
	frontends/hook/watch_lock.h \
	frontends/hook/watcher.c \
	frontends/hook/watcher.h
approval_hook_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
approval_hook_LDADD = frontends/hook/libhook.la libapproval.la $(JSON_LIBS)
