/* SPDX-License-Identifier: MIT */
/* What the engine's files share. Every int function returns 0 or -ENOMEM. */
#ifndef CORE_ENGINE_PRIVATE_H
#define CORE_ENGINE_PRIVATE_H

#include "broker/core/engine.h"
#include "broker/core/request.h"
#include "broker/core/turn.h"

#define TRY(call)                                                                              \
	do {                                                                                   \
		int try_error = (call);                                                        \
		if (try_error < 0)                                                             \
			return try_error;                                                      \
	} while (0)

#define DECIDED_COMMAND 1024u /* bytes; a longer one is not kept of a decided call */

/* ---- effects (effect.c) ---- */
struct effect *effect_add(struct engine *e, enum effect_type type); /* NULL without memory */
int effect_keep(struct engine *e, struct str *s);		    /* until the next step */
void effects_clear(struct engine *e);
/* The answer to the command's sender; further members are the caller's to set. */
int reply_new(
	struct engine *e, const struct command *c, enum reply_kind kind, struct effect **out);
int reply_error(struct engine *e, const struct command *c, enum engine_error code,
	const char *message, const char *key, const char *value);
int reply_gone(struct engine *e, struct link *l, uint32_t call, const struct request *q);
int mark_dirty(struct engine *e, void *entity);
int mark_removed(struct engine *e, void *entity);
int flush_dirty(struct engine *e);
/* To every frontend that knows of the entity. */
int event_emit(struct engine *e, enum event_kind kind, void *entity);
int event_outcome(struct engine *e, struct session *s, struct request *q,
	enum request_state state, bool ran_anyway, struct bytes call, struct bytes tool);
int event_send(struct engine *e, struct frontend *f, enum event_kind kind, void *entity);
int note_session(struct engine *e, struct session *s, enum note_kind kind, struct turn *t);
int note_request(struct engine *e, struct request *q);
/* It stands for a program that was launched, whose first agent speaks for it. */
bool session_launched(const struct session *s);
/*
 * The session of a launched program that an agent inside of it speaks for: the first one
 * that comes, as long as it has not said bye. NULL: it has a session of its own.
 */
int session_adopt(struct engine *e, const struct command *c, struct session **out);
/* The agent of a launched program is done, the program is not: another may come. */
int session_abandon(struct engine *e, struct session *s);
/* One about its subject: watch, unwatch, hold or kill. */
int session_effect(struct engine *e, struct session *s, enum effect_type type);
int history_session(struct engine *e, struct session *s, enum history_event event,
	struct bytes by, struct bytes detail);
int history_turn(struct engine *e, struct turn *t, enum history_event event, enum source source,
	struct bytes by, struct bytes reason);
int history_request(
	struct engine *e, struct request *q, enum history_event event, struct bytes detail);

/* ---- what frontends leave behind (marks.c) ---- */
void marks_end(struct engine *e, bool commit); /* of the batch */
void marks_fini(struct engine *e);
/* A policy left without bye. */
int marks_lost_add(struct engine *e, const struct frontend *f);
/* One of its name and uid is back. */
void marks_lost_remove(struct engine *e, const struct frontend *f);
void marks_forget_lost(struct engine *e);
/* A policy said that no person will ever answer. 0; 1: there is no room to remember it. */
int marks_headless_add(struct engine *e, const struct frontend *f);

/* ---- strings and ids ---- */
struct uuid engine_new_id(struct engine *e);
/* Sets a member of a touched entity from bytes; data NULL sets NULL. */
int set_bytes(struct engine *e, void *entity, struct str **member, struct bytes b);
/* The same, without a copy where another string is alike. */
int set_shared(
	struct engine *e, void *entity, struct str **member, struct bytes b, struct str *like);

/* ---- turns (engine_turn.c) ---- */
/* The session's turn for a call; makes or begins one. *out NULL: a person ended the turn. */
int turn_for_call(struct engine *e, struct session *s, struct bytes key, struct turn **out);
int turn_event(struct engine *e, struct turn *t, enum turn_event event);
/* A change that people are told of and that outlives a restart. */
int turn_tell(struct engine *e, struct turn *t);
/* After requests of the turn changed: WAITING, RUNNING, redriven, or the end of an abandoned
 * turn. */
int turn_settle(struct engine *e, struct turn *t);
int turn_begin(struct engine *e, struct session *s, struct bytes key, struct turn **out);
int turn_supersede(struct engine *e, struct session *s, struct bytes key, struct turn **out);
/* Ends a turn and what is in it by an event of its requests; kept ones keep it ABANDONING if
 * allowed. */
int turn_end(struct engine *e, struct turn *t, enum request_event event, enum source by,
	struct bytes who, struct bytes reason);
int turn_suspend(struct engine *e, struct turn *t, enum turn_cause cause, struct bytes by,
	struct bytes reason);
