// Writes the completions of bash, zsh and fish from the table of settings: gen_completions DIRECTORY. One file a
// program and shell: gtrace.bash, _gtrace (zsh), gtrace.fish.
//
// What an option is stands in traces/base/settings.def; commands without options, and words that commands take, stand
// here.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "traces/base/settings.h"

namespace {

using Words = std::vector<std::string>;

constexpr const char* Programs[] = {"gtrace", "ganalyze", "goptimize", "gmicrobench", "gproxy"};
constexpr std::pair<const char*, const char*> WithoutOptions[] = {{"gtrace", "digest"}};
constexpr std::pair<const char*, const char*> Taken[] = {{"gtrace ctl", "start stop end snapshot status"}};
// What follows the options is somebody's command line.
constexpr const char* Runs[] = {"gtrace run", "gtrace doctor", "goptimize run"};

bool runs_programs(const std::string& command) { return std::ranges::find(Runs, command) != std::end(Runs); }

std::string taken_words(const std::string& command) {
  for (const auto& [name, words] : Taken)
    if (command == name) return words;
  return {};
}

// "run", "show", ... of "gtrace", in the order of the table.
Words sub_commands(const std::string& program) {
  Words out;
  for (const gt::Setting& s : gt::Settings) {
    const std::string command(s.command);
    if (!command.starts_with(program + " ")) continue;
    const std::string word = command.substr(program.size() + 1);
    if (std::ranges::find(out, word) == out.end()) out.push_back(word);
  }
  for (const auto& [name, word] : WithoutOptions)
    if (program == name) out.push_back(word);
  return out;
}

std::vector<const gt::Setting*> settings_of(const std::string& command) {
  std::vector<const gt::Setting*> out;
  for (const gt::Setting& s : gt::Settings)
    if (s.command == command) out.push_back(&s);
  return out;
}

Words split(std::string_view text, char at) {
  Words out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    out.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string joined(const Words& words, const char* between = " ") {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : between) + w;
  return out;
}

Words flags_of(const gt::Setting& s) { return split(s.flags, ','); }
bool takes_value(const gt::Setting& s) { return s.type != gt::SettingType::Flag; }
bool is_choice(const gt::Setting& s) { return s.type == gt::SettingType::Choice; }
bool is_number(const gt::Setting& s) {
  return s.type == gt::SettingType::Int || s.type == gt::SettingType::Size || s.type == gt::SettingType::Real;
}

// Each of `characters` gets a backslash.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != characters.npos) out += '\\';
    out += c;
  }
  return out;
}

// Inside '...' of bash and zsh.
std::string in_quotes(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

Words commands_of(const std::string& program) {
  Words out = {program};
  for (const std::string& word : sub_commands(program)) out.push_back(program + " " + word);
  return out;
}

// --- bash ------------------------------------------------------------------------------------------------------------

constexpr const char* BashHead = R"(  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local options valued words runs= at i=1 command=@
  for ((; i < COMP_CWORD; ++i)); do [[ ${COMP_WORDS[i]} == -* ]] || break; done
  if ((i < COMP_CWORD)); then
    case ${COMP_WORDS[i]} in
      $) command="@ ${COMP_WORDS[i]}" ;;
    esac
  fi
)";

constexpr const char* BashTail =
    R"(  if [[ $runs ]]; then  # from the first word that is neither an option nor its value on, it is another program's line
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
)";

std::string replaced(std::string text, char what, const std::string& with) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size())) text.replace(at, 1, with);
  return text;
}

std::string bash_case(const std::string& program, const std::string& command) {
  Words options, valued;
  for (const gt::Setting* s : settings_of(command)) {
    for (const std::string& flag : flags_of(*s)) {
      options.push_back(flag);
      if (takes_value(*s)) valued.push_back(flag);
    }
  }
  options.insert(options.end(), {"-h", "--help"});
  if (command == program) options.push_back("--version");
  const std::string words = command == program ? joined(sub_commands(program)) : taken_words(command);
  std::string out = "    \"" + command + "\")\n      options=\"" + joined(options) + "\"\n      valued=\"" +
                    joined(valued) + "\"\n      words=\"" + words + "\"\n";
  if (runs_programs(command)) out += "      runs=yes\n";
  return out + "      ;;\n";
}

std::string bash_choices(const std::string& program) {
  std::string out;
  for (const std::string& command : commands_of(program)) {
    for (const gt::Setting* s : settings_of(command)) {
      if (!is_choice(*s)) continue;
      Words patterns;
      for (const std::string& flag : flags_of(*s)) patterns.push_back("\"" + command + " " + flag + "\"");
      out += "    " + joined(patterns, " | ") + ")\n      COMPREPLY=($(compgen -W \"" +
             joined(split(s->fallback, '|')) + "\" -- \"$cur\"))\n      return ;;\n";
    }
  }
  return out.empty() ? out : "  case \"$command $prev\" in\n" + out + "  esac\n";
}

