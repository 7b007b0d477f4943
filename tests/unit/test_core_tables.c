/* SPDX-License-Identifier: MIT */
/* doc/states.md against the tables of the code, cell for cell. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/request.h"
#include "broker/core/turn.h"

#define CELLS 24

static FILE *open_states(void)
{
	const char *folder = getenv("srcdir");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/doc/states.md", folder ? folder : SOURCE_FOLDER);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	return f;
}

/* Splits a row of a table; the number of cells, 0 where it is none. */
static unsigned row_split(char *line, char *cells[CELLS])
{
	unsigned n = 0;
	char *save = NULL;

	if (line[0] != '|')
		return 0;
	for (char *p = strtok_r(line, "|\n", &save); p && n < CELLS;
		p = strtok_r(NULL, "|\n", &save)) {
		char *end;

		while (*p == ' ')
			p++;
		for (end = p + strlen(p); end > p && end[-1] == ' '; end--)
			end[-1] = '\0';
		if (*p)
			cells[n++] = p;
	}
	return n;
}

typedef const char *state_name_fn(unsigned state);
typedef const char *event_name_fn(unsigned event);
typedef unsigned next_fn(unsigned state, unsigned event);

static const char *request_state(unsigned s)
{
	return request_state_name((enum request_state)s);
}

static const char *request_on(unsigned e)
{
	return request_event_name((enum request_event)e);
}

static unsigned request_to(unsigned s, unsigned e)
{
	return request_next((enum request_state)s, (enum request_event)e);
}

static const char *turn_state(unsigned s)
{
	return turn_state_name((enum turn_state)s);
}

static const char *turn_on(unsigned e)
{
	return turn_event_name((enum turn_event)e);
}

static unsigned turn_to(unsigned s, unsigned e)
{
	return turn_next((enum turn_state)s, (enum turn_event)e);
}

static void table_compare(const char *heading, unsigned n_states, unsigned n_events,
	state_name_fn *state, event_name_fn *on, next_fn *next)
{
	FILE *f = open_states();
	char line[1024], *cells[CELLS];
	unsigned n, event = 0;
	bool found = false;

	while (fgets(line, sizeof(line), f))
		if (strncmp(line, heading, strlen(heading)) == 0) {
			found = true;
			break;
		}
	ck_assert_msg(found, "no heading \"%s\"", heading);
	while (fgets(line, sizeof(line), f) && line[0] != '|')
		;
	n = row_split(line, cells);
	ck_assert_uint_eq(n, n_states + 1);
	for (unsigned s = 0; s < n_states; s++)
		ck_assert_str_eq(cells[s + 1], state(s));
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f)); /* the rule below the heads */
	while (fgets(line, sizeof(line), f) && (n = row_split(line, cells)) > 0) {
		ck_assert_uint_lt(event, n_events);
		ck_assert_uint_eq(n, n_states + 1);
		ck_assert_str_eq(cells[0], on(event));
		for (unsigned s = 0; s < n_states; s++) {
			unsigned to = next(s, event);

			ck_assert_msg(strcmp(cells[s + 1], to ? state(to) : ".") == 0,
				"%s, %s: %s in the text, %s in the code", state(s), on(event),
				cells[s + 1], to ? state(to) : ".");
		}
		event++;
	}
	ck_assert_uint_eq(event, n_events);
	fclose(f);
}

START_TEST(request_table)
{
	table_compare("### The request table", REQUEST_STATE_N, REQUEST_EVENT_N, request_state,
		request_on, request_to);
}
END_TEST

START_TEST(turn_table)
{
	table_compare(
		"### The turn table", TURN_STATE_N, TURN_EVENT_N, turn_state, turn_on, turn_to);
}
END_TEST

/* The pipeline's steps stand in the text in the order of the code. */
START_TEST(steps)
{
	FILE *f = open_states();
	char line[1024], *cells[CELLS], name[64];
	unsigned step = STEP_NONE + 1;

	while (fgets(line, sizeof(line), f) && strncmp(line, "| step |", 8) != 0)
		;
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f) && row_split(line, cells) > 0) {
		ck_assert_uint_lt(step, STEP_N);
		snprintf(name, sizeof(name), "`%s`", step_name((enum step)step++));
		ck_assert_str_eq(cells[0], name);
	}
	ck_assert_uint_eq(step, STEP_N);
	fclose(f);
}
END_TEST

/* What the promises say of every table, whatever its cells are. */
START_TEST(shape)
{
	for (unsigned s = 0; s < REQUEST_STATE_N; s++)
		for (unsigned e = 0; e < REQUEST_EVENT_N; e++) {
			enum request_state state = (enum request_state)s;
			enum request_state to = request_next(state, (enum request_event)e);

			if (request_state_terminal(state)) /* there is no way out */
				ck_assert(to == REQUEST_NONE || to == state);
			if (to == REQUEST_ALLOWED) /* only an allow releases */
				ck_assert(state == REQUEST_ALLOWED || e == REQUEST_ON_ALLOW);
			if (state == REQUEST_ALLOWED) /* and it is not asked again */
				ck_assert(!request_state_pending(to));
			if (s == REQUEST_HELD) /* time stands still */
				ck_assert(to == REQUEST_NONE ||
					  (e != REQUEST_ON_EXPIRE && e != REQUEST_ON_GRACE));
		}
	for (unsigned s = 0; s < TURN_STATE_N; s++)
		for (unsigned e = 0; e < TURN_EVENT_N; e++) {
			enum turn_state to = turn_next((enum turn_state)s, (enum turn_event)e);

			if (s == TURN_ENDED)
				ck_assert_int_eq(to, TURN_NONE);
			if (s == TURN_ABANDONING)
				ck_assert(to == TURN_NONE || turn_state_over(to));
			if (s == TURN_SUSPENDED && to != TURN_NONE && to != TURN_SUSPENDED)
				ck_assert(e == TURN_ON_RESUME || turn_state_over(to));
		}
	ck_assert_int_eq(request_next(REQUEST_STATE_N, REQUEST_ON_ALLOW), REQUEST_NONE);
	ck_assert_int_eq(request_next(REQUEST_AWAITING, REQUEST_EVENT_N), REQUEST_NONE);
	ck_assert_int_eq(turn_next(TURN_STATE_N, TURN_ON_END), TURN_NONE);
	ck_assert_int_eq(turn_next(TURN_RUNNING, TURN_EVENT_N), TURN_NONE);
	ck_assert_str_eq(request_event_name(REQUEST_EVENT_N), "?");
	ck_assert_str_eq(turn_event_name(TURN_EVENT_N), "?");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core: tables");
	TCase *t = tcase_create("tables");
	SRunner *r;
	int failed;

	suite_add_tcase(s, t);
	tcase_add_test(t, request_table);
	tcase_add_test(t, turn_table);
	tcase_add_test(t, steps);
	tcase_add_test(t, shape);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
