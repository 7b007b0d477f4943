# SPDX-License-Identifier: MIT
# Pure: no descriptor, clock, randomness or log.
noinst_LTLIBRARIES += broker/core/libcore.la
broker_core_libcore_la_SOURCES = \
	broker/core/budget.c \
	broker/core/budget.h \
	broker/core/denial.c \
	broker/core/due.c \
	broker/core/due.h \
	broker/core/effect.c \
	broker/core/engine.c \
	broker/core/engine.h \
	broker/core/engine_always.c \
	broker/core/engine_budget.c \
	broker/core/engine_call.c \
	broker/core/engine_ceiling.c \
	broker/core/engine_check.c \
	broker/core/engine_explain.c \
	broker/core/engine_explain.h \
	broker/core/engine_frontend.c \
	broker/core/engine_judge.c \
	broker/core/engine_kill.c \
	broker/core/engine_launch.c \
	broker/core/engine_private.h \
	broker/core/engine_request.c \
	broker/core/engine_restore.c \
	broker/core/engine_session.c \
	broker/core/engine_steer.c \
	broker/core/engine_timer.c \
	broker/core/engine_turn.c \
	broker/core/engine_usage.c \
	broker/core/entity.h \
	broker/core/marks.c \
	broker/core/judge.c \
	broker/core/judge.h \
	broker/core/owner.c \
	broker/core/pipeline.c \
	broker/core/pipeline.h \
	broker/core/registry.c \
	broker/core/registry.h \
	broker/core/request.c \
	broker/core/request.h \
	broker/core/row.c \
	broker/core/row.h \
	broker/core/str_list.c \
	broker/core/tool.c \
	broker/core/tool.h \
	broker/core/transaction.c \
	broker/core/tree.h \
	broker/core/turn.c \
	broker/core/turn.h \
	broker/core/types.c \
	broker/core/types.h
