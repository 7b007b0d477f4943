# SPDX-License-Identifier: MIT
# fish completion of approval-hook

set -l commands claude install uninstall doctor
set -l none "not __fish_seen_subcommand_from $commands"

complete -c approval-hook -f
complete -c approval-hook -l help -d 'Show the options'
complete -c approval-hook -l version -d 'Show the version'
complete -c approval-hook -n "$none" -a claude -d 'Answer one hook event of Claude Code'
complete -c approval-hook -n "$none" -a install -d "Add the hooks to an agent's settings"
complete -c approval-hook -n "$none" -a uninstall -d 'Take them out again'
complete -c approval-hook -n "$none" -a doctor -d 'Check that the hooks fire and fail closed'

set -l event '__fish_seen_subcommand_from claude; and not __fish_seen_subcommand_from install uninstall doctor'
complete -c approval-hook -n "$event" -l hook-timeout -x -d 'Seconds that the agent waits'
complete -c approval-hook -n "$event" -l if-unreachable -x -a 'deny ask' -d 'Without a broker'
complete -c approval-hook -n "$event" -l wait -x -d 'Milliseconds for a broker'
complete -c approval-hook -n '__fish_seen_subcommand_from claude doctor' -l socket -r -F -d "The broker's agent socket"

set -l agent '__fish_seen_subcommand_from install uninstall doctor; and not __fish_seen_subcommand_from claude'
set -l settings '__fish_seen_subcommand_from install uninstall doctor'
complete -c approval-hook -n "$agent" -a claude
complete -c approval-hook -n "$settings" -l settings -r -F -d "The agent's settings"
complete -c approval-hook -n '__fish_seen_subcommand_from install' -l command -r -F -d 'The program to be run'
complete -c approval-hook -n '__fish_seen_subcommand_from install uninstall' -l dry-run -d 'Change nothing'
complete -c approval-hook -n '__fish_seen_subcommand_from doctor' -l json -d 'One JSON object'
