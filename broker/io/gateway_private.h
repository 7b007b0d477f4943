/* SPDX-License-Identifier: MIT */
/* What the gateway's files share. */
#ifndef IO_GATEWAY_PRIVATE_H
#define IO_GATEWAY_PRIVATE_H

#include "broker/core/engine.h"
#include "broker/io/account.h"
#include "broker/io/ancestry.h"
#include "broker/io/facts.h"
#include "broker/io/flood.h"
#include "broker/io/gateway.h"
#include "broker/io/gateway_enforce.h"
#include "broker/io/peer.h"
#include "broker/io/resolver.h"
#include "libapproval/wire/frame.h"
#include "libapproval/wire/message.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/value.h"

#define GATEWAY_PROTOCOL 1
#define GATEWAY_ENDED_MAX 4096u /* ended requests that a late decision is told of */

/* A connection. */
struct client {
	struct peer *peer;
	struct link *link;	   /* of an agent */
	struct frontend *frontend; /* of a frontend */
	struct pending_call *waiting; /* its paths are being resolved; the peer is paused */
	union {
		struct { /* of an agent */
			const char *home; /* of its uid, for paths; NULL: none */
			char *alias;	  /* another name of the workspace */
			struct process *subject; /* that its hello named */
		};
		struct { /* of a frontend */
			char *name; /* who decides */
			uint64_t serial;
		};
	};
	size_t staged; /* bytes of the batch */
	uint32_t outstanding;
	uint32_t judged; /* generation of subjects that the frontend was judged against */
	bool refused, full, closed, forgotten;
	bool closing; /* after what is staged for it has gone out */
	TAILQ_ENTRY(client) entry;
};
TAILQ_HEAD(client_list, client);

/* A call that waits for the resolver: a copy of its message. */
struct pending_call {
	TAILQ_ENTRY(pending_call) entry; /* of those that wait for a project */
	struct gateway *g;
	struct client *client;
	struct resolver_job *job;
	struct project *project; /* whose file is looked at; NULL: none */
	void (*again)(struct pending_call *p); /* when that has been done */
	uint8_t *bytes;
	size_t len;
	struct process *subject;
	struct enforce_offer *offer; /* of a hello; NULL: none */
	char *workspace, *alias; /* of an explain without a session; NULL: none */
	bool placed;		 /* that has been looked for */
	struct edit *edits;	 /* of a decide, as many as decisions; NULL: it is none */
	unsigned n_edits, awaited; /* the one whose paths are looked for */
};

TAILQ_HEAD(pending_list, pending_call);

/* A message that goes out after the commit. */
struct staged {
	struct client *client;
	size_t at, len;
	bool answer;
	bool free_of_batch; /* true whatever becomes of the batch: it is sent all the same */
};

/* Who is to be told when the batch fails. */
struct sender {
	struct client *client;
	uint32_t call;
	bool request; /* denied by the broker; others get an error */
	bool suspend, all; /* applied all the same, to this session */
	struct uuid session;
	struct str *reason; /* of the suspension; NULL: none */
};

/* An event without a sender, kept until it is committed. */
struct kept_event {
	enum command_type type;
	struct client *client;
	struct process_id process;
};

struct lost_denial {
	int64_t at;
	uint32_t uid, pid;
	struct uuid session, request;
	uint8_t mode;
	char tool[64];
};

/* A row of the history that could not be written when it should have been. */
struct late_row {
	STAILQ_ENTRY(late_row) entry;
	struct history_row row;
	char text[];
};
STAILQ_HEAD(late_rows, late_row);

struct ended_request {
	struct uuid id;
	uint8_t state, source;
	uint8_t verdict; /* of a decision, which counts; else NONE */
	uint32_t uid;
};

struct subject_change {
	struct process_id id;
	bool on;
};

/* A process that is the subject of living sessions, and watched. */
struct subject {
	RB_ENTRY(subject) entry;
	struct process_id id;
	struct process *process;
	uint32_t sessions;
};
RB_HEAD(subject_tree, subject);

/* Looked up once for each uid: it may ask the network. */
struct home {
	uint32_t uid;
	char *path; /* NULL: none */
};

