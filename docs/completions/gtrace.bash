# bash completion of gtrace, made of traces/base/settings.def by gen_completions.
_gt_gtrace() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local options valued words runs= at i=1 command=gtrace
  for ((; i < COMP_CWORD; ++i)); do [[ ${COMP_WORDS[i]} == -* ]] || break; done
  if ((i < COMP_CWORD)); then
    case ${COMP_WORDS[i]} in
      run | ctl | top | doctor | recover | show | expand | stats | view | diff | export | replay | extract | digest) command="gtrace ${COMP_WORDS[i]}" ;;
    esac
  fi
  case $command in
    "gtrace")
      options="-h --help --version"
      valued=""
      words="run ctl top doctor recover show expand stats view diff export replay extract digest"
      ;;
    "gtrace run")
      options="-o --output --timing --capture --capture-kernel --capture-range --capture-results --no-alloc --no-memory-detail --detail-from --timeline --max-size --stacks --strict --wait --paused --on-signal -h --help"
      valued="-o --output --timing --capture --capture-kernel --capture-range --detail-from --max-size --stacks --on-signal"
      words=""
      runs=yes
      ;;
    "gtrace ctl")
      options="--pid -h --help"
      valued="--pid"
      words="start stop end snapshot status"
      ;;
    "gtrace top")
      options="--pid --interval --rows --json -h --help"
      valued="--pid --interval --rows"
      words=""
      ;;
    "gtrace doctor")
      options="--json -h --help"
      valued=""
      words=""
      runs=yes
      ;;
    "gtrace recover")
      options="-o --output --timeline -h --help"
      valued="-o --output"
      words=""
      ;;
    "gtrace show")
      options="--all --no-memory --thread --tree --calls --site --object --time-min --width --color -h --help"
      valued="--thread --calls --site --object --time-min --width --color"
      words=""
      ;;
    "gtrace expand")
      options="--thread --calls --object --no-memory --json -h --help"
      valued="--thread --calls --object"
      words=""
      ;;
    "gtrace stats")
      options="--json --csv --by --name-width --top -h --help"
      valued="--by --name-width --top"
      words=""
      ;;
    "gtrace view")
      options="--html --serve --port -h --help"
      valued="--html --port"
      words=""
      ;;
    "gtrace diff")
      options="--times --fail-above --json --top -h --help"
      valued="--times --fail-above --top"
      words=""
      ;;
    "gtrace export")
      options="--format -o --output --calls --object --from --to --thread --no-memory --limit -h --help"
      valued="--format -o --output --calls --object --from --to --thread --limit"
      words=""
      ;;
    "gtrace replay")
      options="--device --calls --kernel --repeat --compare --against --reduce -o --output --tries --seconds --timing --free-threads --no-sandbox --overlap --policy --remote --json -h --help"
      valued="--device --calls --kernel --repeat --compare --against -o --output --tries --seconds --policy --remote"
      words=""
      ;;
    "gtrace extract")
      options="--kernel -o --output --device --no-sandbox -h --help"
      valued="--kernel -o --output --device"
      words=""
      ;;
    "gtrace digest")
      options="-h --help"
      valued=""
      words=""
      ;;
  esac
  case "$command $prev" in
    "gtrace run --capture")
      COMPREPLY=($(compgen -W "none hash full" -- "$cur"))
      return ;;
    "gtrace run --on-signal")
      COMPREPLY=($(compgen -W "forward control" -- "$cur"))
      return ;;
    "gtrace show --color")
      COMPREPLY=($(compgen -W "auto always never" -- "$cur"))
      return ;;
    "gtrace diff --times")
      COMPREPLY=($(compgen -W "on off" -- "$cur"))
      return ;;
    "gtrace export --format")
      COMPREPLY=($(compgen -W "perfetto chrome csv json" -- "$cur"))
      return ;;
    "gtrace replay --policy")
      COMPREPLY=($(compgen -W "none standard staged opencl locked hybrid pin" -- "$cur"))
      return ;;
  esac
  if [[ $runs ]]; then  # from the first word that is neither an option nor its value on, it is another program's line
    for ((at = i + 1; at < COMP_CWORD; ++at)); do
      case ${COMP_WORDS[at]} in
        --) ((++at)); break ;;
        -*) [[ " $valued " != *" ${COMP_WORDS[at]} "* ]] || ((++at)) ;;
        *) break ;;
      esac
    done
    if ((at < COMP_CWORD)) || { ((at == COMP_CWORD)) && [[ $cur != -* ]]; }; then
      if declare -F _command_offset >/dev/null; then
        _command_offset "$at"
      elif ((at == COMP_CWORD)); then
        COMPREPLY=($(compgen -c -f -- "$cur"))
      else
        COMPREPLY=($(compgen -f -- "$cur"))
      fi
      return
    fi
  fi
  if [[ " $valued " == *" $prev "* ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _gt_gtrace gtrace
