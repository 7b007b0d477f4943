# SPDX-License-Identifier: MIT
# The policy frontend: its file, and the program with the real broker.
if HAVE_CHECK
policy_tests = tests/policy/test_policy tests/unit/test_policy_file
check_PROGRAMS += $(policy_tests)
TESTS += $(policy_tests)

tests_policy_test_policy_SOURCES = tests/policy/test_policy.c
tests_policy_test_policy_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_policy_test_policy_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)
tests_unit_test_policy_file_SOURCES = tests/unit/test_policy_file.c
tests_unit_test_policy_file_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_policy_file_LDADD = frontends/policy/libpolicy.la $(CHECK_LIBS)
endif

# see tests/fuzz/driver.c
check_PROGRAMS += tests/fuzz/fuzz_policy
TESTS += tests/fuzz/fuzz_policy
EXTRA_DIST += tests/fuzz/corpus/policy
tests_fuzz_fuzz_policy_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_policy.c
tests_fuzz_fuzz_policy_LDADD = frontends/policy/libpolicy.la
