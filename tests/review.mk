# SPDX-License-Identifier: MIT
if HAVE_CHECK
check_PROGRAMS += tests/daemon/test_review tests/daemon/test_rules \
	tests/daemon/test_standing tests/daemon/test_always
TESTS += tests/daemon/test_review tests/daemon/test_rules \
	tests/daemon/test_standing tests/daemon/test_always
ruled = tests/daemon/ruled.c tests/daemon/ruled.h
tests_daemon_test_standing_SOURCES = $(ruled) tests/daemon/test_standing.c
tests_daemon_test_standing_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_standing_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_always_SOURCES = $(ruled) tests/daemon/test_always.c
tests_daemon_test_always_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_always_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_rules_SOURCES = $(ruled) tests/daemon/test_rules.c
tests_daemon_test_rules_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_rules_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_review_SOURCES = tests/daemon/test_review.c
tests_daemon_test_review_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_review_LDADD = tests/daemon/libtestdaemon.la
endif
