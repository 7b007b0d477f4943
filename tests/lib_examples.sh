#!/bin/sh
# SPDX-License-Identifier: MIT
# The examples do what they say, with the real broker: one frontend denies what an
# agent asks, and another agent's command runs once it is allowed.
set -u
work=$(mktemp -d) || exit 99
pids=
APPROVAL_SOCKET=$work/run/agent/sock
APPROVAL_FRONTEND_SOCKET=$work/run/frontend/sock
export APPROVAL_SOCKET APPROVAL_FRONTEND_SOCKET

end() {
	exec 3<&-
	for pid in $pids; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM
fail() { echo "$*" >&2; exit 1; }
# the next line of the watching frontend that begins so
await() {
	while read -r line <&3; do
		case $line in "$1"*) return 0 ;; esac
	done
	fail "the frontend never said: $1"
}

: >"$work/conf"
./approvald --runtime-dir "$work/run" --state-dir "$work/state" --config "$work/conf" 2>/dev/null &
pids=$!
mkfifo "$work/lines"
timeout 120 ./tests/examples/frontend_watch >"$work/lines" &
pids="$! $pids"
exec 3<"$work/lines"
await 'that is all'

timeout 120 ./tests/examples/agent_blocking sh -c "echo it ran >'$work/ran'; exit 7" &
agent=$!
await req_
./approvalctl allow "${line%% *}" >/dev/null || fail "approvalctl allow failed"
await req_
wait "$agent"
[ $? = 7 ] || fail "the command's exit status was lost"
[ "$(cat "$work/ran")" = 'it ran' ] || fail "the command did not run"

timeout 120 ./tests/examples/frontend_watch --deny >/dev/null &
pids="$! $pids"
timeout 120 ./tests/examples/agent_blocking touch "$work/denied" 2>"$work/message"
[ $? = 1 ] || fail "a denied command has exit status 1"
[ ! -e "$work/denied" ] || fail "a denied command ran"
grep -q 'this terminal denies everything' "$work/message" || fail "the reason was lost"
mkfifo "$work/idle"
exec 4<>"$work/idle"
timeout 120 ./tests/examples/agent_async_poll /etc/passwd /etc/group <&4 >"$work/message"
[ $? = 1 ] || fail "two denied calls"
grep -q '^0 of 2 allowed$' "$work/message" || fail "both should be denied"
exit 0
