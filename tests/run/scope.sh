#!/bin/sh
# SPDX-License-Identifier: MIT
# approval-run without a cgroup that it may change: it asks the user's systemd, for which a
# program on a private bus stands in.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
skip() {
	echo "skipped: $1"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "only root can give a cgroup away"
for p in dbus-daemon busctl setpriv setsid; do
	command -v "$p" >/dev/null || skip "there is no $p"
done
python=/usr/bin/python3
$python -c 'import dbus, gi' 2>/dev/null || skip "there is no python3-dbus or python3-gi"
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$mount" ] || skip "no cgroup hierarchy of version 2 is mounted"
uid=65534
group=$mount/approval-test-$$
mkdir "$group" 2>/dev/null || skip "no cgroup can be made in $mount"
work=$(mktemp -d)
pids=
cleanup() {
	# shellcheck disable=SC2086 # a list
	[ -z "$pids" ] || kill $pids 2>/dev/null || :
	for f in "$group"/*/cgroup.kill; do [ ! -e "$f" ] || echo 1 >"$f"; done
	n=0
	while [ -d "$group" ] && [ $n -lt 200 ]; do
		for d in "$group"/*/ "$group"; do rmdir "$d" 2>/dev/null || :; done
		n=$((n + 1))
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
as_user="setpriv --reuid=$uid --regid=$uid --clear-groups"
# not only from within it: the folders above may be closed to others
for p in approvald approval-run approvalctl; do
	$as_user ./$p --version >/dev/null 2>&1 || skip "uid $uid can't get at $PWD/$p"
done
chmod 755 "$work"
mkdir "$work/user"
chown $uid "$work/user"

cat >"$work/bus.conf" <<EOF
<busconfig>
  <listen>unix:path=$work/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
  </policy>
</busconfig>
EOF
mkfifo "$work/ready"
dbus-daemon --config-file="$work/bus.conf" --nofork --print-address=3 3>"$work/ready" &
pids="$pids $!"
read -r _ <"$work/ready"
export DBUS_SESSION_BUS_ADDRESS="unix:path=$work/bus"
$python "$srcdir/tests/run/systemd_stand_in.py" "$group" $uid >"$work/ready" &
pids="$pids $!"
read -r _ <"$work/ready"

export HOME="$work/user" XDG_RUNTIME_DIR="$work/user"
export APPROVAL_SOCKET="$work/user/run/agent/sock"
export APPROVAL_FRONTEND_SOCKET="$work/user/run/frontend/sock"
: >"$work/user/conf"
chown $uid "$work/user/conf"
(
	$as_user setsid ./approvald --runtime-dir "$work/user/run" --state-dir "$work/user/state" \
		--config "$work/user/conf" 2>"$work/ready" >&2 &
	echo $! >"$work/pid"
)
read -r _ <"$work/ready"
pids="$pids $(cat "$work/pid")"

# shellcheck disable=SC2016 # for the shell inside
$as_user ./approval-run --freeze -- sh -c 'cat /proc/self/cgroup; exit 5' >"$work/out" && status=0 ||
	status=$?
[ "$status" = 5 ] || { echo "exit status $status"; exit 1; }
grep -q "^0::.*/approval-test-$$/approval-run-[0-9a-f]*\.scope$" "$work/out" || {
	echo "not in its scope:"
	cat "$work/out"
	exit 1
}

$as_user ./approval-run --freeze -- sh -c 'echo; while :; do :; done' >"$work/ready" &
read -r _ <"$work/ready"
session=$($as_user ./approvalctl sessions --json | sed 's/.*"session":"\(ses_[^"]*\)".*/\1/')
frozen() {
	n=0
	until grep -qx "frozen $1" "$group"/approval-run-*/cgroup.events; do
		n=$((n + 1))
		[ $n -lt 1000 ] || { echo "frozen is not $1"; exit 1; }
	done
}
frozen 0
$as_user ./approvalctl suspend "$session"
frozen 1
$as_user ./approvalctl resume "$session"
frozen 0
$as_user ./approvalctl kill --grace 0ms "$session"
wait $! && exit 1
echo "a scope of a stand-in for systemd was frozen, thawed and killed"
