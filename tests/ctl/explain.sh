#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests of approvalctl explain; the build says where things are.
src=${srcdir:-.}
CTL=$PWD/approvalctl CASES=$src/tests/cases/verdicts.jsonl:$src/tests/cases/floor.jsonl:$src/tests/cases/bypass.jsonl:$src/tests/cases/own.jsonl \
	PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$src/tests/ctl/test_explain.py"
