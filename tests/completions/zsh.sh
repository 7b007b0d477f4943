#!/bin/sh
# SPDX-License-Identifier: MIT
# The completions for zsh, loaded there. It completes only on a terminal: on one that
# nobody sees, with `compadd` in between, which tells what it is given.
zsh=$(command -v zsh) || { echo "no zsh: skipped"; exit 77; }
"$zsh" -f -c 'zmodload zsh/zpty' 2>/dev/null || { echo "no zsh/zpty: skipped"; exit 77; }
. "$(dirname "$0")/check.sh"
export completions work zsh

cat >"$work/setup" <<'END'
fpath=("$completions/zsh" $fpath)
autoload -Uz compinit
compinit -u -d "$work/dump"
zmodload zsh/complist 2>/dev/null
compadd() {
	# only asked about, not offered
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	local -a __found
	builtin compadd -A __found "$@"
	print -rl -- $__found >>"$work/words"
	builtin compadd "$@"
}
offer() {
	BUFFER=$(<"$work/line")
	CURSOR=$#BUFFER
	zle list-choices
	print -r -- done >"$work/done"
	exit
}
zle -N zle-line-init offer
END
cat >"$work/drive" <<'END'
zmodload zsh/zpty
zpty terminal "$zsh" -f -i
zpty -w terminal 'TERM=dumb; PROMPT=; source "$work/setup"'
read -r answer <"$work/done"
zpty -d terminal
END
mkfifo "$work/done"

offers() {
	: >"$work/words"
	printf '%s\n' "$1" >"$work/line"
	timeout 60 "$zsh" -f "$work/drive" >/dev/null 2>&1 || echo "zsh: failed at '$1'" >&2
	cat "$work/words"
}
check
