# SPDX-License-Identifier: MIT
if HAVE_CHECK
# inner parts
lib_inner_tests = tests/unit/test_lib_state tests/unit/test_lib_place tests/unit/test_lib_memory
tests_unit_test_lib_state_SOURCES = tests/unit/test_lib_state.c
tests_unit_test_lib_state_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_state_LDADD = libapproval/libclient.la libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_lib_place_SOURCES = tests/unit/test_lib_place.c
tests_unit_test_lib_place_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_place_LDADD = libapproval/libclient.la libapproval/wire/libwire.la $(CHECK_LIBS)

# the library as others see it
lib_outer_tests = tests/unit/test_lib_value tests/unit/test_lib_hello tests/unit/test_lib_request \
	tests/unit/test_lib_loss tests/unit/test_lib_frontend tests/unit/test_lib_wait
tests_unit_test_lib_value_SOURCES = tests/unit/test_lib_value.c
tests_unit_test_lib_value_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_value_LDADD = libapproval.la $(CHECK_LIBS)

# a scripted broker, which speaks with the wire's own code
lib_peer = tests/unit/test_lib_peer.c tests/unit/test_lib_peer.h
lib_client = tests/unit/lib_client.c tests/unit/lib_client.h $(lib_peer)
tests_unit_test_lib_hello_SOURCES = tests/unit/test_lib_hello.c $(lib_client)
tests_unit_test_lib_hello_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_hello_LDADD = libapproval.la libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_lib_request_SOURCES = tests/unit/test_lib_request.c $(lib_client)
tests_unit_test_lib_request_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_request_LDADD = libapproval.la libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_lib_loss_SOURCES = tests/unit/test_lib_loss.c $(lib_client)
tests_unit_test_lib_loss_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_loss_LDADD = libapproval.la libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_lib_frontend_SOURCES = tests/unit/test_lib_frontend.c $(lib_peer)
tests_unit_test_lib_frontend_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_frontend_LDADD = libapproval.la libapproval/wire/libwire.la $(CHECK_LIBS)
tests_unit_test_lib_wait_SOURCES = tests/unit/test_lib_wait.c $(lib_peer)
tests_unit_test_lib_wait_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_wait_LDADD = libapproval.la libapproval/wire/libwire.la $(CHECK_LIBS)

# its allocations fail at will
tests_unit_test_lib_memory_SOURCES = tests/unit/test_lib_memory.c $(FAIL_ALLOC) $(lib_peer)
tests_unit_test_lib_memory_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_lib_memory_LDFLAGS = $(FAIL_ALLOC_WRAP) -Wl,--wrap=approval_dispatch
tests_unit_test_lib_memory_LDADD = libapproval/libclient.la libapproval/wire/libwire.la $(CHECK_LIBS)

check_PROGRAMS += $(lib_inner_tests) $(lib_outer_tests)
TESTS += $(lib_inner_tests) $(lib_outer_tests)
endif

# exported symbols; the header in strict C and in C++; the manual; the examples with the broker
TESTS += tests/lib_symbols.sh tests/lib_header.sh tests/lib_man.sh tests/lib_examples.sh
EXTRA_DIST += tests/lib_symbols.sh tests/lib_header.sh tests/lib_man.sh tests/lib_examples.sh tests/examples/consumer.cc

# examples, built as their readers would: with the header and the library alone
lib_examples = tests/examples/agent_blocking tests/examples/agent_async_poll \
	tests/examples/frontend_watch
# not -I: that folder has a limits.h, too
lib_example_flags = -idirafter $(top_srcdir)/libapproval
check_PROGRAMS += $(lib_examples)
tests_examples_agent_blocking_SOURCES = tests/examples/agent_blocking.c
tests_examples_agent_blocking_CPPFLAGS = $(lib_example_flags)
tests_examples_agent_blocking_LDADD = libapproval.la
tests_examples_agent_async_poll_SOURCES = tests/examples/agent_async_poll.c
tests_examples_agent_async_poll_CPPFLAGS = $(lib_example_flags)
tests_examples_agent_async_poll_LDADD = libapproval.la
tests_examples_frontend_watch_SOURCES = tests/examples/frontend_watch.c
tests_examples_frontend_watch_CPPFLAGS = $(lib_example_flags)
tests_examples_frontend_watch_LDADD = libapproval.la
