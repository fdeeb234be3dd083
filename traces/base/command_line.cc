#include "traces/base/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "traces/base/settings.h"

namespace gt {
namespace {

// Who forgets a value before the program to run has "--" for it. A file of that name is ./-- then.
CLI::Validator something_said() {
  return {[](const std::string& v) { return v == "--" ? std::string("its value is missing before '--'") : ""; }, ""};
}
CLI::Validator whole_number() {
  return {[](const std::string& v) {
            const bool ok = !v.empty() && v.size() < 20 && v.find_first_not_of("0123456789") == std::string::npos;
            return ok ? std::string() : "'" + v + "' is not a whole number";
          },
          ""};
}
CLI::Validator size_of_something() {
  return {[](const std::string& v) {
            return parse_size(v) ? std::string() : "'" + v + "' is not a size like 4096, 64K, 10M or 1G";
          },
          ""};
}
CLI::Validator one_of(std::string_view choices) {
  const std::string list = "|" + std::string(choices) + "|";
  return {[list](const std::string& v) {
            const bool ok = v.find('|') == std::string::npos && list.find("|" + v + "|") != std::string::npos;
            return ok ? std::string() : "'" + v + "' is not one of " + list.substr(1, list.size() - 2);
          },
          ""};
}

constexpr const char* TextType = "TEXT";

void restrict_values(CLI::Option& option, const Setting& s) {
  switch (s.type) {
    case SettingType::Int: option.type_name("N")->check(whole_number()); break;
    case SettingType::Size: option.type_name("BYTES")->check(size_of_something()); break;
    case SettingType::Real: option.type_name("X")->check(CLI::Number); break;
    case SettingType::Choice: option.type_name(std::string(s.fallback))->check(one_of(s.fallback)); break;
    default: option.type_name(TextType)->check(something_said()); break;
  }
}

CLI::Option* add(CLI::App& app, const Setting& s, std::string& value) {
  const std::string flags(s.flags), help(s.help);
  CLI::Option* option = nullptr;
  if (s.type == SettingType::Flag) {
    option = app.add_flag(flags, value, help);
  } else {
    const bool choice = s.type == SettingType::Choice;
    value = std::string(choice ? s.fallback.substr(0, s.fallback.find('|')) : s.fallback);
    option = app.add_option(flags, value, help);
    if (!value.empty()) option->capture_default_str();
    restrict_values(*option, s);
  }
  option->envname(s.variable);
  return option;
}

bool is_current_elsewhere(std::string_view variable) {
  return std::any_of(std::begin(Settings), std::end(Settings),
                     [&](const Setting& s) { return variable == s.variable; });
}

// Whoever relied on the variable gets something else than before: that must not pass in silence. One that is set for
// other commands is none of this one's business.
void tell_if_old_variable(const Setting& s, const CLI::Option& option) {
  const std::string variable = old_variable(s);
  const char* const value = variable.empty() || option.count() > 0 ? nullptr : std::getenv(variable.c_str());
  if (!value || !*value || is_current_elsewhere(variable)) return;
  const std::string command(s.command), program = command.substr(0, command.find(' '));
  std::fprintf(stderr, "%s: %s is not read by %s: use --%s\n", program.c_str(), variable.c_str(), command.c_str(),
               std::string(setting_name(s.flags)).c_str());
}

}  // namespace

std::optional<uint64_t> Options::integer(const std::string& name) const {
  const std::string& v = values_.at(name);
  if (v.empty()) return {};
  return std::strtoull(v.c_str(), nullptr, 10);
}

std::optional<uint64_t> Options::size(const std::string& name) const { return parse_size(values_.at(name)); }

std::optional<double> Options::real(const std::string& name) const {
  const std::string& v = values_.at(name);
  if (v.empty()) return {};
  return std::strtod(v.c_str(), nullptr);
}

struct CommandLine::Parser {
  CLI::App app;
  std::vector<std::pair<const Setting*, const CLI::Option*>> settings;
};

CommandLine::CommandLine(std::string_view command, const std::string& about, const std::string& version)
    : parser_(new Parser{CLI::App(about, std::string(command)), {}}) {
  if (!version.empty()) parser_->app.set_version_flag("--version", version);
  for (const Setting& s : Settings)
    if (s.command == command)
      parser_->settings.emplace_back(&s, add(parser_->app, s, options_.values_[std::string(setting_name(s.flags))]));
}

CommandLine::~CommandLine() = default;

void CommandLine::argument(const std::string& name, std::string& value, const std::string& about, Need need) {
  CLI::Option* const option = parser_->app.add_option(name, value, about);
  if (!value.empty()) option->capture_default_str();
  option->required(need == Need::Required);
}

void CommandLine::arguments(const std::string& name, std::vector<std::string>& values, const std::string& about) {
  parser_->app.add_option(name, values, about);
}

void CommandLine::takes_command() { parser_->app.prefix_command(); }

void CommandLine::joins(const std::string& flag) { parser_->app.get_option(flag)->join(','); }

void CommandLine::takes_two(const std::string& flag) { parser_->app.get_option(flag)->expected(2)->join('\n'); }

void CommandLine::footer(const std::string& text) { parser_->app.footer(text); }

std::optional<int> CommandLine::parse(int argc, const char* const* argv) {
  try {
    parser_->app.parse(argc, argv);
    for (const auto& [setting, option] : parser_->settings) tell_if_old_variable(*setting, *option);
    return {};
  } catch (const CLI::Success& done) {
    return parser_->app.exit(done) == 0 ? ExitOk : ExitInternal;
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "%s: %s (see --help)\n", parser_->app.get_name().c_str(), e.what());
    return ExitUsage;
  }
}

std::vector<std::string> CommandLine::command() const {
  std::vector<std::string> command = parser_->app.remaining();
  if (!command.empty() && command[0] == "--") command.erase(command.begin());
  return command;
}

std::optional<std::string> CommandLine::given_nothing() const {
  const CLI::App& app = parser_->app;
  for (const CLI::Option* option : app.get_options()) {
    const bool text = option->get_type_name() == TextType && option->count() > 0 && !option->get_lnames().empty();
    if (text && option->as<std::string>().empty()) return "--" + option->get_lnames()[0];
  }
  return {};
}

}  // namespace gt
