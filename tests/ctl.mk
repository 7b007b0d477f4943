# SPDX-License-Identifier: MIT
if HAVE_CHECK
ctl_tests = \
	tests/ctl/test_ask \
	tests/ctl/test_ctl \
	tests/ctl/test_script \
	tests/ctl/test_wait \
	tests/unit/test_text \
	tests/unit/test_fcommon_ctl \
	tests/unit/test_fcommon_duration \
	tests/unit/test_fcommon_json \
	tests/unit/test_fcommon_options \
	tests/unit/test_fcommon_table
check_PROGRAMS += $(ctl_tests)
TESTS += $(ctl_tests)

ctl_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
ctl_test_libs = frontends/common/libfcommon.la $(CHECK_LIBS)
tests_ctl_test_ask_SOURCES = tests/ctl/test_ask.c
tests_ctl_test_ask_CFLAGS = $(ctl_test_cflags)
tests_ctl_test_ask_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)
tests_ctl_test_wait_SOURCES = tests/ctl/test_wait.c
tests_ctl_test_wait_CFLAGS = $(ctl_test_cflags)
tests_ctl_test_wait_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)
tests_ctl_test_ctl_SOURCES = tests/ctl/test_ctl.c
tests_ctl_test_ctl_CFLAGS = $(ctl_test_cflags)
tests_ctl_test_ctl_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)
tests_ctl_test_script_SOURCES = tests/ctl/test_script.c
tests_ctl_test_script_CFLAGS = $(ctl_test_cflags)
tests_ctl_test_script_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)
tests_unit_test_text_SOURCES = tests/unit/test_text.c
tests_unit_test_text_CFLAGS = $(ctl_test_cflags)
tests_unit_test_text_LDADD = $(ctl_test_libs)
tests_unit_test_fcommon_ctl_SOURCES = tests/unit/test_fcommon_ctl.c
tests_unit_test_fcommon_ctl_CFLAGS = $(ctl_test_cflags)
tests_unit_test_fcommon_ctl_LDADD = $(ctl_test_libs) broker/core/libcore.la
tests_unit_test_fcommon_duration_SOURCES = tests/unit/test_fcommon_duration.c
tests_unit_test_fcommon_duration_CFLAGS = $(ctl_test_cflags)
tests_unit_test_fcommon_duration_LDADD = $(ctl_test_libs)
tests_unit_test_fcommon_json_SOURCES = tests/unit/test_fcommon_json.c
tests_unit_test_fcommon_json_CFLAGS = $(ctl_test_cflags)
tests_unit_test_fcommon_json_LDADD = $(ctl_test_libs) libapproval.la $(JSON_LIBS)
tests_unit_test_fcommon_options_SOURCES = tests/unit/test_fcommon_options.c
tests_unit_test_fcommon_options_CFLAGS = $(ctl_test_cflags)
tests_unit_test_fcommon_options_LDADD = $(ctl_test_libs)
tests_unit_test_fcommon_table_SOURCES = tests/unit/test_fcommon_table.c
tests_unit_test_fcommon_table_CFLAGS = $(ctl_test_cflags)
tests_unit_test_fcommon_table_LDADD = $(ctl_test_libs)
endif

TESTS += tests/ctl/explain.sh tests/ctl/help.sh
EXTRA_DIST += tests/ctl/explain.sh tests/ctl/help.sh tests/ctl/test_explain.py

# see tests/fuzz/driver.c
check_PROGRAMS += tests/fuzz/fuzz_text
TESTS += tests/fuzz/fuzz_text
EXTRA_DIST += tests/fuzz/corpus/text
tests_fuzz_fuzz_text_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_text.c
tests_fuzz_fuzz_text_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
tests_fuzz_fuzz_text_LDADD = frontends/common/libfcommon.la $(JSON_LIBS)
