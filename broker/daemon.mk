# SPDX-License-Identifier: MIT
# The gateway knows the core, the wire and the store, and nothing else knows all three.
bin_PROGRAMS += approvald
approvald_SOURCES = \
	broker/io/gateway.c \
	broker/io/gateway.h \
	broker/io/gateway_agent.c \
	broker/io/gateway_batch.c \
	broker/io/gateway_budget.c \
	broker/io/gateway_effect.c \
	broker/io/gateway_ended.c \
	broker/io/gateway_enforce.c \
	broker/io/gateway_enforce.h \
	broker/io/gateway_decide.c \
	broker/io/gateway_explain.c \
	broker/io/gateway_explain.h \
	broker/io/gateway_explain_item.c \
	broker/io/gateway_floor.c \
	broker/io/gateway_frontend.c \
	broker/io/gateway_hello.c \
	broker/io/gateway_item.c \
	broker/io/gateway_kill.c \
	broker/io/gateway_load.c \
	broker/io/gateway_log.c \
	broker/io/gateway_paths.c \
	broker/io/gateway_paths.h \
	broker/io/gateway_pending.c \
	broker/io/gateway_private.h \
	broker/io/gateway_project.c \
	broker/io/gateway_project.h \
	broker/io/gateway_project_item.c \
	broker/io/gateway_query.c \
	broker/io/gateway_resync.c \
	broker/io/gateway_record.c \
	broker/io/gateway_rule_call.c \
	broker/io/gateway_rule_item.c \
	broker/io/gateway_rules.c \
	broker/io/gateway_standing.c \
	broker/io/gateway_stop.c \
	broker/io/gateway_subject.c \
	broker/io/gateway_trust.c \
	broker/main.c \
	broker/start.c \
	broker/start.h
approvald_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(NETTLE_CFLAGS)
approvald_LDADD = broker/libbroker.la broker/io/libio.la broker/core/libcore.la \
	broker/store/libstore.la libapproval/wire/libwire.la $(EVENT_LIBS) $(NETTLE_LIBS)
