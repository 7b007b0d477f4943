# SPDX-License-Identifier: MIT
# The broker dies, is raced, is told to reload and to end.
if HAVE_CHECK
crash_tests = tests/daemon/test_crash tests/daemon/test_race tests/daemon/test_reload
check_PROGRAMS += $(crash_tests)
TESTS += $(crash_tests)

tests_daemon_test_crash_SOURCES = \
	tests/daemon/crash_agent.c \
	tests/daemon/crash_frontend.c \
	tests/daemon/crash_world.h \
	tests/daemon/test_crash.c
tests_daemon_test_crash_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_crash_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_race_SOURCES = tests/daemon/test_race.c
tests_daemon_test_race_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_race_LDADD = tests/daemon/libtestdaemon.la
tests_daemon_test_reload_SOURCES = tests/daemon/test_reload.c
tests_daemon_test_reload_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_reload_LDADD = tests/daemon/libtestdaemon.la
endif
