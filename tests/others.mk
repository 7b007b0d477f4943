# SPDX-License-Identifier: MIT
if HAVE_CHECK
check_PROGRAMS += tests/daemon/test_others
TESTS += tests/daemon/test_others
tests_daemon_test_others_SOURCES = tests/daemon/test_others.c
tests_daemon_test_others_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
if SANITIZED
tests_daemon_test_others_CFLAGS += -DSANITIZED
endif
tests_daemon_test_others_LDADD = tests/daemon/libtestdaemon.la
endif
