# SPDX-License-Identifier: MIT
# Rules of other agents: frontends/ctl/import.h.
import_fuzzers = \
	tests/fuzz/fuzz_import_json \
	tests/fuzz/fuzz_import_starlark \
	tests/fuzz/fuzz_import_toml
check_PROGRAMS += $(import_fuzzers)
TESTS += $(import_fuzzers)
EXTRA_DIST += tests/fuzz/corpus/import_json tests/fuzz/corpus/import_starlark \
	tests/fuzz/corpus/import_toml
import_fuzzer = tests/fuzz/driver.c tests/fuzz/fuzz_import.c tests/fuzz/fuzz_import.h
import_fuzzer_libs = frontends/ctl/libimport.la $(JSON_LIBS)
tests_fuzz_fuzz_import_json_SOURCES = $(import_fuzzer) tests/fuzz/fuzz_import_json.c
tests_fuzz_fuzz_import_json_LDADD = $(import_fuzzer_libs)
tests_fuzz_fuzz_import_starlark_SOURCES = $(import_fuzzer) tests/fuzz/fuzz_import_starlark.c
tests_fuzz_fuzz_import_starlark_LDADD = $(import_fuzzer_libs)
tests_fuzz_fuzz_import_toml_SOURCES = $(import_fuzzer) tests/fuzz/fuzz_import_toml.c
tests_fuzz_fuzz_import_toml_LDADD = $(import_fuzzer_libs)

if HAVE_CHECK
import_tests = tests/unit/test_import tests/unit/test_import_memory
check_PROGRAMS += $(import_tests)
TESTS += $(import_tests)
tests_unit_test_import_SOURCES = tests/unit/test_import.c
tests_unit_test_import_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_import_LDADD = frontends/ctl/libimport.la $(CHECK_LIBS)
tests_unit_test_import_memory_SOURCES = tests/unit/test_import_memory.c $(FAIL_ALLOC)
tests_unit_test_import_memory_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_import_memory_LDFLAGS = $(FAIL_ALLOC_WRAP)
tests_unit_test_import_memory_LDADD = frontends/ctl/libimport.la $(CHECK_LIBS)
endif

# what is made of the samples, and of random rules against the sources' own meaning
TESTS += tests/ctl/test_import.py
EXTRA_DIST += tests/ctl/test_import.py tests/ctl/import_oracle.py tests/ctl/import_target.py \
	tests/ctl/import
