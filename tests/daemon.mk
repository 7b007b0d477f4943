# SPDX-License-Identifier: MIT
if HAVE_CHECK
# the broker, a client of its wire, and programs that talk to it
check_LTLIBRARIES += tests/daemon/libtestdaemon.la
tests_daemon_libtestdaemon_la_SOURCES = \
	tests/ctl/live.c \
	tests/ctl/live.h \
	tests/ctl/run.c \
	tests/ctl/run.h \
	tests/daemon/broker.c \
	tests/daemon/broker.h \
	tests/daemon/raw.c \
	tests/daemon/raw.h
tests_daemon_libtestdaemon_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_libtestdaemon_la_LIBADD = libapproval/wire/libwire.la $(CHECK_LIBS) $(JSON_LIBS) \
	-lutil

daemon_tests = tests/daemon/test_budget tests/daemon/test_descriptors tests/daemon/test_disconnect tests/daemon/test_edit tests/daemon/test_floor \
	tests/daemon/test_load tests/daemon/test_paths tests/daemon/test_query \
	tests/daemon/test_rows tests/daemon/test_store
check_PROGRAMS += $(daemon_tests)
TESTS += $(daemon_tests)

tests_daemon_test_budget_SOURCES = tests/daemon/test_budget.c
tests_daemon_test_budget_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_budget_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_descriptors_SOURCES = tests/daemon/test_descriptors.c
tests_daemon_test_descriptors_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_descriptors_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_disconnect_SOURCES = tests/daemon/test_disconnect.c
tests_daemon_test_disconnect_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_disconnect_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_edit_SOURCES = tests/daemon/test_edit.c
tests_daemon_test_edit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_edit_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_floor_SOURCES = tests/daemon/test_floor.c
tests_daemon_test_floor_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_floor_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_load_SOURCES = tests/daemon/test_load.c
tests_daemon_test_load_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
if SANITIZED
tests_daemon_test_load_CFLAGS += -DSANITIZED
endif
tests_daemon_test_load_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_paths_SOURCES = tests/daemon/test_paths.c
tests_daemon_test_paths_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_paths_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_query_SOURCES = tests/daemon/test_query.c
tests_daemon_test_query_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS) $(NETTLE_CFLAGS)
tests_daemon_test_query_LDADD = tests/daemon/libtestdaemon.la broker/store/libstore.la \
	broker/core/libcore.la $(SQLITE_LIBS) $(NETTLE_LIBS)
tests_daemon_test_rows_SOURCES = tests/daemon/test_rows.c
tests_daemon_test_rows_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS)
tests_daemon_test_rows_LDADD = tests/daemon/libtestdaemon.la $(SQLITE_LIBS)
failing_store = tests/daemon/failing_store.c tests/daemon/failing_store.h
tests_daemon_test_store_SOURCES = $(failing_store) tests/daemon/test_store.c
tests_daemon_test_store_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_store_LDADD = tests/daemon/libtestdaemon.la
endif