/* A rule that somebody made and that stays, as the store has it. */
struct standing_rule {
	TAILQ_ENTRY(standing_rule) entry;
	struct rule_record r;
	uint64_t written; /* how often it matched, as the store has it */
	bool broken;	  /* its text does not parse any more: it is kept, and says nothing */
	bool added, removed; /* in this batch */
};
TAILQ_HEAD(standing_list, standing_rule);

RB_HEAD(project_tree, project);
RB_HEAD(trust_tree, trust);

struct gateway {
	struct event_base *base;
	struct event *timer;
	struct journal *journal;
	struct log *log;
	struct engine engine;
	struct judge judge; /* rules and floor */
	/* what agents take is not taken from people: one for each socket */
	struct accounts *accounts[LISTENER_N];
	struct peers *peers;
	struct process_table *processes;
	struct process *self;
	struct resolver *resolver;
	struct client_list frontends, agents;
	struct pending_call *spare;
	struct home *homes;
	size_t n_homes, homes_size;
	const char *store_name;
	const char *admin_rules, *user_rules; /* folders of files; NULL: none */
	char *floor_file; /* of the user's additions to the floor; NULL: none */
	int (*reload)(void *arg, struct log_copy *why);
	void *reload_arg;
	char **required; /* what the engine's configuration points to */
	size_t n_required;
	bool user_mode, stopping;
	char epoch[33];
	uint64_t boot; /* see session_stored */
	uint64_t serial;
	uint32_t subjects; /* generation: rises when a session gets a subject */

	/* the batch */
	struct wire_buffer stage;
	struct staged *staged;
	size_t n_staged, staged_size;
	struct sender *senders;
	size_t n_senders, senders_size;
	struct kept_event *events; /* in the batch; from there to `kept` when it fails */
	size_t n_events, events_size;
	size_t n_commands;
	bool in_transaction;

	/* the store's failure */
	struct kept_event *kept;
	size_t n_kept, kept_size;
	bool failing, resync;
	bool unrecorded; /* a suspension is applied that can't be recorded */
	int store_error;
	int64_t retry_at; /* monotonic */
	struct late_rows late; /* of suspensions that were applied all the same */
	struct lost_denial *lost;
	size_t n_lost;
	uint64_t lost_more;

	/* the machine's sleep, and the sign of life */
	int64_t slept; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
	struct instant now; /* of this loop turn; 0: not read yet */
	int64_t alive_at;
	size_t held_most; /* requests and connections since memory was last given back */
	int64_t started;
	int64_t query_until; /* of this loop turn; 0: nothing has been asked yet */

	struct retention retention;
	bool prune;
	struct flood flood;

	struct ended_request *ended;
	size_t n_ended;
	struct ended_request *ending; /* in the batch */
	size_t n_ending, ending_size;
	struct subject_change *changes; /* to be applied after the commit */
	size_t n_changes, changes_size;
	struct subject_tree subjects_held;
	struct enforcements enforcements;
	struct enforce_change *enforce_changes;
	size_t n_enforce_changes, enforce_changes_size;
	bool held_unrecorded; /* some stand still by what could not be recorded */
	bool may_stop; /* agents may ask to be stopped by signals */

	/* rules */
	struct standing_list standing; /* in the order of their ids */
	size_t n_owned;		       /* of sessions and turns */
	size_t n_rule_changes;	       /* in the batch */
	uint64_t rule_id;	       /* the largest that ever was */
	int64_t counted_at;	       /* when matches were last written */
	struct project_tree projects;
	struct trust_tree trusts;
	size_t n_projects, n_trusts;
	uint32_t project_rules; /* of the files in force */
	size_t project_bytes;
	uint32_t sweep;		/* generation: for projects without sessions */
	struct uuid sweep_at;
	bool sweeping;

	uint64_t decisions[VERDICT_N][SOURCE_N];
	uint64_t commits;
	uint8_t random[1024];
	size_t random_left;
};

