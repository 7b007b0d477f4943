# SPDX-License-Identifier: MIT
# make check-valgrind: the unit tests, and the broker below the daemon tests. Left out, each
# with its reason in doc/hacking.md:
valgrind_left_out = tests/daemon/test_conformance tests/daemon/test_crash \
	tests/daemon/test_load tests/daemon/test_paths tests/daemon/test_reload \
	tests/daemon/test_rows
valgrind_units = $(filter-out $(valgrind_left_out),$(filter tests/unit/%,$(check_PROGRAMS)))
valgrind_daemon = $(filter-out $(valgrind_left_out),$(filter tests/daemon/%,$(check_PROGRAMS)))
EXTRA_DIST += tests/valgrind-approvald

check-valgrind:
	@test -n "$(VALGRIND)" || { echo "valgrind is not installed" >&2; exit 1; }
	$(MAKE) check TESTS="$(valgrind_units)" \
		LOG_COMPILER="$(LIBTOOL) --mode=execute $(VALGRIND)" \
		AM_LOG_FLAGS="-q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
	VALGRIND="$(VALGRIND)" APPROVALD="$(abs_top_srcdir)/tests/valgrind-approvald" \
		$(MAKE) check TESTS="$(valgrind_daemon)"
.PHONY: check-valgrind
