# SPDX-License-Identifier: MIT
TESTS += tests/hook/check.sh tests/hook/check-settings.sh tests/hook/check-live.sh
EXTRA_DIST += \
	tests/hook/check.sh \
	tests/hook/check-live.sh \
	tests/hook/check-settings.sh \
	tests/hook/data \
	tests/hook/hookkit.py \
	tests/hook/test_hook.py \
	tests/hook/test_live.py \
	tests/hook/test_settings.py

if HAVE_CHECK
hook_tests = \
	tests/unit/test_hook_convert \
	tests/unit/test_hook_event \
	tests/unit/test_hook_jsontext \
	tests/unit/test_hook_settings \
	tests/unit/test_hook_transcript
check_PROGRAMS += $(hook_tests)
TESTS += $(hook_tests)

hook_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
hook_test_libs = frontends/hook/libhook.la libapproval.la $(CHECK_LIBS) $(JSON_LIBS)
tests_unit_test_hook_convert_SOURCES = tests/unit/test_hook_convert.c
tests_unit_test_hook_convert_CFLAGS = $(hook_test_cflags)
tests_unit_test_hook_convert_LDADD = $(hook_test_libs)
tests_unit_test_hook_event_SOURCES = tests/unit/test_hook_event.c
tests_unit_test_hook_event_CFLAGS = $(hook_test_cflags)
tests_unit_test_hook_event_LDADD = $(hook_test_libs)
tests_unit_test_hook_jsontext_SOURCES = tests/unit/test_hook_jsontext.c
tests_unit_test_hook_jsontext_CFLAGS = $(hook_test_cflags)
tests_unit_test_hook_jsontext_LDADD = $(hook_test_libs)
tests_unit_test_hook_settings_SOURCES = tests/unit/test_hook_settings.c
tests_unit_test_hook_settings_CFLAGS = $(hook_test_cflags)
tests_unit_test_hook_settings_LDADD = $(hook_test_libs)
tests_unit_test_hook_transcript_SOURCES = tests/unit/test_hook_transcript.c
tests_unit_test_hook_transcript_CFLAGS = $(hook_test_cflags)
tests_unit_test_hook_transcript_LDADD = $(hook_test_libs)
endif

# see tests/fuzz/driver.c
hook_fuzzers = tests/fuzz/fuzz_hook_event tests/fuzz/fuzz_hook_transcript
check_PROGRAMS += $(hook_fuzzers)
TESTS += $(hook_fuzzers)
EXTRA_DIST += tests/fuzz/corpus/hook_event tests/fuzz/corpus/hook_transcript
tests_fuzz_fuzz_hook_event_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_hook_event.c
tests_fuzz_fuzz_hook_event_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
tests_fuzz_fuzz_hook_event_LDADD = frontends/hook/libhook.la libapproval.la $(JSON_LIBS)
tests_fuzz_fuzz_hook_transcript_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_hook_transcript.c
tests_fuzz_fuzz_hook_transcript_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
tests_fuzz_fuzz_hook_transcript_LDADD = frontends/hook/libhook.la libapproval.la $(JSON_LIBS)
