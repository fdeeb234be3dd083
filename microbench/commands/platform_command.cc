// gmicrobench platform: characterizes every device, prints a table, writes platform.json and perhaps a page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "microbench/commands/command_parts.h"
#include "microbench/commands/commands.h"
#include "microbench/base/interrupt.h"
#include "microbench/measure.h"
#include "microbench/commands/platform_file.h"
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

// Known before minutes of measuring, where it can be.
Status check_arguments(const PlatformFile& file, const Options& options) {
  const auto most = options.size("max-bytes");
  if (most && *most < LeastBytes)
    return Status(Kind::Invalid, fmt::format("--max-bytes {}: the smallest transfer that is measured has {} bytes",
                                             *most, LeastBytes));
  const std::string page = options.text("html");
  if (!page.empty()) GT_TRY(can_write(page));
  if (!file.obstacle().empty()) return {};
  GT_TRY(make_folder(file.path));
  return can_write(file.path);
}

Result<std::vector<Device>> wanted_devices(const PlatformFile& file, const Options& options) {
  const std::string only = options.text("only");
  Result<std::vector<Device>> devices = only.empty() ? chosen_devices(options) : find_devices(only);
  if (!devices || !file.fills) return devices;
  const auto before = file.before();
  const auto known = [&](const Device& d) { return has_costs(*before, {d.platform, d.name, d.driver, {}}); };
  if (before) std::erase_if(*devices, known);
  return devices;
}

// A file that is filled is written after each step: whoever ends us wants what was measured by then.
Result<PlatformResult> measure(const std::vector<Device>& devices, const Options& options, const PlatformFile& file) {
  const std::optional<model::Platform> before = file.fills ? file.before() : std::nullopt;
  constexpr double Steps = 1000;
  Progress progress("measuring", static_cast<uint64_t>(Steps), std::chrono::milliseconds(0));
  MeasureOptions wanted;
  wanted.quick = options.flag("quick");
  wanted.budget_s = wanted.quick ? QuickBudget_s : FullBudget_s;
  if (const auto seconds = options.integer("seconds")) wanted.budget_s = std::max(1.0, static_cast<double>(*seconds));
  wanted.max_bytes = options.size("max-bytes").value_or(UINT64_MAX);
  wanted.before = before ? &*before : nullptr;
  if (file.fills && file.obstacle().empty())
    wanted.keep = [&](const model::Platform& so_far) { return file.keep_so_far(so_far); };
  wanted.progress = [&](const std::string& what, double part) {
    progress.show("measuring " + what, static_cast<uint64_t>(part * Steps));
  };
  Result<PlatformResult> result = measure_platform(devices, wanted);
  if (result) result->platform.unlisted = file.wanted == model::Wanted::Chosen;
  return result;
}

// The names of all devices of the machine are put beside the one that was wanted. When that is kept already: other
// drivers may take their time.
Status note_others(const PlatformResult& result, const PlatformFile& file) {
  const Result<std::vector<Device>> all = list_devices();
  if (!all) return all.status();
  model::Platform known = result.platform;
  known.unlisted = false;
  for (const Device& d : *all) {
    const model::DeviceName name = {d.platform, d.name, d.driver};
    if (!std::ranges::count(known.unused, name)) known.unused.push_back(name);
  }
  return file.keep(known).status();
}

// The cached file may hold more than was measured now, and something better.
void say_what_stays(const model::Platform& fresh, const model::Platform& kept, const std::string& path) {
  for (const model::DeviceCosts& d : fresh.devices) {
    const model::DeviceCosts* now = costs_of(kept, d);
    if (d.quick && now && !now->quick)
      fmt::print(stderr, "{}: {}: the full measurement in {} stays\n", Program, d.name, path);
  }
  for (const model::FailedDevice& f : fresh.failed)
    fmt::print(stderr, "{}: {}: {} ({})\n", Program, f.name, f.error,
               has_costs(kept, f) ? "its earlier measurement stays" : "the other devices were measured");
}