/* ---- gateway.c ---- */
extern const struct peer_ops gateway_peer_ops;
void gateway_timer(evutil_socket_t fd, short what, void *arg);
void gateway_clock_init(struct gateway *g);
struct instant gateway_clock(void);
/* The clock's reading of this loop turn: one instant for all that it does. */
struct instant gateway_now(struct gateway *g);
struct uuid gateway_seed(struct gateway *g);
/* Runs a command and takes its effects into the batch. */
void gateway_step(struct gateway *g, struct client *client, struct command *c);
/* Commands without a sender, kept until they are committed. */
void gateway_event(struct gateway *g, enum command_type type, struct client *client,
	const struct process_id *process);
/* Tries the events that no batch has committed yet. */
void events_run(struct gateway *g);
void client_gone(struct gateway *g, struct client *client);
/* Of the peers that are gone; a client stays until the engine has been told, and recorded it. */
void peers_reap(struct gateway *g);
/*
 * Start times count from the boot, and are stored with some bits of its id above theirs,
 * and read so: what another boot's store says of a process is true of none.
 */
static inline void session_stored(const struct gateway *g, struct session_record *r)
{
	if (r->subject.pid)
		r->subject.start ^= g->boot;
}
void *grow(void *items, size_t n, size_t *size, size_t item); /* NULL: no memory, items stay */

/* ---- gateway_batch.c ---- */
/* One more message for a client: write it into the buffer, then stage_end. */
struct wire_buffer *stage_begin(struct gateway *g);
void stage_end(struct gateway *g, struct client *client, bool answer);
/* An error that the engine gave, so that it is the batch's; and one that no state is behind. */
void batch_error(struct gateway *g, struct client *client, uint32_t call, enum wire_code code,
	const char *message, const char *key, struct bytes value);
void answer_error(struct gateway *g, struct client *client, uint32_t call, enum wire_code code,
	const char *message, const char *key, struct bytes value);
/* A parameter that names none of its values. Returns 1: answered. */
int answer_bad_value(struct gateway *g, struct client *client, uint32_t call, const char *param);
/* The call is the batch's from here on. -ENOMEM. */
int batch_add_sender(struct gateway *g, struct client *client, const struct command *c);
int batch_store(struct gateway *g, enum journal_op op, const void *arg);
void batch_commit(struct gateway *g);
/* A failing store works again: what could not be recorded meanwhile is part of this batch. */
void batch_catch_up(struct gateway *g);
void batch_fail(struct gateway *g, int error);
/* Forgets the rows that come after that one; NULL: all of them. */
void late_drop(struct gateway *g, struct late_row *after);

/* ---- gateway_effect.c ---- */
/* by: who gave the command, for the rules that it makes. */
int effects_take(struct gateway *g, struct bytes by, const struct effects *out);
/* The batch is committed: what ended in it counts, and late decisions are told of it. */
void endings_commit(struct gateway *g);

/* ---- gateway_ended.c ---- */
int ended_note(struct gateway *g, const struct history_row *row);
/* A request that the engine has forgotten may have ended a moment ago, or be in the history. */
struct decided ended_recall(struct gateway *g, const struct client *client, struct decided d);
/* The same for whoever asks for it, by its id or a part of it; false: there is no such. */
bool ended_answer(struct gateway *g, struct client *client, uint32_t call, struct bytes id);
/* The error `gone` as a reply; request NULL: not named. */
void gone_answer(struct gateway *g, struct client *client, uint32_t call, const char *message,
	const struct uuid *request, uint8_t state, uint8_t source);
/* It is the id's beginning or end, with or without "req_". */
bool id_has_part(enum id_type type, const struct uuid *id, struct bytes part);

/* ---- gateway_log.c ---- */
/* A project's file can't be used. */
void project_tell(struct gateway *g, uint32_t uid, struct bytes file, uint32_t line,
	uint32_t column, const char *problem);
/* A connection that is not taken: of an enum account_limit, or a negative errno. */
void refusal_tell(struct gateway *g, enum listener_kind kind, uint32_t uid, int err);
/* A batch that failed; store: it begins to fail, which is rare and always told. */
void failure_tell(struct gateway *g, int error, const char *reason, bool store);
/* What was left out of it. */
void floods_tell(struct gateway *g, int64_t now);

