#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the Python client's tests, where there is a Python with msgpack.
set -u
here=$(cd "$(dirname "$0")" && pwd)
APPROVALD=${APPROVALD:-$PWD/approvald}
export APPROVALD PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1
for python in ${PYTHON3:-} python3 /usr/bin/python3; do
	if "$python" -c 'import msgpack, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
		exec "$python" "$here/test_approval_client.py" "$@"
	fi
done
echo "no Python 3.9 with msgpack: left out"
exit 77
