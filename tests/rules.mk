# SPDX-License-Identifier: MIT
# Rules: lines, paths, URLs, matching, sets of them, warnings, suggestions.
if HAVE_CHECK
RULE_TESTS = tests/unit/test_rule_match tests/unit/test_rule_parse tests/unit/test_rule_path \
	tests/unit/test_rule_url
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
endif
