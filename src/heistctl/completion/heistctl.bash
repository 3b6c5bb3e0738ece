# Completion of heistctl in bash.

# The command among the words before the cursor, if there is one.
_heistctl_command() {
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --server | --ca | --token-file | --retry-for) ((i++)) ;;
      -*) ;;
      *) echo "${COMP_WORDS[i]}" && return ;;
    esac
  done
}

_heistctl() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command choices=
  local commands="submit bulk watch show result list retry abort delete priority signal pause resume top health drain"
  local priorities="background user-visible user-blocking"
  local states="delayed queued running done failed aborted dead"
  command=$(_heistctl_command)
  case $before in
    --priority) choices=$priorities ;;
    --state) choices=$states ;;
    --ca | --token-file | --output | -o) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    --server | --retry-for | --signal | --delay | --ttl | --timeout | --after | --param | --idempotency-key | --kind | --interval) return ;;
  esac
  if [[ -z $choices ]]; then
    case $command in
      "") choices="$commands --version" ;;
      submit) choices="--priority --signal --delay --ttl --timeout --after --param --idempotency-key --wait --output" ;;
      bulk) choices="--idempotency-key" ;;
      watch) choices="--abort" ;;
      show) choices="--json" ;;
      result) choices="--output" ;;
      list) choices="--state --kind --signal --json" ;;
      retry) choices="--all --kind --signal" ;;
      delete) choices="--all --state --kind --signal" ;;
      priority) choices=$priorities ;;
      signal) choices="priority abort $priorities" ;;
      pause | resume) choices="kind signal" ;;
      top) choices="--interval" ;;
    esac
    choices+=" --help --server --ca --token-file --retry-for"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
  if [[ $command =~ ^(submit|bulk)$ && $word != -* ]]; then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
  fi
}

complete -o filenames -F _heistctl heistctl
