# SPDX-License-Identifier: MIT
if HAVE_CHECK
STORE_TESTS = tests/unit/test_types
check_PROGRAMS += $(STORE_TESTS)
TESTS += $(STORE_TESTS)

tests_unit_test_types_SOURCES = tests/unit/test_types.c
tests_unit_test_types_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_types_LDADD = broker/core/libcore.la $(CHECK_LIBS)
endif
