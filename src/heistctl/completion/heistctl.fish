# Completion of heistctl in fish.

set -l priorities 'background user-visible user-blocking'
set -l states 'delayed queued running done failed aborted dead'
set -l commands submit bulk watch show result list retry abort delete priority signal pause resume top health drain
set -l no_command "not __fish_seen_subcommand_from $commands"

complete -c heistctl -f
complete -c heistctl -l help -d 'Show the options'
complete -c heistctl -l server -x -d 'Where heistd is'
complete -c heistctl -l ca -r -F -d 'A file with the authorities to trust'
complete -c heistctl -l token-file -r -F -d 'A file that has the token'
complete -c heistctl -l retry-for -x -d 'How long to ask again'

complete -c heistctl -n $no_command -l version -d 'Print the version'
complete -c heistctl -n $no_command -a submit -d 'Send a job'
complete -c heistctl -n $no_command -a bulk -d 'Send many jobs at once'
complete -c heistctl -n $no_command -a watch -d 'Show a job until it ends'
complete -c heistctl -n $no_command -a show -d 'Show what a job is at'
complete -c heistctl -n $no_command -a result -d 'Print the result of a job'
complete -c heistctl -n $no_command -a list -d 'List jobs'
complete -c heistctl -n $no_command -a retry -d 'Queue dead jobs again'
complete -c heistctl -n $no_command -a abort -d 'Abort jobs that have not ended'
complete -c heistctl -n $no_command -a delete -d 'Forget jobs that have ended'
complete -c heistctl -n $no_command -a priority -d 'Change the priority of a job'
complete -c heistctl -n $no_command -a signal -d 'Change or abort the jobs of a signal'
complete -c heistctl -n $no_command -a pause -d 'Have no job of a kind or signal start'
complete -c heistctl -n $no_command -a resume -d 'Let jobs of a kind or signal start again'
complete -c heistctl -n $no_command -a top -d 'Show how many jobs wait and run'
complete -c heistctl -n $no_command -a health -d 'Say whether the server takes jobs'
complete -c heistctl -n $no_command -a drain -d 'Have the server finish its jobs and end'

complete -c heistctl -n '__fish_seen_subcommand_from submit bulk' -F
complete -c heistctl -n '__fish_seen_subcommand_from submit' -l priority -x -a $priorities -d 'Of its own'
complete -c heistctl -n '__fish_seen_subcommand_from submit' -l signal -x -d 'That it follows'
complete -c heistctl -n '__fish_seen_subcommand_from submit' -l delay -x -d 'Before it may start'
complete -c heistctl -n '__fish_seen_subcommand_from submit' -l ttl -x -d 'Within which it is to start'
complete -c heistctl -n '__fish_seen_subcommand_from submit' -l timeout -x -d 'Of each attempt'
complete -c heistctl -n '__fish_seen_subcommand_from submit' -l after -x -d 'The job after which it starts'
complete -c heistctl -n '__fish_seen_subcommand_from submit' -l param -x -d 'NAME=VALUE of the kind'
complete -c heistctl -n '__fish_seen_subcommand_from submit bulk' -l idempotency-key -x -d 'Of the same job'
complete -c heistctl -n '__fish_seen_subcommand_from submit' -l wait -d 'Wait for the result'
complete -c heistctl -n '__fish_seen_subcommand_from submit result' -s o -l output -r -F -d 'A file for the result'
complete -c heistctl -n '__fish_seen_subcommand_from watch' -l abort -d 'Have Ctrl-C abort the job'
complete -c heistctl -n '__fish_seen_subcommand_from show list' -l json -d 'As the server says it'
complete -c heistctl -n '__fish_seen_subcommand_from list' -l state -x -a $states -d 'Only those at this'
complete -c heistctl -n '__fish_seen_subcommand_from list retry delete' -l kind -x -d 'Only those of this kind'
complete -c heistctl -n '__fish_seen_subcommand_from list retry delete' -l signal -x -d 'Only those of this signal'
complete -c heistctl -n '__fish_seen_subcommand_from retry delete' -l all -d 'All jobs'
complete -c heistctl -n '__fish_seen_subcommand_from delete' -l state -x -a 'done failed aborted dead' -d 'Which'
complete -c heistctl -n '__fish_seen_subcommand_from priority' -a $priorities
complete -c heistctl -n '__fish_seen_subcommand_from signal' -a "priority abort $priorities"
complete -c heistctl -n '__fish_seen_subcommand_from pause resume' -a 'kind signal'
complete -c heistctl -n '__fish_seen_subcommand_from top' -l interval -x -d 'How often'
