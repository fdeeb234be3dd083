// Options, their variables, and variables that no longer set anything.
#include "traces/base/command_line.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "traces/base/settings.h"

using namespace gt;

namespace {

using Assignments = std::vector<std::pair<std::string, std::string>>;

// Of this process, while it lives.
class Environment {
 public:
  explicit Environment(Assignments assignments) : assignments_(std::move(assignments)) {
    for (const auto& [name, value] : assignments_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : assignments_) ::unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  Assignments assignments_;
};

// What `work` writes to standard error.
template <class Work>
std::string complaints(Work work) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file);
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  work();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::rewind(file);
  std::string text;
  for (int c = 0; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

struct Parsed {
  std::string value;  // of the option that was asked for
  bool flag = false;
  std::string said;
};

Parsed parse(const char* command, const std::string& name, std::vector<const char*> words = {}) {
  words.insert(words.begin(), command);
  Parsed out;
  out.said = complaints([&] {
    CommandLine line(command, "");
    line.takes_command();
    CHECK_FALSE(line.parse(static_cast<int>(words.size()), words.data()));
    out.value = line.options().text(name);
    out.flag = line.options().flag(name);
  });
  return out;
}

// Names of variables that some rows give another flag, type, fallback or meaning than others.
std::set<std::string> of_two_meanings(std::span<const Setting> settings) {
  const auto differ = [](const Setting& a, const Setting& b) {
    return a.flags != b.flags || a.type != b.type || a.fallback != b.fallback ||
           setting_meaning(a.help) != setting_meaning(b.help);
  };
  std::set<std::string> out;
  for (const Setting& a : settings)
    for (const Setting& b : settings)
      if (*a.variable && std::string(a.variable) == b.variable && differ(a, b)) out.insert(a.variable);
  return out;
}

}  // namespace

TEST_CASE("every setting has a long flag and a help text, and a variable's name begins with GTRACE_") {
  for (const Setting& s : Settings) {
    CHECK(!setting_name(s.flags).empty());
    CHECK(!s.help.empty());
    CHECK((!*s.variable || std::string(s.variable).starts_with("GTRACE_")));
  }
}

TEST_CASE("a variable means the same in every command that reads it") {
  CHECK(of_two_meanings(Settings) == std::set<std::string>());

  const Setting programs{"gmicrobench apps", "--only", "GTRACE_ONLY", SettingType::Text, "", "Only these programs"};
  Setting devices = programs;
  devices.help = "Only these programs; of the suite";
  CHECK(of_two_meanings(std::vector{programs, devices}).empty());
  devices.help = "Show the program only these devices";
  CHECK(of_two_meanings(std::vector{programs, devices}) == std::set<std::string>{"GTRACE_ONLY"});
  Setting other = programs;
  other.flags = "--just";
  CHECK(of_two_meanings(std::vector{programs, other}) == std::set<std::string>{"GTRACE_ONLY"});
}

TEST_CASE("a variable of the table sets its option, and the option wins") {
  const Environment set({{"GTRACE_TOKEN_FILE", "/by/variable"}, {"GTRACE_COLOR", "never"}, {"GTRACE_SPREAD", "1"}});
  CHECK(parse("goptimize run", "token-file").value == "/by/variable");
  CHECK(parse("goptimize run", "spread").flag);
  CHECK_FALSE(parse("goptimize run", "sync-errors").flag);
  CHECK(parse("gproxy serve", "token-file").value == "/by/variable");
  CHECK(parse("ganalyze", "color").value == "never");
  const Parsed both = parse("goptimize run", "token-file", {"--token-file", "/by/option"});
  CHECK(both.value == "/by/option");
  CHECK(both.said.empty());
}

TEST_CASE("a variable that sets nothing any more is one line of the command that read it") {
  const Environment set({{"GTRACE_OUTPUT", "run.db"}, {"GTRACE_ONLY", "remote"}, {"GTRACE_REMOTE", "shm:x"}});
  const Parsed run = parse("gtrace run", "output");
  CHECK(run.value == "trace.db");
  CHECK(run.said == "gtrace: GTRACE_OUTPUT is not read by gtrace run: use --output\n");
  const Parsed optimized = parse("goptimize run", "only");
  CHECK(optimized.said == "goptimize: GTRACE_ONLY is not read by goptimize run: use --only\n");
  CHECK(parse("gtrace stats", "by").said.empty());                        // which never read them
  CHECK(parse("gtrace run", "output", {"-o", "other.db"}).said.empty());  // which it would not have changed
  CHECK(parse("goptimize devices", "remote").value == "shm:x");
  const Parsed elsewhere = parse("gmicrobench remote", "remote");
  CHECK(elsewhere.value.empty());
  CHECK(elsewhere.said.empty());  // it is set for goptimize
}

TEST_CASE("a variable without a value is none") {
  const Environment set({{"GTRACE_OUTPUT", ""}, {"GTRACE_TOKEN_FILE", ""}});
  CHECK(parse("gtrace run", "output").said.empty());
  CHECK(parse("goptimize run", "token-file").value.empty());
}
