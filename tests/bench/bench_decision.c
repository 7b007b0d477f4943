/* SPDX-License-Identifier: MIT */
/*
 * Automatic decisions (a Read inside the workspace, frames of 300 bytes) against an echo
 * server on raw libevent events, and with SQLite against a plain append log with one sync a
 * batch. All on one CPU. Agents are processes with a connection each, and so are the clients
 * here; the connections of one process, which one wake-up serves, are beside them, and the
 * measure for ten thousand. Prints ratios; fails never by them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"

static void line(
	const char *what, double value, double base, const char *unit, const char *goal)
{
	printf("%-44s %10.2f %-8s baseline %10.2f  ratio %5.2f  (%s)\n", what, value, unit,
		base, base > 0 ? value / base : 0, goal);
}

int main(int argc, char **argv)
{
	struct bench_run echo1, echo64, echo64p, echo256p, one, many, many_p, crowd;
	struct bench_run log, log_p, sql, sql_p;
	struct bench_server s;
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;

	setvbuf(stdout, NULL, _IOLBF, 0);
	bench_pin();
	bench_echo(&s, bench_reply_len(), false);
	bench_load(&s, BENCH_ECHO, 1, n, &echo1);
	bench_load(&s, BENCH_ECHO, 64, n, &echo64);
	bench_processes(&s, BENCH_ECHO, 64, n, &echo64p);
	bench_processes(&s, BENCH_ECHO, 256, n, &echo256p);
	bench_end(&s);
	bench_broker(&s, "none");
	printf("base RSS of the broker: %.2f MB\n", (double)bench_rss(s.pid) / 1e6);
	bench_load(&s, BENCH_REQUEST, 1, n, &one);
	bench_end(&s);
	bench_broker(&s, "none");
	bench_processes(&s, BENCH_REQUEST, 64, n, &many_p);
	bench_end(&s);
	bench_broker(&s, "none");
	bench_load(&s, BENCH_REQUEST, 64, n, &many);
	bench_end(&s);
	bench_broker(&s, "none");
	bench_load(&s, BENCH_REQUEST, 10000, n, &crowd);
	bench_end(&s);
	line("p50 of a decision, one client", one.p50_us, echo1.p50_us, "us",
		"at most 2, aim 1.4");
	line("CPU per decision, 64 clients", many_p.cpu_us, echo64p.cpu_us, "us",
		"at most 2.5, aim 1.5");
	line("the same, 64 connections of one process", many.cpu_us, echo64.cpu_us, "us",
		"no bound");
	line("CPU per decision, 10,000 of one process", crowd.cpu_us, many.cpu_us, "us",
		"of that at 64: at most 2.5");

	bench_echo(&s, bench_reply_len(), true);
	bench_processes(&s, BENCH_ECHO, 256, n, &log_p);
	bench_load(&s, BENCH_ECHO, 256, n, &log);
	bench_end(&s);
	bench_broker(&s, "sqlite");
	bench_processes(&s, BENCH_REQUEST, 256, n, &sql_p);
	bench_end(&s);
	bench_broker(&s, "sqlite");
	bench_load(&s, BENCH_REQUEST, 256, n, &sql);
	bench_end(&s);
	line("decisions a second, SQLite, 256 agents", sql_p.per_s, log_p.per_s, "1/s",
		"at least 0.4, aim 0.6");
	line("the same, 256 connections of one process", sql.per_s, log.per_s, "1/s",
		"no bound");
	line("CPU per decision, SQLite, 256 agents", sql_p.cpu_us, echo256p.cpu_us, "us",
		"of the echo");
	return 0;
}
