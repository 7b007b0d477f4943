# SPDX-License-Identifier: MIT
# fish completion of approvalctl

set -l commands ask check list show allow deny watch sessions turns mode budget suspend resume \
	end-turn kill history explain rules floor stats doctor
set -l none "not __fish_seen_subcommand_from $commands"

function __approvalctl_requests
	approvalctl list 2>/dev/null | string replace -r '^(\S+)\t.*\t([^\t]*)\t[^\t]*$' '$1\t$2'
end

function __approvalctl_sessions
	approvalctl sessions 2>/dev/null | string replace -r '^(\S+)\t[^\t]*\t([^\t]*)\t.*$' '$1\t$2'
end

complete -c approvalctl -f
complete -c approvalctl -l help -d 'Show the options'
complete -c approvalctl -l version -d 'Show the version'
complete -c approvalctl -l socket -r -F -d "The broker's socket"

complete -c approvalctl -n "$none" -a ask -d 'Run a command once it is allowed'
complete -c approvalctl -n "$none" -a check -d 'Tell what would be said without a person'
complete -c approvalctl -n "$none" -a list -d 'Show what waits for an answer'
complete -c approvalctl -n "$none" -a show -d 'Show everything about one of them'
complete -c approvalctl -n "$none" -a allow -d 'Allow requests, once'
complete -c approvalctl -n "$none" -a deny -d 'Deny requests'
complete -c approvalctl -n "$none" -a watch -d 'Show events as they come'
complete -c approvalctl -n "$none" -a sessions -d 'Show the sessions of agents'
complete -c approvalctl -n "$none" -a turns -d 'Show the turns of sessions'
complete -c approvalctl -n "$none" -a mode -d 'Set the highest mode of a session'
complete -c approvalctl -n "$none" -a budget -d 'Show ceilings, and what is used of them'
complete -c approvalctl -n "$none" -a suspend -d 'Suspend the present turn'
complete -c approvalctl -n "$none" -a resume -d 'Resume suspended turns'
complete -c approvalctl -n "$none" -a end-turn -d 'End the present turn'
complete -c approvalctl -n "$none" -a kill -d 'End the processes of a session'
complete -c approvalctl -n "$none" -a history -d 'Show what was decided'
complete -c approvalctl -n "$none" -a explain -d "Tell what rules, floor and mode say of calls"
complete -c approvalctl -n "$none" -a floor -d 'Show what always asks a person, and add to it'
complete -c approvalctl -n '__fish_seen_subcommand_from floor; and not __fish_seen_subcommand_from list add remove' -a 'list add remove'
complete -c approvalctl -n "$none" -a rules -d 'Show and change the rules in force'
complete -c approvalctl -n "$none" -a stats -d "Show the broker's counters"
complete -c approvalctl -n "$none" -a doctor -d 'Find out whether all is well'

complete -c approvalctl -n '__fish_seen_subcommand_from ask check' -a '(__fish_complete_subcommand)'
complete -c approvalctl -n '__fish_seen_subcommand_from ask check' -l tool -x -d 'The tool'
complete -c approvalctl -n '__fish_seen_subcommand_from ask' -l summary -x -d 'What it does'
complete -c approvalctl -n '__fish_seen_subcommand_from ask' -l title -x -d 'Title of the session'
complete -c approvalctl -n '__fish_seen_subcommand_from ask' -l timeout -x -d 'How long to wait'
complete -c approvalctl -n '__fish_seen_subcommand_from ask' -l retry -x -d 'How long for a broker'
complete -c approvalctl -n '__fish_seen_subcommand_from ask' -s q -l quiet -d 'Do not say that it waits'
complete -c approvalctl -n '__fish_seen_subcommand_from check' -l input -x -d 'Its input as JSON'
complete -c approvalctl -n "__fish_seen_subcommand_from $commands; and not __fish_seen_subcommand_from ask" \
	-s j -l json -d 'One JSON object on each line'

complete -c approvalctl -n '__fish_seen_subcommand_from explain' -a '(__fish_complete_subcommand)'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l mode -x -a 'plan normal auto-edit yolo' \
	-d 'As if this were the mode'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l tool -x -d 'The tool'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l input -x -d 'Its input as JSON'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l kind -x \
	-a 'read edit delete move search execute fetch think other' -d 'What the agent says that it is'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l cwd -x -a '(__fish_complete_directories)' -d 'Where it would run'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l workspace -x -a '(__fish_complete_directories)' -d 'Its workspace'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l uid -x -d 'Whose call'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l request -x -a '(__approvalctl_requests)' -d 'A request that waits'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l offline -d 'Without a broker'
complete -c approvalctl -n '__fish_seen_subcommand_from explain' -l stdin -d 'Read JSON lines'

