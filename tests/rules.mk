# SPDX-License-Identifier: MIT
# Rules: lines, paths, URLs, matching, sets of them, warnings, suggestions.
if HAVE_CHECK
RULE_TESTS = tests/unit/test_rule_lint tests/unit/test_rule_match tests/unit/test_rule_memory \
	tests/unit/test_rule_parse tests/unit/test_rule_path tests/unit/test_rule_property \
	tests/unit/test_rule_set tests/unit/test_rule_suggest tests/unit/test_rule_url
check_PROGRAMS += $(RULE_TESTS)
TESTS += $(RULE_TESTS)
RULE_FIXTURE = tests/unit/rule_fixture.c tests/unit/rule_fixture.h
RULE_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
RULE_LDADD = broker/core/libcore.la $(CHECK_LIBS)

tests_unit_test_rule_match_SOURCES = tests/unit/test_rule_match.c $(RULE_FIXTURE)
tests_unit_test_rule_match_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTEST_CASES='"$(abs_top_srcdir)/tests/cases/verdicts.jsonl"'
tests_unit_test_rule_match_CFLAGS = $(RULE_CFLAGS) $(JSON_CFLAGS)
tests_unit_test_rule_match_LDADD = $(RULE_LDADD) $(JSON_LIBS)
tests_unit_test_rule_parse_SOURCES = tests/unit/test_rule_parse.c
tests_unit_test_rule_parse_CFLAGS = $(RULE_CFLAGS)
tests_unit_test_rule_parse_LDADD = $(RULE_LDADD)
tests_unit_test_rule_path_SOURCES = tests/unit/test_rule_path.c
tests_unit_test_rule_path_CFLAGS = $(RULE_CFLAGS)
tests_unit_test_rule_path_LDADD = $(RULE_LDADD)
tests_unit_test_rule_url_SOURCES = tests/unit/test_rule_url.c
tests_unit_test_rule_url_CFLAGS = $(RULE_CFLAGS)
tests_unit_test_rule_url_LDADD = $(RULE_LDADD)
tests_unit_test_rule_lint_SOURCES = tests/unit/test_rule_lint.c $(RULE_FIXTURE)
tests_unit_test_rule_lint_CFLAGS = $(RULE_CFLAGS)
tests_unit_test_rule_lint_LDADD = $(RULE_LDADD)
tests_unit_test_rule_property_SOURCES = tests/unit/test_rule_property.c $(RULE_FIXTURE)
tests_unit_test_rule_property_CFLAGS = $(RULE_CFLAGS)
tests_unit_test_rule_property_LDADD = $(RULE_LDADD)
tests_unit_test_rule_set_SOURCES = tests/unit/test_rule_set.c $(RULE_FIXTURE)
tests_unit_test_rule_set_CFLAGS = $(RULE_CFLAGS)
tests_unit_test_rule_set_LDADD = $(RULE_LDADD)
tests_unit_test_rule_suggest_SOURCES = tests/unit/test_rule_suggest.c $(RULE_FIXTURE)
tests_unit_test_rule_suggest_CFLAGS = $(RULE_CFLAGS)
tests_unit_test_rule_suggest_LDADD = $(RULE_LDADD)
tests_unit_test_rule_memory_SOURCES = tests/unit/test_rule_memory.c $(FAIL_ALLOC) $(RULE_FIXTURE)
tests_unit_test_rule_memory_CFLAGS = $(RULE_CFLAGS)
tests_unit_test_rule_memory_LDADD = $(RULE_LDADD)
tests_unit_test_rule_memory_LDFLAGS = $(FAIL_ALLOC_WRAP)
endif

# Without arguments a fuzz target runs 5 seconds on its corpus; see tests/fuzz/driver.c.
check_PROGRAMS += tests/fuzz/fuzz_rule
TESTS += tests/fuzz/fuzz_rule
EXTRA_DIST += tests/fuzz/corpus/rule
tests_fuzz_fuzz_rule_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_rule.c
tests_fuzz_fuzz_rule_LDADD = broker/core/libcore.la

EXTRA_PROGRAMS += tests/bench/bench_rules
tests_bench_bench_rules_SOURCES = $(bench_common) tests/bench/bench_rules.c
tests_bench_bench_rules_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_bench_bench_rules_LDADD = broker/core/libcore.la $(EVENT_LIBS)
