# SPDX-License-Identifier: MIT
if HAVE_CHECK
check_PROGRAMS += tests/daemon/test_review
TESTS += tests/daemon/test_review
tests_daemon_test_review_SOURCES = tests/daemon/test_review.c
tests_daemon_test_review_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_review_LDADD = tests/daemon/libtestdaemon.la
endif
