# SPDX-License-Identifier: MIT
# What a tool call is: the table of tools, the floor's paths, the facts.
EXTRA_DIST += tests/cases/verdicts.jsonl
if HAVE_CHECK
classify_tests = tests/unit/test_tool tests/unit/test_facts \
	tests/unit/test_facts_finish
check_PROGRAMS += $(classify_tests)
TESTS += $(classify_tests)

tests_unit_test_tool_SOURCES = tests/unit/test_tool.c
tests_unit_test_tool_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_tool_LDADD = broker/core/libcore.la $(CHECK_LIBS)
tests_unit_test_facts_SOURCES = tests/unit/test_facts.c \
	tests/unit/facts_fixture.c tests/unit/facts_fixture.h
tests_unit_test_facts_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_unit_test_facts_LDADD = broker/io/libio.la broker/core/libcore.la \
	libapproval/wire/libwire.la $(NETTLE_LIBS) $(CHECK_LIBS) $(JSON_LIBS)
tests_unit_test_facts_finish_SOURCES = tests/unit/test_facts_finish.c \
	tests/unit/facts_fixture.c tests/unit/facts_fixture.h
tests_unit_test_facts_finish_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_unit_test_facts_finish_LDADD = broker/io/libio.la broker/core/libcore.la \
	libapproval/wire/libwire.la $(NETTLE_LIBS) $(CHECK_LIBS) $(JSON_LIBS)
endif

# What a compiler does not check: include rules and the like; and that it is noticed.
TESTS += tests/lint/lint.py tests/lint/test_lint.py
EXTRA_DIST += tests/lint/lint.py tests/lint/test_lint.py
