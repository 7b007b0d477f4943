#!/bin/sh
# SPDX-License-Identifier: MIT
# libapproval(3) names each function of approval.h and none that is not there, and its
# examples compile and link as their readers would do it.
set -u
srcdir=${srcdir:-.}
page=$srcdir/doc/libapproval.3.scd
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0

# names, but not types, which are written as _struct approval_…_
grep -oE '\bapproval_[a-z_]+\(' "$srcdir/libapproval/approval.h" | tr -d '(' | sort -u >"$work/header"
sed '/^```/,/^```/d' "$page" | grep -oE '\*approval_[a-z_]+\*' | tr -d '*' | sort -u >"$work/page"
[ -s "$work/header" ] || failed=1
if ! diff "$work/header" "$work/page"; then
	echo "approval.h and libapproval(3) differ" >&2
	failed=1
fi

# each block that includes the header is a program; scdoc reads \\ as one
awk -v out="$work/example" '
	/^```/ { if (inside) close(file); inside = !inside; file = out (++n) ".c"; next }
	inside { print >file }' "$page"
programs=0
for example in "$work"/example*.c; do
	grep -q '^#include <approval.h>' "$example" || continue
	programs=$((programs + 1))
	sed -i 's/\\\\/\\/g' "$example"
	${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror \
		-idirafter "$srcdir/libapproval" "$example" -o "$work/program" \
		-L.libs -lapproval -Wl,-rpath-link,.libs -Wl,--allow-shlib-undefined || failed=1
done
echo "$(wc -l <"$work/header") functions, $programs programs"
[ "$programs" -ge 2 ] || failed=1
exit $failed
