# bash completion of gproxy, made of traces/base/settings.def by gen_completions.
_gt_gproxy() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local options valued words runs= at i=1 command=gproxy
  for ((; i < COMP_CWORD; ++i)); do [[ ${COMP_WORDS[i]} == -* ]] || break; done
  if ((i < COMP_CWORD)); then
    case ${COMP_WORDS[i]} in
      serve | status) command="gproxy ${COMP_WORDS[i]}" ;;
    esac
  fi
  case $command in
    "gproxy")
      options="-h --help --version"
      valued=""
      words="serve status"
      ;;
    "gproxy serve")
      options="--listen --devices --token-file --cert --key --ca --insecure --max-clients --memory --objects --build-seconds --in-flight --store --store-dir --no-sandbox --probe-seconds --drain --metrics -h --help"
      valued="--listen --devices --token-file --cert --key --ca --max-clients --memory --objects --build-seconds --in-flight --store --store-dir --probe-seconds --drain --metrics"
      words=""
      ;;
    "gproxy status")
      options="--json -h --help"
      valued=""
      words=""
      ;;
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
complete -o filenames -F _gt_gproxy gproxy
