/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/ctl/live.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void live_init(struct live *l)
{
	broker_init(&l->broker);
	setenv("APPROVAL_SOCKET", l->broker.agent, 1);
	setenv("APPROVAL_FRONTEND_SOCKET", l->broker.frontend, 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	unsetenv("COLUMNS");
	snprintf(l->witness, sizeof(l->witness), "%s/witness", l->broker.dir);
	broker_start(&l->broker, NULL);
	watch_start(&l->watch);
}

void live_fini(struct live *l)
{
	kill(l->watch.pid, SIGINT);
	ck_assert_int_eq(run_wait(&l->watch), 0);
	run_free(&l->watch);
	broker_stop(&l->broker);
	broker_fini(&l->broker);
}

bool live_witnessed(const struct live *l)
{
	return !access(l->witness, F_OK);
}

char *live_output(int status, const char *const *words)
{
	struct run r;

	run_whole(&r, words);
	ck_assert_msg(r.status == status, "'%s %s' exited with %d: %s%s", words[0],
		words[1] ? words[1] : "", r.status, r.text, r.error);
	free(r.error);
	return r.text;
}

void live_has(const char *text, const char *what)
{
	ck_assert_msg(strstr(text, what), "no '%s' in '%s'", what, text);
}

void live_plain(const char *text, size_t cells)
{
	ck_assert_ptr_null(strchr(text, '\033'));
	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		size_t n = 1;

		for (const char *p = text; p < end; p++)
			n += *p == '\t';
		ck_assert_uint_eq(n, cells);
	}
	ck_assert_str_eq(text, "");
}
