#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the test of contrib/sandbox, where bubblewrap may make namespaces.
src=$(cd "${srcdir:-.}" && pwd)
if ! bwrap --unshare-user --unshare-pid --ro-bind / / true; then
	echo "bubblewrap can't be used here: left out"
	exit 77
fi
BUILD=$PWD SANDBOX=$src/contrib/sandbox/approval-bubblewrap SRC=$src \
	PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$src/tests/sandbox/test_sandbox.py"