/* ---- gateway_item.c ---- */
/* Room for one more item in a page: by its bytes, and by the values of one message. */
static inline bool page_room(const struct wire_buffer *b, struct wire_mark from)
{
	return b->len - from.len < LIMIT_PAGE_BYTES &&
	       b->values - from.values < LIMIT_ELEMENTS - LIMIT_VALUE_COUNT - 1024;
}
void item_pack(struct gateway *g, struct wire_buffer *b, const struct entity *e, bool whole);
/*
 * A page as `items`, `more` and `cursor` of an open map: what next gives after *at, which
 * comes to be the last one's. limit 0: the default. Returns whether there is more.
 */
bool page_pack(struct gateway *g, struct wire_open *m, struct uuid *at, unsigned limit,
	struct entity *(*next)(void *arg, const struct uuid *after), void *arg);
/* The text of the rule in what the pipeline found, or nil. */
void item_put_rule(struct wire_open *m, const struct str *found);
void item_put_id(struct wire_open *m, const char *key, enum id_type type, const struct uuid *id);
struct client *client_of(struct link *l);
struct client *client_of_frontend(struct frontend *f);

/* ---- gateway_agent.c, gateway_hello.c ---- */
int agent_frame(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw);
int agent_hello(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw);
/* The home folder of a uid, which lives as long as the gateway; NULL: none. -ENOMEM. */
int home_of(struct gateway *g, uint32_t uid, const char **out);
/* A path for the resolver. */
void path_copy(char *out, size_t size, struct bytes path);
/* A call that may have to wait until its paths are resolved; and one that has to. -ENOMEM. */
int pending_call_new(struct gateway *g, struct client *client, struct pending_call **out);
int pending_call_park(struct pending_call *p, struct resolver_job *job, struct bytes raw);
/* It is resolved, and the callee's: the client's end, which it may bring, frees it no more. */
void pending_call_unpark(struct pending_call *p);
void pending_call_free(struct pending_call *p);
/* What follows on its connection is read again, unless something else holds it back. */
void client_go_on(struct client *client);
/* The answer to a call that has waited, where err came up: the batch that it is in fails. */
void pending_call_fail(struct gateway *g, struct client *client, uint32_t call, int err);
void problem_answer(struct gateway *g, struct client *client, uint32_t call, int code,
	const struct wire_problem *problem);

/* ---- gateway_resync.c ---- */
/* Into the present transaction; after what was applied without being recorded. */
int resync_write(struct gateway *g);

/* ---- gateway_decide.c ---- */
int frontend_decide(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw);
void edits_free(struct edit *edits, unsigned n); /* NULL is fine */

/* ---- gateway_frontend.c, gateway_query.c ---- */
int frontend_frame(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw);
int frontend_query(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method);
/* What is asked may go through all that there is: it takes its time in portions. The time of a
 * loop turn begins with the first question. */
bool query_goes_on(struct gateway *g);
/* Is the frontend, by now, inside an agent's tree? Answers and closes it then. */
bool frontend_refused(struct gateway *g, struct client *client, uint32_t call);

/* ---- gateway_rules.c ---- */
/* Rules and floor as files and configuration have them now. */
struct rules_fresh {
	struct ruleset *rules;
	struct floor *floor;
	char *floor_file; /* of the user's additions; NULL: none */
};
int rules_read(struct gateway *g, const struct config *config, struct rules_fresh *out);
void rules_drop(struct rules_fresh *fresh);
/* They take the place of the old ones. */
void rules_swap(struct gateway *g, struct rules_fresh *fresh);

/* ---- gateway_record.c ---- */
/* An entity's record goes into the store, by batch_store or at once. */
int entity_put(struct gateway *g, struct entity *x,
	int (*put)(struct gateway *g, enum journal_op op, const void *record));