int turn_resume(struct engine *e, struct turn *t, enum turn_cause cause, struct bytes by,
	struct bytes reason);
/* Gives the children's turns what they inherit. */
int turn_inherit(struct engine *e, struct session *parent);
/* Removes a turn that has ended, with what is remembered of its calls. */
int turn_forget(struct engine *e, struct turn *t);
bool turn_held(const struct turn *t);
bool session_inherits(const struct session *s);

/* ---- ceilings (engine_budget.c) ---- */
/* After anything that lets a turn's time run or stand. */
int turn_clock(struct engine *e, struct turn *t);
/* The next instant at which a ceiling is reached by time, or nearly, of a touched turn. */
void turn_due_set(struct engine *e, struct turn *t);
/* The turn that may be suspended; NULL: there is none. */
struct turn *turn_present(const struct session *s);
int turn_due_now(struct engine *e, struct turn *t);
/* What configuration and the agent's wish give to a session and each of its turns. */
void budget_config(const struct engine *e, const struct session *s, struct budget_amounts *turn,
	struct budget_amounts *session);
int session_budget_open(
	struct engine *e, struct session *s, const struct budget_amounts *asked);
int session_budget_set(struct session *s, const struct session_budget *b); /* of a new one */
/* That of the session, to be changed; touches it. NULL without memory. */
struct session_budget *session_budget_edit(struct engine *e, struct session *s);
/* The agent wishes for less: for all turns of the session, or for this one. */
int session_budget_lower(
	struct engine *e, struct session *s, const struct budget_amounts *asked);
int turn_budget_lower(struct engine *e, struct turn *t, const struct budget_amounts *asked);
int turn_budget_open(struct engine *e, struct turn *t);
/* A suspended turn's successor goes on with its ceilings and what it has used. */
int turn_budget_carry(struct engine *e, struct turn *t, struct turn *old);
/* It is over: what it has used is the session's. */
int turn_budget_close(struct engine *e, struct turn *t);
/* One more call in the turn, which is counted there already. */
int budget_call(struct engine *e, struct turn *t, const struct uuid *request);
int session_usage_add(struct engine *e, struct session *s, const struct usage *more);
/* Usage for the session and all above: in their turns where there are any. */
int budget_charge(struct engine *e, struct session *s, const struct usage *more);
/*
 * Suspends whatever has reached a ceiling from that session upwards: its present turn, else
 * t (NULL: none).
 */
int budget_check(struct engine *e, struct turn *t, struct session *from);
/*
 * Raises what suspends the turn (by NULL: each as much as is configured). 1: it would be
 * reached even so, and nothing has changed.
 */
int budget_raise(struct engine *e, struct turn *t, const struct budget_amounts *by);
/* Before the turn's first event after a restart. */
int turn_budget_restart(struct engine *e, struct turn *t, int64_t alive);
/* A call that was restored, in the sessions above: in the turns that they were in then. */
int budget_recount(struct engine *e, struct turn *t, const struct uuid *request);
/* Has it used anything? */
bool session_spent(const struct engine *e, const struct session *s);
/* For reports of usage that come after its end (engine_usage.c). */
int turn_note_last(struct engine *e, struct turn *t);

/* ---- requests in the eyes of the pipeline (engine_judge.c) ---- */
struct pipeline_call;
struct pipeline_result;
/* A request as the pipeline looks at it; it refers to the request. */
void judge_request(struct engine *e, const struct request *q, struct pipeline_call *out);
/* Why it was decided, or is asked about, into a touched request. */
int request_note_why(struct engine *e, struct request *q, const struct pipeline_result *r);
/* A rule as the reason of a decision: cut, and with a mark of that, where it is longer than one. */
struct bytes rule_reason(struct bytes rule, char out[LIMIT_TEXT]);
/* A rule that decided has matched once more. */
void rule_count(struct engine *e, const struct pipeline_result *r);

/* ---- decisions that hold for longer (engine_always.c) ---- */
/* The rules that a decision leaves behind. */
struct always {
	struct str *items[SUGGEST_MAX];
	size_t n;
};
/* Where there can be none, *out says why, and there are none. -ENOMEM. */
int always_find(struct engine *e, const struct request *q, const struct command_decision *d,
	struct always *a, struct decided *out);
/* They are to be made, of a request that is not over yet. */
int always_emit(struct engine *e, const struct request *q, const struct command_decision *d,
	struct always *a);
void always_free(struct always *a);

/* ---- requests (engine_request.c) ---- */
struct decision_terms {
	enum source source;
	enum step step;
	enum scope scope;
	struct bytes reason, by;
	struct bytes detail; /* of the row alone */
};
int request_evaluate(struct engine *e, struct request *q);
/* Why, and who says so, into the decision of a touched request. */
int decision_say(struct engine *e, struct request *q, struct bytes reason, struct bytes by);
int request_hold(struct engine *e, struct request *q);
/* People are asked; for a check, the caller is told so. */
int request_ask(struct engine *e, struct request *q, enum step step);
/* Any event that decides or ends a request; answers who waits and tells everyone. */
int request_finish(struct engine *e, struct request *q, enum request_event event,
	const struct decision_terms *terms);
