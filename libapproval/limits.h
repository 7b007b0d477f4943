/* SPDX-License-Identifier: MIT */
/*
 * Every limit of approvald, in one place. Each is tested before anything is
 * allocated for the value that it bounds. Constants only: any layer may include
 * this file.
 */
#ifndef APPROVAL_LIMITS_H
#define APPROVAL_LIMITS_H

/* wire */
#define LIMIT_FRAME	   (4u << 20) /* bytes of one message */
#define LIMIT_DEPTH	   32u	      /* nesting of containers in a message */
#define LIMIT_ELEMENTS	   65536u     /* values in a message, containers included */
#define LIMIT_OUTSTANDING  4096u      /* calls of one connection without a reply */
#define LIMIT_NAME	   256u	      /* bytes of ids, agent, tool, names, method */
#define LIMIT_TEXT	   4096u      /* bytes of title, summary, reason, cwd, path */
#define LIMIT_DESCRIPTION  16384u     /* bytes of a description */
#define LIMIT_INPUT	   (1u << 20) /* bytes of a tool call's input, as MessagePack */
#define LIMIT_CURSOR	   65536u     /* bytes of an adapter's usage cursor */
#define LIMIT_DECISIONS	   1000u      /* decisions in one call */
#define LIMIT_OPTIONS	   64u	      /* options of a question */
#define LIMIT_PAGE	   500u	      /* items of one page */
#define LIMIT_PAGE_DEFAULT 100u
#define LIMIT_PAGE_BYTES   (1u << 20) /* a page ends here at the latest */
#define LIMIT_INLINE_INPUT 16384u     /* a larger input is not part of an event */
#define LIMIT_VALUE_DEPTH  24u	      /* of a value that is passed on inside other messages: */
#define LIMIT_VALUE_COUNT  12288u     /* a prompt with five of them is inside the above */
#define LIMIT_FDS	   4u	      /* descriptors taken from one recvmsg */

/* peers */
#define LIMIT_OUTPUT	   (8u << 20) /* bytes queued for a slow reader */
#define LIMIT_READ_CHUNK   65536u     /* bytes read from a peer in one loop turn */
#define LIMIT_RESERVE_FDS  32u	      /* descriptors kept free for the broker itself */
#define LIMIT_FRONTEND_FDS 512u	      /* and for frontends; a quarter of all at the most */

/* per uid; configuration may change these */
#define LIMIT_UID_CONNECTIONS	12288u
#define LIMIT_UID_PENDING	131072u
#define LIMIT_UID_PENDING_BYTES (512u << 20)
#define LIMIT_UID_RATE		20000u /* requests a second, a burst of as many; 0: none */
#define LIMIT_UID_SESSIONS	16384u /* sessions that have not ended */

/* the edge of the broker */
#define LIMIT_ANCESTORS	    128u       /* processes above a peer that are looked at */
#define LIMIT_ACCEPT_BURST  64u	       /* connections accepted in one loop turn */
#define LIMIT_RESOLVE_QUEUE 1024u      /* tool calls whose paths wait for the worker */
#define LIMIT_SYMLINKS	    40u	       /* followed in one path */
#define LIMIT_CONFIG	    (1u << 20) /* bytes of a configuration file */
#define LIMIT_FDS_KEPT	    64u	       /* descriptors of all peers' unfinished messages */
#define LIMIT_CLOSERS	    32u	       /* threads that close what others have sent */
#define LIMIT_STOPPED	    8192u      /* processes of one session that are stopped */
#define LIMIT_ENFORCED	    512u       /* sessions whose processes are stopped or frozen */
#define LIMIT_ACCOUNTS	    1024u      /* uids remembered without anything in use */

/* core */
#define LIMIT_CHAIN	    16u	  /* sub-agents below each other */
#define LIMIT_PATHS	    32u	  /* paths of one tool call */
#define LIMIT_OPERANDS	    64u	  /* paths that a command names and that are resolved */
#define LIMIT_OPERAND_BYTES 65536u /* of all of them together */
#define LIMIT_READ_ARGS	    1024u /* arguments of a command that only reads; more: it is asked
				   * about */
#define LIMIT_LOOKUPS	    (LIMIT_PATHS + LIMIT_OPERANDS) /* paths that are resolved at once */
#define LIMIT_POLICIES	    32u	  /* policy frontends at once */
#define LIMIT_LOST_POLICIES 256u  /* that left without bye and are remembered */
#define LIMIT_LOST_OF_UID   16u	  /* of one uid, by name; then any counts */
#define LIMIT_HEADLESS_UIDS 64u	  /* whose policies said that nobody will answer */
#define LIMIT_FRONTENDS	    256u  /* frontends at once */
#define LIMIT_RECENT_CHECKS 16u	  /* checks answered ask that a session remembers */
#define LIMIT_TURN_CALLS    4096u /* decided calls of a turn kept in memory */
#define LIMIT_MATCH	    4096u /* requests of a session looked at for a call without an id */
#define LIMIT_LOST_DENIALS  1024u /* denials kept while the store fails; then a count */
#define LIMIT_RULE	    65536u /* bytes of one rule */
#define LIMIT_RULES	    65536u /* rules in force at once */
#define LIMIT_RULE_STEPS    (32u << 20) /* characters compared with rules for one call; more:
					 * asked */
