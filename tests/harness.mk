# SPDX-License-Identifier: MIT
if HAVE_CHECK
harness_tests = tests/daemon/test_self_approval
check_PROGRAMS += $(harness_tests)
TESTS += $(harness_tests)

tests_daemon_test_self_approval_SOURCES = \
	tests/ctl/run.c \
	tests/ctl/run.h \
	tests/daemon/broker.c \
	tests/daemon/broker.h \
	tests/daemon/raw.c \
	tests/daemon/raw.h \
	tests/daemon/test_self_approval.c
tests_daemon_test_self_approval_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_self_approval_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS) $(JSON_LIBS) -lutil
endif
