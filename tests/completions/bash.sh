#!/bin/sh
# SPDX-License-Identifier: MIT
# The completions for bash, loaded there.
bash=$(command -v bash) || { echo "no bash: skipped"; exit 77; }
. "$(dirname "$0")/check.sh"

offers() {
	"$bash" --norc --noprofile -c '
		source "$1/bash/${2%% *}" || exit
		function=$(complete -p "${2%% *}" | sed "s/.*-F \([^ ]*\).*/\1/")
		read -ra COMP_WORDS <<<"$2"
		[[ $2 == *" " ]] && COMP_WORDS+=("")
		COMP_LINE=$2 COMP_POINT=${#2} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		"$function" "${COMP_WORDS[0]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$completions" "$1"
}
check
