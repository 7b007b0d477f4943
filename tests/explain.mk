# SPDX-License-Identifier: MIT
# What the broker says of a call, when it is asked and when it is meant.
TESTS += tests/cases/count.py
EXTRA_DIST += tests/cases/bypass.jsonl tests/cases/count.py tests/cases/links.jsonl \
	tests/cases/own.jsonl
if HAVE_CHECK
check_PROGRAMS += tests/daemon/test_cases tests/daemon/test_explain tests/daemon/test_replay
TESTS += tests/daemon/test_cases tests/daemon/test_explain tests/daemon/test_replay
tests_daemon_test_replay_SOURCES = tests/daemon/test_replay.c
tests_daemon_test_replay_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS) $(SQLITE_CFLAGS) \
	$(NETTLE_CFLAGS)
if SANITIZED
tests_daemon_test_replay_CFLAGS += -DSANITIZED
endif
tests_daemon_test_replay_LDADD = tests/daemon/libtestdaemon.la broker/store/libstore.la \
	broker/core/libcore.la $(SQLITE_LIBS) $(NETTLE_LIBS) $(JSON_LIBS)
tests_daemon_test_cases_SOURCES = tests/daemon/case_agent.c tests/daemon/case_agent.h \
	tests/daemon/sandbox.c tests/daemon/sandbox.h \
	tests/daemon/test_cases.c
tests_daemon_test_cases_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CASES='"$(abs_top_srcdir)/tests/cases"'
tests_daemon_test_cases_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_cases_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)
tests_daemon_test_explain_SOURCES = tests/daemon/agent_process.c tests/daemon/agent_process.h \
	tests/daemon/test_explain.c
tests_daemon_test_explain_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_daemon_test_explain_LDADD = tests/daemon/libtestdaemon.la $(JSON_LIBS)
endif
