# SPDX-License-Identifier: MIT
if HAVE_CHECK
# inner parts
lib_inner_tests = tests/unit/test_lib_state tests/unit/test_lib_place
tests_unit_test_lib_state_SOURCES = tests/unit/test_lib_state.c
tests_unit_test_lib_state_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_state_LDADD = libapproval/libclient.la libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_lib_place_SOURCES = tests/unit/test_lib_place.c
tests_unit_test_lib_place_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_place_LDADD = libapproval/libclient.la libapproval/wire/libwire.la $(CHECK_LIBS)

# the library as others see it
lib_outer_tests = tests/unit/test_lib_value tests/unit/test_lib_client
tests_unit_test_lib_value_SOURCES = tests/unit/test_lib_value.c
tests_unit_test_lib_value_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_value_LDADD = libapproval.la $(CHECK_LIBS)

# a scripted broker, which speaks with the wire's own code
lib_peer = tests/unit/test_lib_peer.c tests/unit/test_lib_peer.h
tests_unit_test_lib_client_SOURCES = tests/unit/test_lib_client.c $(lib_peer)
tests_unit_test_lib_client_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_client_LDADD = libapproval.la libapproval/wire/libwire.la $(CHECK_LIBS)

check_PROGRAMS += $(lib_inner_tests) $(lib_outer_tests)
TESTS += $(lib_inner_tests) $(lib_outer_tests)
endif
