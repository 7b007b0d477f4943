# SPDX-License-Identifier: MIT
if HAVE_CHECK
check_PROGRAMS += tests/daemon/test_others tests/daemon/test_start
TESTS += tests/daemon/test_others tests/daemon/test_start
tests_daemon_test_start_SOURCES = tests/daemon/test_start.c
tests_daemon_test_start_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_start_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_others_SOURCES = tests/daemon/test_others.c
tests_daemon_test_others_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
if SANITIZED
tests_daemon_test_others_CFLAGS += -DSANITIZED
endif
tests_daemon_test_others_LDADD = tests/daemon/libtestdaemon.la
endif
