# SPDX-License-Identifier: MIT
if HAVE_CHECK
STORE_TESTS = \
	tests/unit/test_types \
	tests/unit/test_store_rowmap \
	tests/unit/test_store_journal
check_PROGRAMS += $(STORE_TESTS)
TESTS += $(STORE_TESTS)

STORE_TEST_FIXTURE = tests/unit/store_fixture.c tests/unit/store_fixture.h
STORE_TEST_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS) $(NETTLE_CFLAGS)
STORE_TEST_LDADD = broker/store/libstore.la broker/core/libcore.la \
	$(CHECK_LIBS) $(SQLITE_LIBS) $(NETTLE_LIBS)

tests_unit_test_types_SOURCES = tests/unit/test_types.c
tests_unit_test_types_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_types_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_rowmap_SOURCES = tests/unit/test_store_rowmap.c
tests_unit_test_store_rowmap_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_rowmap_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_journal_SOURCES = tests/unit/test_store_journal.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_journal_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_journal_LDADD = $(STORE_TEST_LDADD)
endif