/* ---- gateway_budget.c ---- */
void item_put_budget(struct gateway *g, struct wire_open *m, struct turn *t);
void item_put_warning(struct gateway *g, struct wire_open *m, const struct effect *e);
void amounts_take(const struct wire_budget *b, struct budget_amounts *out);
/* The `budget` of a call, if there is one. 1: answered. */
int budget_parse(struct gateway *g, struct client *client, uint32_t call, struct bytes map,
	bool *has, struct budget_amounts *out);

/* ---- gateway_standing.c ---- */
/* Each of these is part of the batch, and undone with it. */
int standing_load(struct gateway *g, const struct rule_record *r);
/*
 * A rule of which all but the id is given; its text is brought to its normal form, and by is
 * who makes it. 0; 1: it does not parse; -EINVAL: it can't be stored; -EEXIST: there is one
 * alike; *out in both cases. -ENOSPC, -ENOMEM, or what the store says.
 */
int standing_add(struct gateway *g, const struct rule_record *r, struct standing_rule **out,
	struct rule_problem *problem);
/* One that a decision leaves behind. */
int standing_from(struct gateway *g, struct bytes by, const struct effect *e);
/* by: who removes it; data NULL: it has expired, or with what it was for. */
int standing_remove(struct gateway *g, struct standing_rule *s, struct bytes by);
struct standing_rule *standing_find(struct gateway *g, uint64_t id);
/* The rules of a session or turn that is over. */
int standing_drop_owner(struct gateway *g, const struct uuid *owner);
/* After the load: those whose session or turn is no more. */
int standing_settle(struct gateway *g);
/* Rules that have expired go, and now and then (at once) it is written how often they matched.
 */
int standing_tick(struct gateway *g, bool at_once);
void standing_commit(struct gateway *g);
void standing_rollback(struct gateway *g);
void standing_free(struct gateway *g);

/* ---- gateway_rule_item.c ---- */
/* The line of a rule; of NULL an absent one. */
void rule_put_line(struct wire_open *m, const char *key, const struct rule_entry *e);
/* One rule for people: entry or s may be NULL, not both. */
void rule_pack(struct wire_buffer *b, const struct rule_entry *entry,
	const struct standing_rule *s);
/* Tells all who may know of it. -ENOMEM. */
int rule_tell(struct gateway *g, const struct standing_rule *s, const char *change);

/* ---- gateway_rule_call.c ---- */
int frontend_rules(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method);

/* ---- gateway_explain.c ---- */
int frontend_explain(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw);
/* ---- gateway_project.c ---- */
/* Looks at the file of the client's project unless that was done a moment ago. -ENOMEM. */
int project_hold(struct gateway *g, struct client *client);
/*
 * The same for a call: 1: it may go on; 0: it waits for that, and p->again is called then;
 * -ENOMEM. subject NULL: the broker's own root.
 */
int project_wait(struct pending_call *p, uint32_t uid, struct bytes workspace,
	struct process *subject, struct bytes raw);
void project_unwait(struct pending_call *call); /* of any call */
/* Of a judge. */
const char *project_unknown(void *gateway, uint32_t uid, struct bytes workspace);
/* Into a set that was made anew. -ENOMEM. */
int projects_load(struct gateway *g, struct ruleset *rules);
/* Projects whose sessions have all ended go: a part of the work; all of it. */
void projects_tick(struct gateway *g);
void projects_sweep(struct gateway *g);
void projects_free(struct gateway *g);

/* ---- gateway_trust.c ---- */
int trust_load(struct gateway *g, const struct trust_record *r);
void trusts_free(struct gateway *g);
int frontend_trust(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method, struct bytes raw);

/* ---- gateway_floor.c ---- */
int frontend_floor(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method);

/* ---- gateway_subject.c ---- */
/* A session has got, or lost, its subject; applied after the commit. */
int subject_change(struct gateway *g, const struct process_id *id, bool on);
void subject_apply(struct gateway *g);
void subject_forget(struct gateway *g);
/* That of a session, if it is watched; not counted. NULL: none. */
struct process *subject_of_session(struct gateway *g, const struct session *s);
/* The process that stands for the client's session; not counted. */
struct process *subject_process(struct gateway *g, const struct client *client);
void subject_drop_all(struct gateway *g);

#endif
