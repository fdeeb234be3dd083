# bash completion of gmicrobench, made of traces/base/settings.def by gen_completions.
_gt_gmicrobench() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local options valued words runs= at i=1 command=gmicrobench
  for ((; i < COMP_CWORD; ++i)); do [[ ${COMP_WORDS[i]} == -* ]] || break; done
  if ((i < COMP_CWORD)); then
    case ${COMP_WORDS[i]} in
      platform | device | calls | link | remote | apps) command="gmicrobench ${COMP_WORDS[i]}" ;;
    esac
  fi
  case $command in
    "gmicrobench")
      options="-h --help --version"
      valued=""
      words="platform device calls link remote apps"
      ;;
    "gmicrobench platform")
      options="--quick -o --output --json --max-bytes --html --device --missing --only --seconds -h --help"
      valued="-o --output --max-bytes --html --device --only --seconds"
      words=""
      ;;
    "gmicrobench device")
      options="--quick --json --html --device -h --help"
      valued="--html --device"
      words=""
      ;;
    "gmicrobench calls")
      options="--quick --json --device -h --help"
      valued="--device"
      words=""
      ;;
    "gmicrobench link")
      options="--serve --quick --json --platform --token-file --cert --key --ca -h --help"
      valued="--platform --token-file --cert --key --ca"
      words=""
      ;;
    "gmicrobench remote")
      options="--remote --echo --quick --json --html --device --token-file --cert --key --ca -h --help"
      valued="--remote --echo --html --device --token-file --cert --key --ca"
      words=""
      ;;
    "gmicrobench apps")
      options="--policy --size --repeat --iterations --only --device --remote --token-file --platform --programs --json --html --list -h --help"
      valued="--policy --size --repeat --iterations --only --device --remote --token-file --platform --programs --html"
      words=""
      ;;
  esac
  case "$command $prev" in
    "gmicrobench apps --size")
      COMPREPLY=($(compgen -W "default small large" -- "$cur"))
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
complete -o filenames -F _gt_gmicrobench gmicrobench
