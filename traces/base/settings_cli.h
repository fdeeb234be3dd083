// Gives a CLI11 program the options of its rows in settings.def, and reads their values.
//
//   CLI::App app;                              // main.cc of a program that links CLI11::CLI11
//   gt::Options options(app, "gtrace show");   // adds every row of that command
//   std::string file;
//   app.add_option("FILE", file, "...");       // positional arguments are not settings: add them
//   by hand if (auto status = gt::parse_arguments(app, argc, argv)) return *status;   // --help and
//   usage errors options.flag("all"); options.integer("width"); options.text("color");
//
// Thread safety: none; used once at the start of a program.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/base/command.h"
#include "traces/base/settings.h"

namespace gt {

class Options {
 public:
  // `app` and this object must live until the arguments are parsed.
  Options(CLI::App& app, std::string_view command) {
    for (const Setting& s : Settings) {
      if (s.command == command) add(app, s);
    }
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  bool flag(const std::string& name) const { return values_.at(name) == "true"; }
  const std::string& text(const std::string& name) const { return values_.at(name); }
  // Nothing when the setting was not given and has no fallback.
  std::optional<uint64_t> integer(const std::string& name) const {
    const std::string& v = values_.at(name);
    if (v.empty()) return {};
    return std::strtoull(v.c_str(), nullptr, 10);
  }
  std::optional<uint64_t> size(const std::string& name) const { return parse_size(values_.at(name)); }
  std::optional<double> real(const std::string& name) const {
    const std::string& v = values_.at(name);
    if (v.empty()) return {};
    return std::strtod(v.c_str(), nullptr);
  }

 private:
  void add(CLI::App& app, const Setting& s) {
    const std::string name(setting_name(s.flags));
    const std::string flags(s.flags), help(s.help);
    std::string& value = values_[name];
    CLI::Option* option = nullptr;
    if (s.type == SettingType::Flag) {
      option = app.add_flag(flags, value, help);
    } else {
      value = s.type == SettingType::Choice
                  ? std::string(s.fallback.substr(0, s.fallback.find('|')))
                  : std::string(s.fallback);
      option = app.add_option(flags, value, help);
      if (!value.empty()) option->capture_default_str();
      restrict_values(*option, s);
    }
    option->envname(setting_variable(name));
  }

  static void restrict_values(CLI::Option& option, const Setting& s) {
    if (s.type == SettingType::Int) {
      option.type_name("N")->check(whole_number());
    } else if (s.type == SettingType::Size) {
      option.type_name("BYTES")->check(size_of_something());
    } else if (s.type == SettingType::Real) {
      option.type_name("X")->check(CLI::Number);
    } else if (s.type == SettingType::Choice) {
      option.type_name(std::string(s.fallback))->check(one_of(s.fallback));
    } else {
      option.type_name("TEXT")->check(something_said());
    }
  }

  // Who forgets a value before the program to run has "--" for it. A file of that name is ./-- then.
  static CLI::Validator something_said() {
    return {[](const std::string& v) { return v == "--" ? std::string("its value is missing before '--'") : ""; }, ""};
  }
  static CLI::Validator whole_number() {
    return {[](const std::string& v) {
              const bool ok = !v.empty() && v.size() < 20 &&
                              v.find_first_not_of("0123456789") == std::string::npos;
              return ok ? std::string() : "'" + v + "' is not a whole number";
            },
            ""};
  }
  static CLI::Validator size_of_something() {
    return {[](const std::string& v) {
              return parse_size(v) ? std::string() : "'" + v + "' is not a size like 4096, 64K, 10M or 1G";
            },
            ""};
  }
  static CLI::Validator one_of(std::string_view choices) {
    const std::string list = "|" + std::string(choices) + "|";
    return {[list](const std::string& v) {
              const bool ok =
                  v.find('|') == std::string::npos && list.find("|" + v + "|") != std::string::npos;
              return ok ? std::string()
                        : "'" + v + "' is not one of " + list.substr(1, list.size() - 2);
            },
            ""};
  }

  std::map<std::string, std::string> values_;
};

// Nothing when the program should go on; else the exit status with which it should end. Prints help
// on stdout, and a usage error as one line on stderr.
inline std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return {};
  } catch (const CLI::Success& done) {
    return app.exit(done) == 0 ? ExitOk : ExitInternal;
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "%s: %s (see --help)\n", app.get_name().c_str(), e.what());
    return ExitUsage;
  }
}

}  // namespace gt