// Gives what is kept.
Result<model::Platform> write(const PlatformResult& result, const PlatformFile& file, const std::string& page) {
  model::Platform kept = result.platform;
  const std::string obstacle = file.obstacle();
  if (obstacle.empty()) {
    Result<model::Platform> written = file.keep(result.platform);
    if (!written) return written;
    kept = std::move(*written);
  }
  say_what_stays(result.platform, kept, file.path);
  fmt::print(stderr, "{}: {}\n", Program,
             obstacle.empty() ? "wrote " + file.path : "not kept: " + obstacle + " (-o FILE keeps it)");
  if (page.empty()) return kept;
  GT_TRY(write_whole_file(page, platform_page(result)));
  fmt::print(stderr, "{}: wrote {}\n", Program, page);
  return kept;
}

// The files first: a reader of the table who goes away must not cost them. And the table even without them.
Status give(const PlatformResult& result, const Options& options, const PlatformFile& file) {
  const Result<model::Platform> kept = write(result, file, options.text("html"));
  const Status printed = print_text(options.flag("json") ? model::format_platform(kept ? *kept : result.platform)
                                                         : platform_table(result.platform));
  return kept ? printed : kept.status();
}

// Of this machine, without any costs.
model::Platform nothing_measured() {
  model::Platform none;
  none.machine = model::this_machine();
  none.quick = true;
  return none;
}

// Nothing could be measured. Who asks for what is missing wants to read later why it is; other files stay as they were.
int give_up(const Status& why, const PlatformFile& file, std::vector<model::FailedDevice> failed) {
  if (file.fills && why.kind() != Kind::Invalid) {
    model::Platform none = nothing_measured();
    none.unlisted = file.wanted == model::Wanted::Chosen;
    none.failed = std::move(failed);
    if (none.failed.empty() && !none.unlisted) none.failed.push_back({{}, {}, {}, why.text(), model::seconds_now()});
    if (const auto kept = file.keep(none); !kept) return fail(Program, kept.status());
  }
  return fail(Program, why);
}

int nothing_missing(const PlatformFile& file) {
  if (file.wanted == model::Wanted::Chosen) {
    fmt::print(stderr, "{}: {} has its costs\n", Program, file.path);
    return ExitOk;
  }
  if (const auto kept = file.keep(nothing_measured()); !kept) return fail(Program, kept.status());
  fmt::print(stderr, "{}: {} has costs of all devices\n", Program, file.path);
  return ExitOk;
}

}  // namespace

int platform_command(int argc, char** argv) {
  CommandLine line("gmicrobench platform",
                   "Measures what host memory, transfers and launches cost on this machine's OpenCL devices.");
  const Options& options = line.options();
  if (const auto status = line.parse(argc, argv)) return *status;
  const auto file = platform_file(options);
  if (!file) return fail(Program, file.status());
  if (Status s = check_arguments(*file, options); !s.ok()) return fail(Program, s);
  const auto devices = wanted_devices(*file, options);
  if (!devices) return give_up(devices.status(), *file, {});
  if (devices->empty()) return nothing_missing(*file);
  const InterruptGuard guard;
  const Result<PlatformResult> result = measure(*devices, options, *file);
  if (interrupted()) return end_interrupted();
  if (!result) return give_up(result.status(), *file, {});
  const std::vector<model::FailedDevice>& failed = result->platform.failed;
  if (result->platform.devices.empty())
    return give_up(Status(Kind::Unsupported, failed.front().name + ": " + failed.front().error), *file, failed);
  if (Status s = give(*result, options, *file); !s.ok()) return fail(Program, s);
  if (file->fills && file->wanted == model::Wanted::Chosen && file->obstacle().empty())
    if (Status s = note_others(*result, *file); !s.ok()) return fail(Program, s);
  if (!file->named && file->obstacle().empty()) fmt::print(stderr, "next: goptimize run -- APP\n");
  return ExitOk;
}

}  // namespace gt::bench
