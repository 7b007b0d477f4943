#!/bin/sh
# SPDX-License-Identifier: MIT
# Every program and every command of it has a --help, of at most 80 columns.
status=0 n=0

look() {
	n=$((n + 1))
	text=$("$@" --help 2>&1 </dev/null) || {
		echo "$* --help: exit status $?: $text"
		status=1
	}
	printf '%s\n' "$text" | awk -v what="$*" '
		/ $/ { print what " --help: a blank at the end: " $0; bad = 1 }
		length > 80 { print what " --help: " length " columns: " $0; bad = 1 }
		END { exit bad }' || status=1
	case $text in
	Usage:*) ;;
	*)
		echo "$* --help: no usage"
		status=1
		;;
	esac
}

# The commands that the help of a program names.
commands() {
	"$@" --help </dev/null | sed -n '/^Commands:$/,/^$/s/^  \([a-z-]\{1,\}\).*/\1/p'
}

for program in approvald approvalctl approval-harness approval-hook approval-policy approval-run; do
	look "./$program"
	for command in $(commands "./$program"); do
		look "./$program" "$command"
	done
done
for command in list add remove reload lint test trust import; do
	look ./approvalctl rules "$command"
done
for command in list add remove; do
	look ./approvalctl floor "$command"
done
for command in install uninstall doctor; do
	look ./approval-hook "$command" claude
done
echo "$n pages of help"
[ "$n" -ge 45 ] || {
	echo "that is too few"
	status=1
}
exit $status