std::string bash_file(const std::string& program) {
  std::string out = "# bash completion of " + program + ", made of traces/base/settings.def by gen_completions.\n_gt_" +
                    program + "() {\n" + replaced(replaced(BashHead, '@', program), '$', "$");
  const size_t words = out.find("      $) ");
  const Words all = sub_commands(program);
  if (all.empty())
    out.erase(words, out.find('\n', words) + 1 - words);
  else
    out.replace(words, 8, "      " + joined(all, " | ") + ")");
  out += "  case $command in\n";
  for (const std::string& command : commands_of(program)) out += bash_case(program, command);
  return out + "  esac\n" + bash_choices(program) + BashTail + "}\ncomplete -o filenames -F _gt_" + program + " " +
         program + "\n";
}

// --- zsh -------------------------------------------------------------------------------------------------------------

std::string zsh_option(const gt::Setting& s) {
  const Words flags = flags_of(s);
  std::string value;
  if (is_choice(s))
    value = ":choice:(" + joined(split(s.fallback, '|')) + ")";
  else if (is_number(s))
    value = ":number: ";
  else if (takes_value(s))
    value = ":value:_files";
  const std::string text = in_quotes("[" + escaped(s.help, "[]:\\") + "]" + value);
  if (flags.size() == 1) return "'*" + flags[0] + text + "'";
  return "'*'{" + joined(flags, ",") + "}'" + text + "'";
}

std::string zsh_arguments(const std::string& program, const std::string& command, const std::string& indent) {
  std::string out = indent + "_arguments -s";
  for (const gt::Setting* s : settings_of(command)) out += " \\\n" + indent + "  " + zsh_option(*s);
  out += " \\\n" + indent + "  '(-)'{-h,--help}'[Print this help]'";
  if (command == program) out += " \\\n" + indent + "  '(-)--version[Print the version]'";
  const std::string words = command == program ? joined(sub_commands(program)) : taken_words(command);
  if (runs_programs(command))
    out += " \\\n" + indent + "  '*:::program: _normal -p " + program + "'";
  else if (!words.empty())
    out += " \\\n" + indent + "  '*:word:(" + words + ")' '*:file:_files'";
  else
    out += " \\\n" + indent + "  '*:file:_files'";
  return out + "\n";
}

std::string zsh_file(const std::string& program) {
  std::string out = "#compdef " + program + "\n# zsh completion of " + program +
                    ", made of traces/base/settings.def by gen_completions.\n_gt_" + program + "() {\n";
  out += "  local command=$words[2]\n  case $command in\n";
  for (const std::string& word : sub_commands(program)) {
    out += "    " + word + ")\n      shift words\n      (( CURRENT-- ))\n" +
           zsh_arguments(program, program + " " + word, "      ") + "      ;;\n";
  }
  return out + "    *)\n" + zsh_arguments(program, program, "      ") + "      ;;\n  esac\n}\n_gt_" + program +
         " \"$@\"\n";
}

// --- fish ------------------------------------------------------------------------------------------------------------

std::string fish_quoted(std::string_view text) { return "'" + escaped(text, "'\\") + "'"; }

std::string fish_option(const gt::Setting& s) {
  std::string out;
  for (const std::string& flag : flags_of(s)) {
    const bool is_long = flag.starts_with("--");
    out += (is_long ? " -l " : " -s ") + flag.substr(is_long ? 2 : 1);
  }
  if (is_choice(s))
    out += " -x -a " + fish_quoted(joined(split(s.fallback, '|')));
  else if (is_number(s))
    out += " -x";
  else if (takes_value(s))
    out += " -r";
  return out + " -d " + fish_quoted(s.help);
}

std::string fish_file(const std::string& program) {
  std::string out = "# fish completion of " + program + ", made of traces/base/settings.def by gen_completions.\n";
  const Words all = sub_commands(program);
  const std::string none = all.empty() ? "" : " -n 'not __fish_seen_subcommand_from " + joined(all) + "'";
  out += "complete -c " + program + " -s h -l help -d 'Print this help'\ncomplete -c " + program + none +
         " -l version -d 'Print the version'\n";
  if (!all.empty()) out += "complete -c " + program + none + " -a '" + joined(all) + "'\n";
  for (const std::string& command : commands_of(program)) {
    const std::string word = command == program ? "" : command.substr(program.size() + 1);
    const std::string when = word.empty() ? none : " -n '__fish_seen_subcommand_from " + word + "'";
    const std::string line = "complete -c " + program + when;
    for (const gt::Setting* s : settings_of(command)) out += line + fish_option(*s) + "\n";
    if (const std::string words = taken_words(command); !words.empty()) out += line + " -a '" + words + "'\n";
    if (runs_programs(command)) out += line + " -a '(__fish_complete_subcommand --fcs-skip=2)'\n";
  }
  return out;
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: gen_completions DIRECTORY\n", stderr), 2;
  const std::string folder = std::string(argv[1]) + "/";
  for (const std::string program : Programs) {
    const bool done = write(folder + program + ".bash", bash_file(program)) &&
                      write(folder + "_" + program, zsh_file(program)) &&
                      write(folder + program + ".fish", fish_file(program));
    if (!done) return std::fprintf(stderr, "gen_completions: cannot write to %s\n", argv[1]), 4;
  }
  return 0;
}
