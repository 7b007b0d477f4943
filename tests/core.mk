# SPDX-License-Identifier: MIT
EXTRA_DIST += doc/states.md
# allocations that fail: the source, and what a program that has it links with
FAIL_ALLOC = tests/unit/fail_alloc.c tests/unit/fail_alloc.h
FAIL_ALLOC_WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray \
	-Wl,--wrap=strdup,--wrap=strndup
CORE_WORLD = tests/model/effects.c tests/model/expect.c tests/model/invariant.c tests/model/print.c \
	tests/model/script.c tests/model/store.c tests/model/world.c tests/model/world.h \
	$(FAIL_ALLOC)

# tests/model/explore DEPTH goes deeper than make check does
check_PROGRAMS += tests/model/explore tests/model/walk
TESTS += tests/model/explore tests/model/walk
tests_model_explore_SOURCES = tests/model/explore.c $(CORE_WORLD)
tests_model_explore_LDADD = broker/core/libcore.la
tests_model_explore_LDFLAGS = $(FAIL_ALLOC_WRAP)

tests_model_walk_SOURCES = tests/model/walk.c $(CORE_WORLD)
tests_model_walk_LDADD = broker/core/libcore.la
tests_model_walk_LDFLAGS = $(FAIL_ALLOC_WRAP)

if HAVE_CHECK
CORE_TESTS = tests/unit/test_core_tables tests/unit/test_core_request tests/unit/test_core_turn \
	tests/unit/test_core_frontend tests/unit/test_core_restart \
	tests/unit/test_core_limits tests/unit/test_core_due tests/unit/test_core_judge \
	tests/unit/test_core_budget tests/unit/test_core_ceiling
check_PROGRAMS += $(CORE_TESTS)
TESTS += $(CORE_TESTS)

CORE_FIXTURE = tests/unit/core_fixture.c tests/unit/core_fixture.h $(CORE_WORLD)
CORE_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
CORE_LDADD = broker/core/libcore.la $(CHECK_LIBS)

tests_unit_test_core_tables_SOURCES = tests/unit/test_core_tables.c
tests_unit_test_core_tables_CFLAGS = $(CORE_CFLAGS) -DSOURCE_FOLDER='"$(abs_top_srcdir)"'
tests_unit_test_core_tables_LDADD = $(CORE_LDADD)

tests_unit_test_core_request_SOURCES = tests/unit/test_core_request.c $(CORE_FIXTURE)
tests_unit_test_core_request_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_request_LDADD = $(CORE_LDADD)
tests_unit_test_core_request_LDFLAGS = $(FAIL_ALLOC_WRAP)

tests_unit_test_core_due_SOURCES = tests/unit/test_core_due.c
tests_unit_test_core_due_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_due_LDADD = $(CORE_LDADD)

tests_unit_test_core_budget_SOURCES = tests/unit/test_core_budget.c
tests_unit_test_core_budget_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_budget_LDADD = $(CORE_LDADD)

tests_unit_test_core_ceiling_SOURCES = tests/unit/test_core_ceiling.c $(CORE_FIXTURE)
tests_unit_test_core_ceiling_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_ceiling_LDADD = $(CORE_LDADD)
tests_unit_test_core_ceiling_LDFLAGS = $(FAIL_ALLOC_WRAP)

tests_unit_test_core_judge_SOURCES = tests/unit/test_core_judge.c
tests_unit_test_core_judge_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_judge_LDADD = $(CORE_LDADD)

tests_unit_test_core_turn_SOURCES = tests/unit/test_core_turn.c $(CORE_FIXTURE)
tests_unit_test_core_turn_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_turn_LDADD = $(CORE_LDADD)
tests_unit_test_core_turn_LDFLAGS = $(FAIL_ALLOC_WRAP)

tests_unit_test_core_frontend_SOURCES = tests/unit/test_core_frontend.c $(CORE_FIXTURE)
tests_unit_test_core_frontend_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_frontend_LDADD = $(CORE_LDADD)
tests_unit_test_core_frontend_LDFLAGS = $(FAIL_ALLOC_WRAP)

tests_unit_test_core_restart_SOURCES = tests/unit/test_core_restart.c $(CORE_FIXTURE)
tests_unit_test_core_restart_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_restart_LDADD = $(CORE_LDADD)
tests_unit_test_core_restart_LDFLAGS = $(FAIL_ALLOC_WRAP)

tests_unit_test_core_limits_SOURCES = tests/unit/test_core_limits.c $(CORE_WORLD)
tests_unit_test_core_limits_CFLAGS = $(CORE_CFLAGS)
tests_unit_test_core_limits_LDADD = $(CORE_LDADD)
tests_unit_test_core_limits_LDFLAGS = $(FAIL_ALLOC_WRAP)
endif
