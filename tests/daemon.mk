# SPDX-License-Identifier: MIT
if HAVE_CHECK
daemon_tests = tests/daemon/test_disconnect tests/daemon/test_load tests/daemon/test_store
check_PROGRAMS += $(daemon_tests)
TESTS += $(daemon_tests)

daemon_common = tests/daemon/broker.c tests/daemon/broker.h tests/daemon/raw.c tests/daemon/raw.h
tests_daemon_test_disconnect_SOURCES = $(daemon_common) tests/daemon/test_disconnect.c
tests_daemon_test_disconnect_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_disconnect_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
tests_daemon_test_load_SOURCES = $(daemon_common) tests/daemon/test_load.c
tests_daemon_test_load_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
if SANITIZED
tests_daemon_test_load_CFLAGS += -DSANITIZED
endif
tests_daemon_test_load_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
failing_store = tests/daemon/failing_store.c tests/daemon/failing_store.h
tests_daemon_test_store_SOURCES = $(daemon_common) $(failing_store) tests/daemon/test_store.c
tests_daemon_test_store_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_store_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
endif
