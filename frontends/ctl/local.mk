# SPDX-License-Identifier: MIT
bin_PROGRAMS += approvalctl
approvalctl_SOURCES = \
	frontends/ctl/ask.c \
	frontends/ctl/check.c \
	frontends/ctl/child.c \
	frontends/ctl/child.h \
	frontends/ctl/client.c \
	frontends/ctl/ctl.h \
	frontends/ctl/decide.c \
	frontends/ctl/doctor.c \
	frontends/ctl/doctor.h \
	frontends/ctl/explain.c \
	frontends/ctl/history.c \
	frontends/ctl/item.c \
	frontends/ctl/item.h \
	frontends/ctl/list.c \
	frontends/ctl/loop.c \
	frontends/ctl/main.c \
	frontends/ctl/request.c \
	frontends/ctl/request.h \
	frontends/ctl/session.c \
	frontends/ctl/watch.c
approvalctl_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
approvalctl_LDADD = frontends/common/libfcommon.la libapproval.la broker/io/libexplain.la \
	$(JSON_LIBS)
