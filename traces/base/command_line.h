// A program's command line: the options that are its rows in settings.def, and its positional arguments.
//
//   CommandLine line("gtrace show", "Prints the folded calls.");
//   std::string file;
//   line.argument("FILE", file, "The trace");
//   if (const auto status = line.parse(argc, argv)) return *status;   // --help and usage errors
//   const Options& options = line.options();
//   options.flag("all"); options.integer("width"); options.text("color");
//
// Settings that have a variable take their value from there when the option is not given.
//
// CLI11 does the work, in command_line.cc alone: what includes it takes ten seconds longer to compile.
// Thread safety: none; used once at the start of a program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/command.h"

namespace gt {

// The values of a command's settings, by name: "width" for --width.
class Options {
 public:
  // "1" is what a variable says.
  bool flag(const std::string& name) const { return values_.at(name) == "true" || values_.at(name) == "1"; }
  const std::string& text(const std::string& name) const { return values_.at(name); }
  // Nothing when the setting was not given and has no fallback.
  std::optional<uint64_t> integer(const std::string& name) const;
  std::optional<uint64_t> size(const std::string& name) const;
  std::optional<double> real(const std::string& name) const;

 private:
  friend class CommandLine;
  std::map<std::string, std::string> values_;
};

class CommandLine {
 public:
  enum class Need : uint8_t { Optional, Required };

  // `command`: as in settings.def. `version`: what --version prints; "": there is no such option.
  CommandLine(std::string_view command, const std::string& about, const std::string& version = "");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // --- Before parse(). What arguments are parsed into must live until then; what it holds is told as the default.
  void argument(const std::string& name, std::string& value, const std::string& about, Need need = Need::Optional);
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& about);
  // From the first word that is no option of ours on, it is another program's command line.
  void takes_command();
  // The option may be given several times, or its values joined by commas.
  void joins(const std::string& flag);
  // The option takes two values: its text has a line for each.
  void takes_two(const std::string& flag);
  // Below the options of --help.
  void footer(const std::string& text);

  // Nothing when the program should go on; else the exit status with which it should end. Prints help on stdout, and on
  // stderr a line for a usage error, and for each variable that somebody set and that no longer sets anything here.
  std::optional<int> parse(int argc, const char* const* argv);

  // --- After it.
  const Options& options() const { return options_; }
  std::vector<std::string> command() const;  // without a "--" in front
  // "--profile", when a setting that is a text was given none (""); nothing when there is no such.
  std::optional<std::string> given_nothing() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  Options options_;
};

}  // namespace gt
