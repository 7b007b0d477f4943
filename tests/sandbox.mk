# SPDX-License-Identifier: MIT
# contrib/sandbox: an agent in bubblewrap
EXTRA_DIST += contrib/sandbox/approval-bubblewrap tests/sandbox/test_sandbox.py \
	tests/sandbox/sandbox.sh
TESTS += tests/sandbox/sandbox.sh
