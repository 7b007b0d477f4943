# SPDX-License-Identifier: MIT
# Each scenario runs with a broker of its own, configured by NAME.conf where there is one.
EXTRA_DIST += \
	tests/harness/chain.scn \
	tests/harness/check.scn \
	tests/harness/deadline.scn \
	tests/harness/disconnect.scn \
	tests/harness/edited.scn \
	tests/harness/elsewhere.scn \
	tests/harness/first-wins.scn \
	tests/harness/grace.conf \
	tests/harness/grace.scn \
	tests/harness/headless.conf \
	tests/harness/headless.scn \
	tests/harness/loop.scn \
	tests/harness/policy-bye.scn \
	tests/harness/policy.conf \
	tests/harness/policy.scn \
	tests/harness/raw.scn \
	tests/harness/repeat.scn \
	tests/harness/restart.scn \
	tests/harness/resubmit.scn \
	tests/harness/self-approval.scn \
	tests/harness/supersede.scn \
	tests/harness/suspend.scn

if HAVE_CHECK
harness_tests = tests/daemon/test_conformance tests/daemon/test_self_approval
check_PROGRAMS += $(harness_tests)
TESTS += $(harness_tests)

tests_daemon_test_conformance_SOURCES = tests/daemon/test_conformance.c
tests_daemon_test_conformance_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SRCDIR='"$(abs_top_srcdir)"'
tests_daemon_test_conformance_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_daemon_test_conformance_LDADD = tests/daemon/libtestdaemon.la

tests_daemon_test_self_approval_SOURCES = \
	tests/daemon/agent_process.c \
	tests/daemon/agent_process.h \
	tests/daemon/test_self_approval.c
tests_daemon_test_self_approval_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_self_approval_LDADD = tests/daemon/libtestdaemon.la
endif
