# SPDX-License-Identifier: MIT
# fish completion of approval-policy

complete -c approval-policy -l help -d 'Show the options'
complete -c approval-policy -l version -d 'Show the version'
complete -c approval-policy -l headless -d 'Deny at once what nobody answers'
complete -c approval-policy -l dry-run -d 'Answer nothing, tell what would be answered'
complete -c approval-policy -l stdin -d 'Of JSON lines, without a broker'
complete -c approval-policy -l check -d 'Only read the policy'
complete -c approval-policy -l name -x -d "The policy's name for the broker"
complete -c approval-policy -l retry -x -d 'How long to look for a broker'
complete -c approval-policy -l socket -r -F -d "The broker's socket"
complete -c approval-policy -s q -l quiet -d 'No line for each answer'
complete -c approval-policy -s j -l json -d 'One JSON object on each line'
