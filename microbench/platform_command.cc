// gmicrobench platform: characterizes every device, prints a table, writes platform.json and perhaps a page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "microbench/command_parts.h"
#include "microbench/commands.h"
#include "microbench/interrupt.h"
#include "microbench/measure.h"
#include "microbench/report/platform_page.h"
#include "microbench/report/platform_table.h"
#include "traces/base/command.h"
#include "traces/base/progress.h"
#include "traces/base/whole_file.h"

namespace gt::bench {
namespace {

constexpr double QuickBudget_s = 8, FullBudget_s = 100;  // of 10 s and two minutes that are promised

// The folder of the platform file is made, as everywhere where caches are kept.
Status make_folder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  return error ? system_error("cannot make " + folder.string(), error.value()) : Status();
}

Result<PlatformResult> measure(const std::vector<Device>& devices, const Options& options) {
  constexpr double Steps = 1000;
  Progress progress("measuring", static_cast<uint64_t>(Steps), std::chrono::milliseconds(0));
  MeasureOptions wanted;
  wanted.quick = options.flag("quick");
  wanted.budget_s = wanted.quick ? QuickBudget_s : FullBudget_s;
  wanted.max_bytes = options.size("max-bytes").value_or(0);
  wanted.progress = [&](const std::string& what, double part) {
    progress.show("measuring " + what, static_cast<uint64_t>(part * Steps));
  };
  return measure_platform(devices, wanted);
}

Status write(const PlatformResult& result, const std::string& path, const std::string& page) {
  GT_TRY(model::write_platform(result.platform, path));
  fmt::print(stderr, "{}: wrote {}\n", Program, path);
  if (page.empty()) return {};
  GT_TRY(write_whole_file(page, platform_page(result)));
  fmt::print(stderr, "{}: wrote {}\n", Program, page);
  return {};
}

// The files first: a reader of the table who goes away must not cost them. And the table even without them.
Status give(const PlatformResult& result, const Options& options, const std::string& path) {
  for (const model::FailedDevice& f : result.platform.failed)
    fmt::print(stderr, "{}: {}: {} (the other devices were measured)\n", Program, f.name, f.error);
  const Status written = write(result, path, options.text("html"));
  const Status printed =
      print_text(options.flag("json") ? model::format_platform(result.platform) : platform_table(result.platform));
  return written.ok() ? printed : written;
}

}  // namespace

int platform_command(int argc, char** argv) {
  CLI::App app("Measures what host memory, transfers and launches cost on this machine's OpenCL devices.",
               "gmicrobench platform");
  const Options options(app, "gmicrobench platform");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  const std::string path =
      options.text("output").empty() ? model::platform_cache_path() : options.text("output");
  if (path.empty())
    return fail(Program, Status(Kind::Invalid, "no home folder for the cache: give -o FILE"));
  const auto devices = chosen_devices(options);
  if (!devices) return fail(Program, devices.status());
  if (Status s = make_folder(path); !s.ok()) return fail(Program, s);
  for (const std::string& file : {path, options.text("html")})
    if (Status s = file.empty() ? Status() : can_write(file); !s.ok()) return fail(Program, s);
  const InterruptGuard guard;
  const Result<PlatformResult> result = measure(*devices, options);
  if (interrupted()) return end_interrupted();
  if (!result) return fail(Program, result.status());
  if (Status s = give(*result, options, path); !s.ok()) return fail(Program, s);
  if (options.text("output").empty()) fmt::print(stderr, "next: goptimize run -- APP\n");
  return ExitOk;
}

}  // namespace gt::bench