#define LIMIT_RULE_ARGS	    65536u /* options and operands of one command; more: asked */
#define LIMIT_LINT_STEPS    (256u << 20) /* characters by characters of rules compared in lint */
#define LIMIT_RULE_FILE	    (4u << 20) /* bytes of a file of rules */
#define LIMIT_RULE_FILES    1024u /* files in a folder of them */
#define LIMIT_PROJECT_FILE  (256u << 10) /* bytes of a project's: whoever works in it may write
					  * it */
#define LIMIT_PROJECT_LINES 2000u	 /* of it */
#define LIMIT_PROJECTS_RULES (LIMIT_RULES / 4) /* of all of them together */
#define LIMIT_PROJECTS_BYTES (16u << 20)
#define LIMIT_PROJECTS	    LIMIT_UID_SESSIONS /* whose files are looked at */
#define LIMIT_TRUSTS	    4096u /* projects that people trust */
#define LIMIT_BATCH	    4096u /* commands in one transaction */
#define LIMIT_BUDGETS	    256u /* sections of ceilings in the configuration */
#define LIMIT_FLOOR_OFF	    256u /* entries that configuration switches off */
#define LIMIT_FLOOR_ADDED   1024u /* entries that configuration adds to the floor */
#define LIMIT_FLOOR_STEPS   (16u << 20) /* characters compared for one command; more: unread */

/* reading commands */
#define LIMIT_SHELL_TEXT	LIMIT_INPUT /* bytes of a command; a longer one is unread */
#define LIMIT_SHELL_ARENA	(8u << 20)  /* memory of one reading, touched as needed */
#define LIMIT_SHELL_COMMANDS	4096u	    /* simple commands in a text */
#define LIMIT_SHELL_NESTS	4096u	    /* subshells, substitutions and the like */
#define LIMIT_SHELL_DEPTH	48u	    /* of them within each other */
#define LIMIT_SHELL_TEXTS	8u	    /* texts given to eval or -c within each other */
#define LIMIT_SHELL_CDS		64u	    /* changes of directory; then it is unknown */
#define LIMIT_SHELL_LETTERS	65536u	    /* bytes of words that may be options of a letter
					     * each */
#define LIMIT_SHELL_BRACES	1024u	    /* words from brace expansions in a text */
#define LIMIT_SHELL_BRACE_BYTES 65536u	    /* bytes of those */
#define LIMIT_SHELL_BRACE_WORD	1024u	    /* bytes of a word with a brace expansion */

/* rules of other agents */
#define LIMIT_IMPORT_FILE    (1u << 20)
#define LIMIT_IMPORT_DEPTH   32u
#define LIMIT_IMPORT_NODES   16384u /* values in a file */
#define LIMIT_IMPORT_RULES   4096u  /* after alternatives were written out */
#define LIMIT_IMPORT_PATTERN 4096u  /* bytes of one pattern */
#define LIMIT_IMPORT_STEPS   (1u << 26) /* of comparing them; then any two may meet */

/* times, in milliseconds */
#define TIME_GRACE_MS	       30000	/* a lost connection may come back */
#define TIME_RECLAIM_MS	       60000	/* an allow is given again to a resubmission */
#define TIME_KEEP_MS	       86400000 /* a decision of a `keep` request waits to be claimed */
#define TIME_MIN_REMAINING_MS  30000	/* after a restart or a sleep */
#define TIME_CHANNEL_MARGIN_MS 60000	/* answered before the agent's own channel gives up */
#define TIME_POLICY_MS	       2000
#define TIME_RESOLVE_MS	       200
#define TIME_PROJECT_MS	       1000 /* after that a project's file is looked at for the next call */
#define TIME_ACCEPT_RETRY_MS   100 /* after the system ran out of descriptors */
#define TIME_STORE_RETRY_MS    1000
#define TIME_SYSTEM_DEADLINE_MS 120000
#define TIME_CONNECT_RETRY_MS  30000 /* a client waits for a broker so long */
#define TIME_QUERY_MS	       4 /* spent on questions in one loop turn, at the most */
#define TIME_KILL_MS	       10000 /* from SIGTERM to SIGKILL, where nothing else is said */
#define TIME_FLOOD_MS	       60000 /* lines of the log that others cause are counted so long */
#define TIME_BUDGET_WALL_MS    86400000 /* of a turn, where no other ceiling is configured */
#define TIME_ALIVE_MS	       30000 /* the store is told that the broker lives */

#endif
