#!/bin/sh
# SPDX-License-Identifier: MIT
# The completions for fish, loaded there.
fish=$(command -v fish) || { echo "no fish: skipped"; exit 77; }
. "$(dirname "$0")/check.sh"
HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
export HOME XDG_CONFIG_HOME XDG_DATA_HOME

offers() {
	"$fish" --no-config -c 'source $argv[1]; complete -C $argv[2]' \
		"$completions/fish/${1%% *}.fish" "$1" | cut -f1
}
check
