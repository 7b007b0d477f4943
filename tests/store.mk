# SPDX-License-Identifier: MIT
if HAVE_CHECK
STORE_TESTS = \
	tests/unit/test_types \
	tests/unit/test_store_rowmap \
	tests/unit/test_store_journal \
	tests/unit/test_store_history \
	tests/unit/test_store_rule \
	tests/unit/test_store_trust \
	tests/unit/test_store_migrate \
	tests/unit/test_store_corrupt \
	tests/unit/test_store_sqlite \
	tests/unit/test_store_fault \
	tests/unit/test_store_chain \
	tests/unit/test_store_crash
check_PROGRAMS += $(STORE_TESTS)
TESTS += $(STORE_TESTS)

STORE_TEST_FIXTURE = tests/unit/store_fixture.c tests/unit/store_fixture.h \
	tests/unit/store_record.c
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

tests_unit_test_store_sqlite_SOURCES = tests/unit/test_store_sqlite.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_sqlite_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_sqlite_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_fault_SOURCES = tests/unit/test_store_fault.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_fault_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_fault_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_chain_SOURCES = tests/unit/test_store_chain.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_chain_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_chain_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_crash_SOURCES = tests/unit/test_store_crash.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_crash_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_crash_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_history_SOURCES = tests/unit/test_store_history.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_history_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_history_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_corrupt_SOURCES = tests/unit/test_store_corrupt.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_corrupt_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_corrupt_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_rule_SOURCES = tests/unit/test_store_rule.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_rule_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_rule_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_trust_SOURCES = tests/unit/test_store_trust.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_trust_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_trust_LDADD = $(STORE_TEST_LDADD)

tests_unit_test_store_migrate_SOURCES = tests/unit/test_store_migrate.c $(STORE_TEST_FIXTURE)
tests_unit_test_store_migrate_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_DATA='"$(abs_top_srcdir)/tests/unit/data"'
tests_unit_test_store_migrate_CFLAGS = $(STORE_TEST_CFLAGS)
tests_unit_test_store_migrate_LDADD = $(STORE_TEST_LDADD)
endif
EXTRA_DIST += tests/unit/data/store_v1.sql tests/unit/data/store_v2.sql \
	tests/unit/data/store_v3.sql