int request_attach(struct engine *e, struct request *q, struct link *l, uint32_t call);
int request_detach(struct engine *e, struct request *q);
int request_forget(struct engine *e, struct request *q);
/* What is decided is only compared any more, by its hash: the large texts go. */
int request_shed(struct engine *e, struct request *q);
/* Is it a denial that counts when the same call is tried again? */
bool denial_counts(uint8_t type, uint8_t state, uint8_t source, uint8_t step);
/* The review is over, by the verdicts or by time. */
int request_reviewed(struct engine *e, struct request *q);
/* Keeps a check that was answered ask, for the request without an id that follows. */
int session_remember(struct engine *e, struct request *q);
/* An outcome that comes after the end of its turn is no call that ran without an allow. */
int turn_note_late(struct engine *e, struct turn *t);
bool outcome_is_late(const struct session *s, const struct command_about *a);
/* Takes the last check with that input (or, with call, that id) out of the list. */
int check_take(struct engine *e, struct session *s, const uint8_t hash[16], struct bytes call,
	struct bytes *found);
void request_set_deadline(struct engine *e, struct request *q, const struct command_request *c);
int request_answer_again(struct engine *e, struct request *q, struct link *l, uint32_t call);
/* The strings are taken by reference. */
int request_take_paths(struct request *q, const struct request_path *paths, unsigned n_paths,
	unsigned n_operands);
/* No person can be asked, and that denies. A request that was recovered waits for its agent. */
bool request_alone(struct engine *e, const struct request *q);
/* Its record stays in the store though it is decided: the history alone can't restore it. */
bool request_lasts(const struct request *q);
int request_move(struct engine *e, struct request *q, struct turn *to);
int request_due_now(struct engine *e, struct request *q);
/* They stand still while a request is HELD or not yet restored. */
void request_timers_stop(struct engine *e, struct request *q);
void request_timers_start(struct engine *e, struct request *q);
void request_lift(struct engine *e, struct request *q); /* at least 30 s remain */
bool policy_is(const struct frontend *f);
/* After some time-outs in a row a policy is not waited for any more: it counts as ask. */
bool policy_awaited(const struct frontend *f);
/* Would it be shown, and may it answer, a request of this uid and type? */
bool frontend_answers(const struct frontend *f, uint32_t uid, enum request_type type);
/* Required policies that are not there, and such as left without bye, count as ask. */
bool policy_missing(struct engine *e, uint32_t uid, enum request_type type);
/* Nobody is there who could be asked, and that denies. */
bool alone_denies(struct engine *e, uint32_t uid, enum request_type type, bool fail_closed);
bool policy_in(const struct frontend *f, uint32_t mask); /* one of that mask? */

/* ---- sessions (engine_session.c) ---- */
int session_end(struct engine *e, struct session *s, enum request_event event);
int session_die(struct engine *e, struct session *s);
/* The connection is in no session any more; `answer`: it lives, and its calls are answered. */
int link_leave(struct engine *e, struct link *l, bool answer);
/* Ends a session whose subject is dead when nothing holds it any more. */
int session_settle(struct engine *e, struct session *s);

/* ---- command handlers ---- */
int on_hello(struct engine *e, const struct command *c);
int on_bye(struct engine *e, const struct command *c);
int on_claim(struct engine *e, const struct command *c);
int on_turn_begin(struct engine *e, const struct command *c);
int on_turn_end(struct engine *e, const struct command *c);
int on_usage(struct engine *e, const struct command *c);
int on_request(struct engine *e, const struct command *c);
int on_cancel(struct engine *e, const struct command *c);
int on_settled(struct engine *e, const struct command *c);
int on_outcome(struct engine *e, const struct command *c);
int on_frontend_hello(struct engine *e, const struct command *c);
int on_frontend_gone(struct engine *e, const struct command *c);
int on_subscribe(struct engine *e, const struct command *c);
int on_decide(struct engine *e, const struct command *c);
int on_verdict(struct engine *e, const struct command *c);
int on_ceiling(struct engine *e, const struct command *c);
int on_suspend(struct engine *e, const struct command *c);
int on_resume(struct engine *e, const struct command *c);
int on_end_turn(struct engine *e, const struct command *c);
int on_kill(struct engine *e, const struct command *c);
int on_restarted(struct engine *e, const struct command *c);
int on_slept(struct engine *e);
/* Pending requests that no person can answer any more, where that denies. */
int deny_alone(struct engine *e);

#endif
