# SPDX-License-Identifier: MIT
# At each limit and one above, and clients that are slow.
if HAVE_CHECK
edges_tests = tests/daemon/test_edges tests/daemon/test_quota tests/daemon/test_slow \
	tests/daemon/test_mount tests/daemon/test_remount
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
tests_daemon_test_mount_SOURCES = $(failing_store) tests/daemon/test_mount.c
tests_daemon_test_mount_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_mount_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_remount_SOURCES = $(failing_store) tests/daemon/test_remount.c
tests_daemon_test_remount_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_remount_LDADD = tests/daemon/libtestdaemon.la

# a frontend for the conformance set
check_PROGRAMS += tests/daemon/answering_frontend
tests_daemon_answering_frontend_SOURCES = tests/daemon/answering_frontend.c
tests_daemon_answering_frontend_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
tests_daemon_answering_frontend_LDADD = frontends/common/libfcommon.la libapproval.la $(JSON_LIBS)
endif
