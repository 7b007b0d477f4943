#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests of approval-hook, where there is a Python with msgpack.
set -u
here=$(cd "$(dirname "$0")" && pwd)
HOOK=${HOOK:-$PWD/approval-hook}
APPROVALD=${APPROVALD:-$PWD/approvald}
APPROVALCTL=${APPROVALCTL:-$PWD/approvalctl}
export HOOK APPROVALD APPROVALCTL PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1
for python in ${PYTHON3:-} python3 /usr/bin/python3; do
	if "$python" -c 'import msgpack, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
		exec "$python" "$here/$(basename "${1:-test_hook.py}")"
	fi
done
echo "no Python 3.9 with msgpack: left out"
exit 77
