# SPDX-License-Identifier: MIT
bin_PROGRAMS += approval-policy
noinst_LTLIBRARIES += frontends/policy/libpolicy.la
# what its tests link, too: everything but the program itself
frontends_policy_libpolicy_la_SOURCES = \
	frontends/policy/call.c \
	frontends/policy/call.h \
	frontends/policy/load.c \
	frontends/policy/matcher.c \
	frontends/policy/parse.c \
	frontends/policy/policy.c \
	frontends/policy/policy.h
frontends_policy_libpolicy_la_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
frontends_policy_libpolicy_la_LIBADD = frontends/common/libfcommon.la libapproval.la \
	broker/io/libexplain.la

approval_policy_SOURCES = \
	frontends/policy/live.c \
	frontends/policy/main.c \
	frontends/policy/main.h \
	frontends/policy/offline.c \
	frontends/policy/program.c \
	frontends/policy/program.h \
	frontends/policy/review.c \
	frontends/policy/review.h \
	frontends/policy/summary.c \
	frontends/policy/summary.h \
	frontends/policy/taken.c \
	frontends/policy/taken.h
approval_policy_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
approval_policy_LDADD = frontends/policy/libpolicy.la frontends/common/libfcommon.la \
	libapproval.la $(JSON_LIBS)
