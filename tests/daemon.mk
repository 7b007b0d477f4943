# SPDX-License-Identifier: MIT
if HAVE_CHECK
daemon_tests = tests/daemon/test_crash
check_PROGRAMS += $(daemon_tests)
TESTS += $(daemon_tests)

tests_daemon_test_crash_SOURCES = \
	tests/daemon/broker.c \
	tests/daemon/broker.h \
	tests/daemon/raw.c \
	tests/daemon/raw.h \
	tests/daemon/test_crash.c
tests_daemon_test_crash_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_crash_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
endif
