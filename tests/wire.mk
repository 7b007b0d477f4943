# SPDX-License-Identifier: MIT
if HAVE_CHECK
wire_tests = tests/unit/test_wire_scan tests/unit/test_wire_value tests/unit/test_wire_frame \
	tests/unit/test_wire_spec tests/unit/test_wire_message tests/unit/test_wire_pack
check_PROGRAMS += $(wire_tests)
TESTS += $(wire_tests)

tests_unit_test_wire_scan_SOURCES = tests/unit/test_wire_scan.c
tests_unit_test_wire_scan_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_wire_scan_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_wire_value_SOURCES = tests/unit/test_wire_value.c
tests_unit_test_wire_value_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_wire_value_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_wire_frame_SOURCES = tests/unit/test_wire_frame.c
tests_unit_test_wire_frame_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_wire_frame_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_wire_spec_SOURCES = tests/unit/test_wire_spec.c
tests_unit_test_wire_spec_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_wire_spec_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_wire_message_SOURCES = tests/unit/test_wire_message.c
tests_unit_test_wire_message_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_wire_message_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_wire_pack_SOURCES = tests/unit/test_wire_pack.c
tests_unit_test_wire_pack_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_wire_pack_LDADD = libapproval/wire/libwire.la $(CHECK_LIBS)
endif

# Without arguments a fuzz target runs 5 seconds on its corpus; see tests/fuzz/driver.c.
wire_fuzzers = tests/fuzz/fuzz_wire_scan tests/fuzz/fuzz_wire_message
check_PROGRAMS += $(wire_fuzzers)
TESTS += $(wire_fuzzers)
EXTRA_DIST += tests/fuzz/corpus/wire_scan tests/fuzz/corpus/wire_message

tests_fuzz_fuzz_wire_scan_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_wire_scan.c
tests_fuzz_fuzz_wire_scan_CFLAGS = $(AM_CFLAGS) $(MSGPACK_CFLAGS)
tests_fuzz_fuzz_wire_scan_LDADD = libapproval/wire/libwire.la $(MSGPACK_LIBS)
tests_fuzz_fuzz_wire_message_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz_wire_message.c
tests_fuzz_fuzz_wire_message_LDADD = libapproval/wire/libwire.la
