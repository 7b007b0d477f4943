# SPDX-License-Identifier: MIT
# approval-run, and what enforces a suspension: they skip themselves where no cgroup can be made
if HAVE_CHECK
check_PROGRAMS += tests/run/test_run
TESTS += tests/run/test_run
tests_run_test_run_SOURCES = tests/run/launch.c tests/run/launch.h tests/run/test_run.c
tests_run_test_run_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_run_test_run_LDADD = tests/daemon/libtestdaemon.la libapproval.la $(JSON_LIBS)
endif
