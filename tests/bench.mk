# SPDX-License-Identifier: MIT
# Programs that print ratios; `make bench` runs them. No test depends on a time.
EXTRA_PROGRAMS = \
	tests/bench/bench_ask \
	tests/bench/bench_decision \
	tests/bench/bench_hold \
	tests/bench/bench_shell
bench_common = tests/bench/bench.c tests/bench/bench.h
tests_bench_bench_decision_SOURCES = $(bench_common) tests/bench/bench_decision.c tests/bench/load.c
tests_bench_bench_decision_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_bench_bench_decision_LDADD = libapproval/wire/libwire.la $(EVENT_LIBS)
tests_bench_bench_ask_SOURCES = $(bench_common) tests/bench/bench_ask.c
tests_bench_bench_ask_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_bench_bench_ask_LDADD = libapproval/wire/libwire.la $(EVENT_LIBS)
tests_bench_bench_hold_SOURCES = $(bench_common) tests/bench/bench_hold.c
tests_bench_bench_hold_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_bench_bench_hold_LDADD = libapproval.la libapproval/wire/libwire.la $(EVENT_LIBS)
CLEANFILES += $(EXTRA_PROGRAMS)

bench: approvald approval-run $(EXTRA_PROGRAMS)
	@for p in $(EXTRA_PROGRAMS); do echo "== $$p"; $$p || exit 1; done
.PHONY: bench
