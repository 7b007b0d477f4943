# SPDX-License-Identifier: MIT
# Sourced by the script of each shell, which has defined `offers LINE`: it prints what its
# shell offers at the end of LINE, one word on each line. Offered must be what the programs
# themselves say in their help: each command, and each option of each command.
# What the completions ask the programs is answered without a broker.
completions=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/contrib/completions
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
PATH=$PWD:$PATH
APPROVAL_SOCKET=$work/none
APPROVAL_FRONTEND_SOCKET=$work/none
export PATH APPROVAL_SOCKET APPROVAL_FRONTEND_SOCKET
wrong=0 right=0

commands() {
	# shellcheck disable=SC2086 # a program, or a program and a command
	$1 --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

options() {
	# shellcheck disable=SC2086
	$1 "$2" --help | sed -n '/^Options:/,$s/^ .*\(--[a-z][a-z-]*\).*/\1/p'
}

# LINE WORD...
offered() {
	line=$1
	shift
	offers "$line" >"$work/offered"
	for word; do
		if grep -qxF -- "$word" "$work/offered"; then
			right=$((right + 1))
		else
			echo "'$line' does not offer '$word'"
			wrong=$((wrong + 1))
		fi
	done
}

check() {
	for program in approvalctl approval-hook; do
		# shellcheck disable=SC2046 # a list of words
		offered "$program " $(commands $program)
		for command in $(commands $program); do
			# shellcheck disable=SC2046
			offered "$program $command --" $(options $program "$command")
		done
	done
	# shellcheck disable=SC2046
	offered 'approval-policy --' $(options approval-policy --help)
	# shellcheck disable=SC2046
	offered 'approval-run --' $(options approval-run --help)
	offered 'approvalctl mode ses_0 ' plan normal auto-edit yolo
	offered 'approvalctl history --verdict ' allow deny
	offered 'approvalctl rules ' list add remove lint
	offered 'approvalctl hist' history
	# shellcheck disable=SC2046
	offered 'approvalctl rules ' $(commands 'approvalctl rules')
	# shellcheck disable=SC2046
	offered 'approvalctl rules import --' $(options 'approvalctl rules' import)
	offered 'approvalctl rules import --from ' claude codex gemini opencode
	offered 'approval-hook install ' claude
	echo "$right words are offered, $wrong are not"
	[ "$wrong" = 0 ] && [ "$right" -gt 100 ]
}
