# bash completion of ganalyze, made of traces/base/settings.def by gen_completions.
_gt_ganalyze() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local options valued words runs= at i=1 command=ganalyze
  for ((; i < COMP_CWORD; ++i)); do [[ ${COMP_WORDS[i]} == -* ]] || break; done
  if ((i < COMP_CWORD)); then
    case ${COMP_WORDS[i]} in
      diff) command="ganalyze ${COMP_WORDS[i]}" ;;
    esac
  fi
  case $command in
    "ganalyze")
      options="-o --profile --platform --min-ratio --link --verify --json --markdown --html --check --query --csv --width --color -h --help --version"
      valued="-o --profile --platform --min-ratio --link --html --check --query --width --color"
      words="diff"
      ;;
    "ganalyze diff")
      options="--platform --min-ratio --json --top --width --color -h --help"
      valued="--platform --min-ratio --top --width --color"
      words=""
      ;;
  esac
  case "$command $prev" in
    "ganalyze --color")
      COMPREPLY=($(compgen -W "auto always never" -- "$cur"))
      return ;;
    "ganalyze diff --color")
      COMPREPLY=($(compgen -W "auto always never" -- "$cur"))
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
complete -o filenames -F _gt_ganalyze ganalyze
