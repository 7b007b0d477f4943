# SPDX-License-Identifier: MIT
# make check-valgrind: the unit tests and fuzzers under valgrind, then the broker and
# approvalctl under it below the daemon tests, and a count of both. Left out, or in part
# (APPROVALD_TEST_VALGRIND), each with its reason in doc/hacking.md:
valgrind_left_out = tests/daemon/test_cases tests/daemon/test_crash tests/daemon/test_descriptors \
	tests/daemon/test_edit tests/daemon/test_explain tests/daemon/test_floor \
	tests/daemon/test_load \
	tests/daemon/test_paths tests/daemon/test_rows
valgrind_flags = -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite
EXTRA_DIST += tests/valgrind-approvald tests/valgrind-approvalctl \
	tests/valgrind-approval-policy

check-valgrind:
	@test -n "$(VALGRIND)" || { echo "valgrind is not installed" >&2; exit 1; }
	@status=0; CK_TIMEOUT_MULTIPLIER=10; export CK_TIMEOUT_MULTIPLIER; \
	units=; daemon=; \
	for t in $(TESTS); do \
		case " $(valgrind_left_out) " in *" $$t "*) continue ;; esac; \
		case $$t in \
		tests/unit/* | tests/fuzz/*) units="$$units $$t" ;; \
		tests/daemon/* | tests/ctl/* | tests/policy/*) daemon="$$daemon $$t" ;; \
		esac; \
	done; \
	$(MAKE) check TESTS="$$units" AM_LOG_FLAGS="$(valgrind_flags)" \
		LOG_COMPILER="$(LIBTOOL) --mode=execute $(VALGRIND)" || status=1; \
	VALGRIND_COMMAND="$(VALGRIND) $(valgrind_flags)" APPROVALD_TEST_VALGRIND=1 \
		APPROVALD_TEST_BUILD="$(abs_top_builddir)" \
		APPROVALD="$(abs_top_srcdir)/tests/valgrind-approvald" \
		APPROVALCTL="$(abs_top_srcdir)/tests/valgrind-approvalctl" \
		APPROVAL_POLICY="$(abs_top_srcdir)/tests/valgrind-approval-policy" \
		$(MAKE) check TESTS="$$daemon" || status=1; \
	echo "left out: $(valgrind_left_out)"; \
	printf 'the programs under valgrind: '; \
	$(srcdir)/contrib/count-tests . $$units || status=1; \
	printf 'the broker and approvalctl under valgrind: '; \
	$(srcdir)/contrib/count-tests . $$daemon || status=1; \
	exit $$status
.PHONY: check-valgrind
