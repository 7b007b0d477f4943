# SPDX-License-Identifier: MIT
if HAVE_CHECK
IO_TESTS = tests/unit/test_config tests/unit/test_io_account tests/unit/test_io_flood \
	tests/unit/test_io_listener \
	tests/unit/test_io_path tests/unit/test_io_peer tests/unit/test_io_peer_end \
	tests/unit/test_io_peer_fds tests/unit/test_io_process \
	tests/unit/test_io_resolver tests/unit/test_rule_files tests/unit/test_service
check_PROGRAMS += $(IO_TESTS)
TESTS += $(IO_TESTS)
IO_TEST_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
IO_TEST_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CHECK_CFLAGS)
IO_TEST_LIBS = broker/libbroker.la broker/io/libio.la $(CHECK_LIBS)

tests_unit_test_config_SOURCES = tests/unit/test_config.c tests/unit/io_util.h
tests_unit_test_config_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_config_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_config_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_account_SOURCES = tests/unit/test_io_account.c tests/unit/io_util.h
tests_unit_test_io_account_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_account_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_account_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_flood_SOURCES = tests/unit/test_io_flood.c
tests_unit_test_io_flood_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_flood_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_flood_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_listener_SOURCES = tests/unit/test_io_listener.c tests/unit/io_util.h
tests_unit_test_io_listener_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_listener_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_listener_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_path_SOURCES = tests/unit/test_io_path.c tests/unit/io_util.h
tests_unit_test_io_path_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_path_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_path_LDADD = $(IO_TEST_LIBS)

PEER_FIXTURE = tests/unit/io_util.h tests/unit/peer_fixture.c tests/unit/peer_fixture.h
tests_unit_test_io_peer_SOURCES = tests/unit/test_io_peer.c $(PEER_FIXTURE)
tests_unit_test_io_peer_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_peer_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_peer_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_peer_end_SOURCES = tests/unit/test_io_peer_end.c $(PEER_FIXTURE)
tests_unit_test_io_peer_end_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_peer_end_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_peer_end_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_peer_fds_SOURCES = tests/unit/test_io_peer_fds.c $(PEER_FIXTURE)
tests_unit_test_io_peer_fds_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_peer_fds_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_peer_fds_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_process_SOURCES = tests/unit/test_io_process.c tests/unit/io_util.h
tests_unit_test_io_process_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_process_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_process_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_resolver_SOURCES = tests/unit/test_io_resolver.c tests/unit/io_util.h
tests_unit_test_io_resolver_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_resolver_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_resolver_LDADD = $(IO_TEST_LIBS)

tests_unit_test_rule_files_SOURCES = tests/unit/test_rule_files.c tests/unit/io_util.h
tests_unit_test_rule_files_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_rule_files_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_rule_files_LDADD = $(IO_TEST_LIBS)

tests_unit_test_service_SOURCES = tests/unit/test_service.c tests/unit/io_util.h
tests_unit_test_service_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_service_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_service_LDADD = $(IO_TEST_LIBS)

endif
