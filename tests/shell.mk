# SPDX-License-Identifier: MIT
# The reader of shell commands. $(am_shell) is all that its tests need.
shell_tests = \
	tests/unit/test_shell_args \
	tests/unit/test_shell_list \
	tests/unit/test_shell_place \
	tests/unit/test_shell_runs \
	tests/unit/test_shell_word

if HAVE_CHECK
check_PROGRAMS += $(shell_tests)
TESTS += $(shell_tests)
endif
check_LTLIBRARIES += tests/unit/libshellfixture.la
tests_unit_libshellfixture_la_SOURCES = tests/unit/shell_fixture.c tests/unit/shell_fixture.h
tests_unit_libshellfixture_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libshellfixture_la_LIBADD = broker/core/shell/libshell.la
shell_libs = tests/unit/libshellfixture.la $(CHECK_LIBS)
tests_unit_test_shell_args_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_shell_args_LDADD = $(shell_libs)
tests_unit_test_shell_list_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_shell_list_LDADD = $(shell_libs)
tests_unit_test_shell_place_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_shell_place_LDADD = $(shell_libs)
tests_unit_test_shell_runs_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_shell_runs_LDADD = $(shell_libs)
tests_unit_test_shell_word_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_shell_word_LDADD = $(shell_libs)

# random texts, read by the reader and by Bash itself; see tests/shell/differential.c
check_PROGRAMS += tests/shell/differential
TESTS += tests/shell/differential
tests_shell_differential_SOURCES = tests/shell/differential.c tests/shell/generate.c \
	tests/shell/generate.h
tests_shell_differential_LDADD = broker/core/shell/libshell.la

# what the tables say, held against the help of the programs that are here
check_PROGRAMS += tests/shell/traits
TESTS += tests/shell/options.py tests/shell/programs.py
EXTRA_DIST += tests/shell/options.py tests/shell/programs.py
tests_shell_traits_SOURCES = tests/shell/traits.c
tests_shell_traits_LDADD = broker/core/shell/libshell.la

# the work grows no faster than the text
check_PROGRAMS += tests/shell/linear
TESTS += tests/shell/linear
tests_shell_linear_SOURCES = tests/shell/linear.c tests/shell/generate.c tests/shell/generate.h
tests_shell_linear_LDADD = broker/core/shell/libshell.la

# see tests/fuzz/driver.c
check_PROGRAMS += tests/fuzz/fuzz_shell
TESTS += tests/fuzz/fuzz_shell
EXTRA_DIST += tests/fuzz/corpus/shell
tests_fuzz_fuzz_shell_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_shell.c
tests_fuzz_fuzz_shell_LDADD = broker/core/shell/libshell.la

tests_bench_bench_shell_SOURCES = tests/bench/bench_shell.c
tests_bench_bench_shell_LDADD = broker/core/shell/libshell.la
