# SPDX-License-Identifier: MIT
include tests/wire.mk
include tests/core.mk
include tests/store.mk
include tests/io.mk
include tests/lib.mk
include tests/ctl.mk
include tests/hook.mk
include tests/daemon.mk
include tests/crash.mk
include tests/bench.mk
include tests/classify.mk
include tests/harness.mk
include tests/review.mk
include tests/shell.mk
include tests/others.mk
include tests/valgrind.mk
