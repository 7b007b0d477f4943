# SPDX-License-Identifier: MIT
# fish completion of approval-run

complete -c approval-run -l help -d 'Show the options'
complete -c approval-run -l version -d 'Show the version'
complete -c approval-run -l name -x -d 'How people are told of it'
complete -c approval-run -l budget-tokens -x -d 'Tokens of a turn'
complete -c approval-run -l budget-time -x -d 'Active time of a turn'
complete -c approval-run -l budget-wall -x -d 'Time of a turn'
complete -c approval-run -l budget-calls -x -d 'Tool calls of a turn'
complete -c approval-run -l budget-cost -x -d 'Cost of a turn'
complete -c approval-run -l mode -x -a 'plan normal auto-edit yolo' -d 'The mode that is claimed'
complete -c approval-run -l freeze -d 'Freeze it while it is suspended'
complete -c approval-run -l stop -d 'Stop it by signals while it is suspended'
complete -c approval-run -l protocol -d 'Only release nothing'
complete -c approval-run -l socket -r -F -d "The broker's socket"
complete -c approval-run -x -a '(__fish_complete_subcommand)'
