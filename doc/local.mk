# SPDX-License-Identifier: MIT
EXTRA_DIST += doc/protocol.md doc/security.md doc/hacking.md doc/shell.md

# Add a page here; its source is the same name with .scd behind it.
man_pages = \
	doc/approval-floor.5 \
	doc/approval-harness.1 \
	doc/approval-harness-scenario.5 \
	doc/approval-hook.1 \
	doc/approval-policy.1 \
	doc/approval-policy.5 \
	doc/approval-rules.5 \
	doc/approval-run.1 \
	doc/approvalctl.1 \
	doc/approvald.8 \
	doc/approvald.conf.5 \
	doc/libapproval.3

EXTRA_DIST += $(man_pages:=.scd)
if BUILD_MAN
man_MANS += $(man_pages)
CLEANFILES += $(man_pages)
endif

SUFFIXES = .scd
.scd:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SCDOC) < $< > $@.tmp && mv -f $@.tmp $@