complete -c approvalctl -n '__fish_seen_subcommand_from rules; and not __fish_seen_subcommand_from add remove reload lint' -a 'list add remove reload lint'
complete -c approvalctl -n '__fish_seen_subcommand_from rules' -l scope -x -a 'user project session turn' -d 'For whom'
complete -c approvalctl -n '__fish_seen_subcommand_from rules' -l project -x -a '(__fish_complete_directories)' -d 'For this project'
complete -c approvalctl -n '__fish_seen_subcommand_from rules' -l expires -x -d 'How long'
complete -c approvalctl -n '__fish_seen_subcommand_from show allow deny' -a '(__approvalctl_requests)'
complete -c approvalctl -n '__fish_seen_subcommand_from mode budget suspend resume end-turn kill' -a '(__approvalctl_sessions)'
complete -c approvalctl -n '__fish_seen_subcommand_from mode' -a 'plan normal auto-edit yolo'
complete -c approvalctl -n '__fish_seen_subcommand_from ask allow deny suspend end-turn kill' -l reason -x -d 'Why'
complete -c approvalctl -n '__fish_seen_subcommand_from resume' -l tokens -x -d 'So many tokens more'
complete -c approvalctl -n '__fish_seen_subcommand_from resume' -l time -x -d 'So much longer active'
complete -c approvalctl -n '__fish_seen_subcommand_from resume' -l wall -x -d 'So much longer by the clock'
complete -c approvalctl -n '__fish_seen_subcommand_from resume' -l calls -x -d 'So many tool calls more'
complete -c approvalctl -n '__fish_seen_subcommand_from resume' -l cost -x -d 'So many dollars more'
complete -c approvalctl -n '__fish_seen_subcommand_from doctor' -l thaw -d 'Let go what no broker holds'
complete -c approvalctl -n '__fish_seen_subcommand_from kill' -l grace -x -d 'From SIGTERM to SIGKILL'
complete -c approvalctl -n '__fish_seen_subcommand_from list allow deny suspend resume' -l all -d 'All of them'
complete -c approvalctl -n '__fish_seen_subcommand_from allow deny' -l always -x -a 'user project session turn' -d 'For all such calls'
complete -c approvalctl -n '__fish_seen_subcommand_from allow deny' -l rule -x -d 'For all that a rule is for'
complete -c approvalctl -n '__fish_seen_subcommand_from allow deny' -l yes -d 'Do not ask for the number'
complete -c approvalctl -n '__fish_seen_subcommand_from list allow deny turns history rules explain' -l session -x \
	-a '(__approvalctl_sessions)' -d 'Of one session'
complete -c approvalctl -n '__fish_seen_subcommand_from sessions' -l ended -d 'Also those that have ended'

complete -c approvalctl -n '__fish_seen_subcommand_from history' -s n -l limit -x -d 'At most so many'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l oldest -d 'The oldest first'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l agent -x -d 'Only of this agent'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l tool -x -d 'Only this tool'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l rule -x -d 'Only of this rule'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l verdict -x -a 'allow deny'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l source -x \
	-a 'user policy rule mode floor repeat budget timeout abort elsewhere broker'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l event -x \
	-a 'session_opened session_ended turn_begun turn_ended turn_suspended turn_resumed mode_set decision ended outcome ran_anyway lost_denials anchor rule_added rule_removed rule_expired project_trusted project_untrusted killed'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l since -x -d 'Not before'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l until -x -d 'Not after'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l verify -d 'Prove that none was changed'
complete -c approvalctl -n '__fish_seen_subcommand_from history' -l replay -r -F -d 'What these rules would have said'

set -l test '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from test'
complete -c approvalctl -n '__fish_seen_subcommand_from rules; and not __fish_seen_subcommand_from test' \
	-a test -d 'Tell what each rule says of a call'
complete -c approvalctl -n "$test" -l rules -r -F -d 'The rules of a file, without a broker'
complete -c approvalctl -n "$test" -l tool -x -d 'The tool'
complete -c approvalctl -n "$test" -l path -r -F -d 'The file that it is for'
complete -c approvalctl -n "$test" -l url -x -d 'What it fetches'
complete -c approvalctl -n "$test" -l input -x -d 'Its whole input'
complete -c approvalctl -n "$test" -l cwd -x -a '(__fish_complete_directories)' -d 'Where it would run'
complete -c approvalctl -n "$test" -l workspace -x -a '(__fish_complete_directories)' -d 'The workspace'
set -l trust '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from trust'
complete -c approvalctl -n '__fish_seen_subcommand_from rules; and not __fish_seen_subcommand_from trust' \
	-a trust -d 'Let the rules that a project brings along allow, too'
complete -c approvalctl -n "$trust" -x -a '(__fish_complete_directories)'
complete -c approvalctl -n "$trust" -l hash -x -d 'Do not ask, if the file has this hash'
complete -c approvalctl -n "$trust" -l yes -d 'Do not ask'
complete -c approvalctl -n "$trust" -l remove -d 'Do not trust the project any more'
complete -c approvalctl -n "$trust" -l list -d 'The projects that are trusted, and those in use'
complete -c approvalctl -n "$trust" -l uid -x -d "For another user's agents"
set -l import '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from import'
complete -c approvalctl -n '__fish_seen_subcommand_from rules; and not __fish_seen_subcommand_from import' \
	-a import -d "Make rules of another agent's settings"
complete -c approvalctl -n "$import" -F
complete -c approvalctl -n "$import" -l from -x -a 'claude codex gemini opencode' -d 'Whose'
complete -c approvalctl -n "$import" -l output -r -F -d 'Write a file of rules'
complete -c approvalctl -n "$import" -l force -d 'Also in the place of one that is there'
complete -c approvalctl -n "$import" -l drop-rest -d 'Leave what a list of exceptions denies to the mode'
