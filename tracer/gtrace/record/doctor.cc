// gtrace doctor: tells, without running it, what recording a program would see and what it would miss.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/record/diagnosis.h"
#include "tracer/gtrace/base/output.h"
#include "traces/base/command_line.h"

namespace gt::tracer {

namespace {

constexpr const char* Program = "gtrace doctor";
constexpr int SomeMissed = 1;

nlohmann::json as_json(const Diagnosis& d) {
  nlohmann::json out = {{"program", d.program},       {"binary", d.binary},
                        {"interpreters", d.interpreters}, {"opencl_library", d.opencl_library},
                        {"missed", d.missed},         {"advice", d.advice},
                        {"beside", d.beside}};
  out["doors"] = nlohmann::json::array();
  for (const FoundEntryPath& path : d.entry_paths)
    out["doors"].push_back({{"kind", path.kind}, {"what", path.what}, {"caught_by", path.caught_by}});
  out["drivers"] = nlohmann::json::array();
  for (const Driver& driver : d.drivers)
    out["drivers"].push_back({{"icd", driver.icd}, {"library", driver.library}, {"found", driver.found}});
  return out;
}

std::string as_text(const Diagnosis& d) {
  std::string text = fmt::format("program   {}\n", d.program);
  for (const std::string& interpreter : d.interpreters) text += fmt::format("run by    {}\n", interpreter);
  for (const FoundEntryPath& path : d.entry_paths)
    text += fmt::format("door      {}: {}; caught by {}\n", path.kind, path.what, path.caught_by);
  text += fmt::format("OpenCL    {}\n", d.opencl_library.empty() ? "none" : d.opencl_library);
  for (const Driver& driver : d.drivers)
    text += fmt::format("driver    {}{} ({})\n", driver.library, driver.found ? "" : ": missing", driver.icd);
  for (const std::string& other : d.beside) text += fmt::format("beside    {}\n", other);
  for (const std::string& line : d.missed) text += fmt::format("missed    {}\n", line);
  for (const std::string& line : d.advice) text += fmt::format("advice    {}\n", line);
  return text;
}

int verdict(const Diagnosis& d) {
  if (!d.missed.empty()) return SomeMissed;
  return d.environment_lacks ? ExitEnvironment : 0;
}

}  // namespace

int doctor_command(int argc, char** argv) {
  CommandLine line(Program, "Tells, without running APP, what a recording of it would see and what it would miss.");
  const Options& options = line.options();
  line.takes_command();
  if (const auto status = line.parse(argc, argv)) return *status;
  const std::vector<std::string> command = line.command();
  if (command.empty())
    return fail(Program, Status(Kind::Invalid, "no program given: gtrace doctor [OPTIONS] -- APP ARGS..."));
  const Result<Diagnosis> d = diagnose(command);
  if (!d) return fail(Program, d.status());
  Output out;
  out.write(options.flag("json") ? as_json(*d).dump(2) + "\n" : as_text(*d));
  const int trouble = out.finish();
  return trouble ? trouble : verdict(*d);
}

}  // namespace gt::tracer
