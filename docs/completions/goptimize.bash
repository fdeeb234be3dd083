# bash completion of goptimize, made of traces/base/settings.def by gen_completions.
_gt_goptimize() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local options valued words runs= at i=1 command=goptimize
  for ((; i < COMP_CWORD; ++i)); do [[ ${COMP_WORDS[i]} == -* ]] || break; done
  if ((i < COMP_CWORD)); then
    case ${COMP_WORDS[i]} in
      run | devices) command="goptimize ${COMP_WORDS[i]}" ;;
    esac
  fi
  case $command in
    "goptimize")
      options="-h --help --version"
      valued=""
      words="run devices"
      ;;
    "goptimize run")
      options="--profile --platform --measure-seconds --report --stage --reuse --pages --remote --token-file --cert --key --ca --order --only --platform-name --spread --emulate-usm --dedup --compress --sync-errors --force-policy -h --help"
      valued="--profile --platform --measure-seconds --report --stage --reuse --pages --remote --token-file --cert --key --ca --order --only --platform-name --dedup --compress --force-policy"
      words=""
      runs=yes
      ;;
    "goptimize devices")
      options="--json --remote --token-file --cert --key --ca -h --help"
      valued="--remote --token-file --cert --key --ca"
      words=""
      ;;
  esac
  case "$command $prev" in
    "goptimize run --stage")
      COMPREPLY=($(compgen -W "auto never always" -- "$cur"))
      return ;;
    "goptimize run --reuse")
      COMPREPLY=($(compgen -W "auto never always" -- "$cur"))
      return ;;
    "goptimize run --pages")
      COMPREPLY=($(compgen -W "auto never" -- "$cur"))
      return ;;
    "goptimize run --order")
      COMPREPLY=($(compgen -W "local-first remote-first" -- "$cur"))
      return ;;
    "goptimize run --platform-name")
      COMPREPLY=($(compgen -W "auto native gtrace" -- "$cur"))
      return ;;
    "goptimize run --dedup")
      COMPREPLY=($(compgen -W "auto always never" -- "$cur"))
      return ;;
    "goptimize run --force-policy")
      COMPREPLY=($(compgen -W "none standard opencl locked hybrid pin" -- "$cur"))
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
complete -o filenames -F _gt_goptimize goptimize
