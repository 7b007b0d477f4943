# SPDX-License-Identifier: MIT
# What always asks: paths, commands, additions, their documentation.
EXTRA_DIST += tests/cases/floor.jsonl
if HAVE_CHECK
FLOOR_TESTS = tests/unit/test_floor_add tests/unit/test_floor_case tests/unit/test_floor_doc \
	tests/unit/test_floor_path
check_PROGRAMS += $(FLOOR_TESTS)
TESTS += $(FLOOR_TESTS)
FLOOR_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CASES='"$(abs_top_srcdir)/tests/cases/verdicts.jsonl"' \
	-DFLOOR_CASES='"$(abs_top_srcdir)/tests/cases/floor.jsonl"' \
	-DFLOOR_PAGE='"$(abs_top_srcdir)/doc/approval-floor.5.scd"'
FLOOR_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
FLOOR_LDADD = broker/core/libcore.la $(CHECK_LIBS) $(JSON_LIBS)
FLOOR_FIXTURE = tests/unit/floor_fixture.c tests/unit/floor_fixture.h

tests_unit_test_floor_add_SOURCES = tests/unit/test_floor_add.c $(FLOOR_FIXTURE)
tests_unit_test_floor_add_CPPFLAGS = $(FLOOR_CPPFLAGS)
tests_unit_test_floor_add_CFLAGS = $(FLOOR_CFLAGS)
tests_unit_test_floor_add_LDADD = $(FLOOR_LDADD)
tests_unit_test_floor_case_SOURCES = tests/unit/test_floor_case.c $(FLOOR_FIXTURE)
tests_unit_test_floor_case_CPPFLAGS = $(FLOOR_CPPFLAGS)
tests_unit_test_floor_case_CFLAGS = $(FLOOR_CFLAGS)
tests_unit_test_floor_case_LDADD = $(FLOOR_LDADD)
tests_unit_test_floor_doc_SOURCES = tests/unit/test_floor_doc.c
tests_unit_test_floor_doc_CPPFLAGS = $(FLOOR_CPPFLAGS)
tests_unit_test_floor_doc_CFLAGS = $(FLOOR_CFLAGS)
tests_unit_test_floor_doc_LDADD = $(FLOOR_LDADD)
tests_unit_test_floor_path_SOURCES = tests/unit/test_floor_path.c
tests_unit_test_floor_path_CPPFLAGS = $(FLOOR_CPPFLAGS)
tests_unit_test_floor_path_CFLAGS = $(FLOOR_CFLAGS)
tests_unit_test_floor_path_LDADD = $(FLOOR_LDADD)
endif

EXTRA_PROGRAMS += tests/bench/bench_floor
tests_bench_bench_floor_SOURCES = tests/bench/bench_floor.c
tests_bench_bench_floor_LDADD = broker/core/libcore.la

# see tests/fuzz/driver.c
check_PROGRAMS += tests/fuzz/fuzz_floor
TESTS += tests/fuzz/fuzz_floor
EXTRA_DIST += tests/fuzz/corpus/floor
tests_fuzz_fuzz_floor_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_floor.c
tests_fuzz_fuzz_floor_LDADD = broker/core/libcore.la
