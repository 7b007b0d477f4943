#!/bin/sh
# SPDX-License-Identifier: MIT
# The library exports exactly what its header declares, in one version.
set -u
srcdir=${srcdir:-.}
library=.libs/libapproval.so
[ -e "$library" ] || exit 77
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

# declared functions: a name before "(", not a type that ends in _fn)
grep -oE '\bapproval_[a-z_]+\(' "$srcdir/libapproval/approval.h" | tr -d '(' | sort -u >"$tmp/header"
sed -n 's/^	\(approval_[a-z_]*\);$/\1/p' "$srcdir/libapproval/libapproval.map" | sort -u >"$tmp/map"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' >"$tmp/exported" || exit 99

failed=0
if ! diff "$tmp/header" "$tmp/map"; then
	echo "approval.h and libapproval.map differ" >&2
	failed=1
fi
if grep -v '@@APPROVAL_0$' "$tmp/exported"; then
	echo "these are exported without the version" >&2
	failed=1
fi
sed 's/@.*//' "$tmp/exported" | sort -u >"$tmp/names"
if ! diff "$tmp/header" "$tmp/names"; then
	echo "approval.h and the exported symbols differ" >&2
	failed=1
fi
[ -s "$tmp/header" ] || failed=1
exit $failed
