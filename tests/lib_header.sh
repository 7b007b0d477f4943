#!/bin/sh
# SPDX-License-Identifier: MIT
# approval.h stands alone: strict C of any year, and C++.
set -u
srcdir=${srcdir:-.}
header=$srcdir/libapproval/approval.h
failed=0

for standard in c99 c11 c17; do
	${CC:-cc} -std=$standard -pedantic -Wall -Wextra -Wstrict-prototypes -Werror \
		-x c -fsyntax-only -include "$header" /dev/null || failed=1
done
if command -v "${CXX:-c++}" >/dev/null 2>&1; then
	for standard in c++11 c++17; do
		"${CXX:-c++}" -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only \
			-idirafter "$srcdir/libapproval" "$srcdir/tests/examples/consumer.cc" || failed=1
	done
else
	echo "no C++ compiler: that part is left out"
fi
exit $failed
