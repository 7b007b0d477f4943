# SPDX-License-Identifier: MIT
# At each limit and one above, and clients that are slow.
if HAVE_CHECK
edges_tests = tests/daemon/test_edges tests/daemon/test_quota tests/daemon/test_slow
check_PROGRAMS += $(edges_tests)
TESTS += $(edges_tests)

edges_common = tests/daemon/neighbour.c tests/daemon/neighbour.h
tests_daemon_test_edges_SOURCES = $(edges_common) tests/daemon/test_edges.c
tests_daemon_test_edges_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_edges_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_quota_SOURCES = $(edges_common) tests/daemon/test_quota.c
tests_daemon_test_quota_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_quota_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_slow_SOURCES = $(edges_common) tests/daemon/test_slow.c
tests_daemon_test_slow_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_slow_LDADD = tests/daemon/libtestdaemon.la
endif
