/* SPDX-License-Identifier: MIT */
/* What a hook tells the broker beside its question. */
#ifndef HOOK_REPORT_H
#define HOOK_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "frontends/hook/transcript.h"

struct approval;
struct json_object;

/* The cursor that the broker kept for this session; a new one where there is none. */
int report_cursor(struct approval *a, struct tally *t);
/* The agent's own id of the session's present turn; NULL: none. */
const char *report_turn(struct approval *a);

/* Queues a report of t's turn, unless a later one has come from elsewhere. */
int report_usage(struct approval *a, const struct tally *t);

/*
 * Waits until the model's last answer stands in the transcript: the agent writes
 * it a moment after it has ended its turn.
 */
void report_await(struct approval *a, const char *path, enum tally_start start, size_t budget,
	int timeout_ms);

/*
 * Reads on in the transcript and queues reports, one for each turn that is over and
 * one for the last. prompt_id may be NULL. That there is no transcript is no error.
 * *t is then how far it was read; 1 when there is more.
 */
int report_transcript(struct approval *a, const char *path, const char *prompt_id,
	enum tally_start start, size_t budget, struct tally *t);

/*
 * The status of a blocking call: 0 also where the broker says that what it was
 * about has ended already, or was never asked of it.
 */
int report_gone(struct approval *a, int status);

/* Queues it. */
int report_turn_begin(struct approval *a, const char *prompt_id);

/* Blocking calls for which the library has no function of its own, judged by report_gone. */
int report_outcome(struct approval *a, const char *call, const char *tool,
	struct json_object *input, const char *outcome, int timeout_ms);
/* call NULL: by tool and input; neither: whatever said `elsewhere`. verdict may be NULL. */
int report_settled(struct approval *a, const char *call, const char *tool,
	struct json_object *input, const char *verdict, int timeout_ms);

#endif
