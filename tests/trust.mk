# SPDX-License-Identifier: MIT
if HAVE_CHECK
check_PROGRAMS += tests/daemon/test_trust
TESTS += tests/daemon/test_trust
tests_daemon_test_trust_SOURCES = tests/daemon/test_trust.c
tests_daemon_test_trust_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_trust_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)

check_PROGRAMS += tests/daemon/test_floor_list
TESTS += tests/daemon/test_floor_list
tests_daemon_test_floor_list_SOURCES = tests/daemon/test_floor_list.c
tests_daemon_test_floor_list_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_floor_list_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)

check_PROGRAMS += tests/daemon/test_rules_test
TESTS += tests/daemon/test_rules_test
tests_daemon_test_rules_test_SOURCES = tests/daemon/test_rules_test.c
tests_daemon_test_rules_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_rules_test_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)

check_PROGRAMS += tests/unit/test_project_file
TESTS += tests/unit/test_project_file
tests_unit_test_project_file_SOURCES = tests/unit/test_project_file.c tests/unit/io_util.h
tests_unit_test_project_file_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
tests_unit_test_project_file_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_project_file_LDADD = broker/io/libio.la $(CHECK_LIBS)
endif
