# SPDX-License-Identifier: MIT
# approval-run, and what enforces a suspension: they skip themselves where no cgroup can be made
if HAVE_CHECK
check_PROGRAMS += tests/run/test_run tests/run/test_job tests/run/test_escape \
	tests/unit/test_core_launch
TESTS += tests/run/test_run tests/run/test_job tests/run/test_escape \
	tests/unit/test_core_launch
tests_unit_test_core_launch_SOURCES = tests/unit/test_core_launch.c $(CORE_FIXTURE)
tests_unit_test_core_launch_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_launch_LDADD = $(CORE_LDADD)
tests_unit_test_core_launch_LDFLAGS = $(FAIL_ALLOC_WRAP)
tests_run_test_run_SOURCES = tests/run/launch.c tests/run/launch.h tests/run/test_run.c
tests_run_test_run_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_run_test_run_LDADD = tests/daemon/libtestdaemon.la libapproval.la $(JSON_LIBS)
tests_run_test_job_SOURCES = tests/run/launch.c tests/run/launch.h tests/run/test_job.c
tests_run_test_job_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_run_test_job_LDADD = tests/daemon/libtestdaemon.la libapproval.la $(JSON_LIBS)
tests_run_test_escape_SOURCES = tests/run/launch.c tests/run/launch.h tests/run/test_escape.c
tests_run_test_escape_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_run_test_escape_LDADD = tests/daemon/libtestdaemon.la libapproval.la $(JSON_LIBS)
endif
TESTS += tests/run/scope.sh
EXTRA_DIST += tests/run/scope.sh tests/run/systemd_stand_in.py
