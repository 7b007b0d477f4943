# SPDX-License-Identifier: MIT
if HAVE_CHECK
IO_TESTS = tests/unit/test_io_account tests/unit/test_io_process
check_PROGRAMS += $(IO_TESTS)
TESTS += $(IO_TESTS)
IO_TEST_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
IO_TEST_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CHECK_CFLAGS)
IO_TEST_LIBS = broker/libbroker.la broker/io/libio.la $(CHECK_LIBS)

tests_unit_test_io_account_SOURCES = tests/unit/test_io_account.c tests/unit/io_util.h
tests_unit_test_io_account_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_account_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_account_LDADD = $(IO_TEST_LIBS)

tests_unit_test_io_process_SOURCES = tests/unit/test_io_process.c tests/unit/io_util.h
tests_unit_test_io_process_CPPFLAGS = $(IO_TEST_CPPFLAGS)
tests_unit_test_io_process_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_process_LDADD = $(IO_TEST_LIBS)
endif
