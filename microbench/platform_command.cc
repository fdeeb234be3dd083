// gmicrobench platform: characterizes every device, prints a table, writes platform.json.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "microbench/commands.h"
#include "microbench/probes/transfer_costs.h"
#include "traces/base/command.h"
#include "traces/base/progress.h"
#include "traces/base/settings_cli.h"

namespace gt::bench {
namespace {

using model::Curve;
using model::Policy;
using model::PolicyCount;
using model::PolicyNames;

constexpr const char* Program = "gmicrobench";
constexpr double QuickBudget_s = 7, FullBudget_s = 90;

std::string size_text(uint64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string time_text(double ns) {
  if (ns >= 1e6) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.1f} us", ns / 1e3);
}

// One row a size: per policy the cost of allocating, and GB/s to and from the device.
void print_table(const model::DeviceCosts& device) {
  fmt::print("{} ({}, driver {})\n", device.name, device.platform, device.driver);
  fmt::print("{:>8}", "");
  for (size_t p = 0; p < PolicyCount; ++p)
    if (device.policies[p]) fmt::print("  {:^26}", PolicyNames[p]);
  fmt::print("\n{:>8}", "size");
  for (size_t p = 0; p < PolicyCount; ++p)
    if (device.policies[p]) fmt::print("  {:>11} {:>6} {:>7}", "allocation", "h2d", "d2h GB/s");
  fmt::print("\n");
  for (uint64_t size : {uint64_t{4} << 10, uint64_t{64} << 10, uint64_t{1} << 20,
                        uint64_t{16} << 20, uint64_t{64} << 20, uint64_t{256} << 20}) {
    fmt::print("{:>8}", size_text(size));
    for (size_t p = 0; p < PolicyCount; ++p) {
      const auto& c = device.policies[p];
      if (!c) continue;
      const double s = static_cast<double>(size);
      if (c->max_bytes && size > c->max_bytes) {
        fmt::print("  {:^26}", "refused");
      } else {
        fmt::print("  {:>11} {:>6.2f} {:>7.2f} ", time_text(c->allocation(s)), s / c->h2d(s),
                   s / c->d2h(s));
      }
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

Result<std::vector<Device>> chosen_devices(const Options& options) {
  Result<std::vector<Device>> all = list_devices();
  const auto only = options.integer("device");
  if (!all || !only) return all;
  if (*only >= all->size())
    return Status(Kind::Invalid,
                  fmt::format("there is no device {}: {} were found", *only, all->size()));
  return std::vector<Device>{(*all)[*only]};
}

Result<model::Platform> measure(const std::vector<Device>& devices, bool quick) {
  constexpr double Steps = 1000;
  Progress progress("measuring", static_cast<uint64_t>(Steps), std::chrono::milliseconds(0));
  model::Platform platform;
  platform.machine = model::this_machine();
  platform.quick = quick;
  const double count = static_cast<double>(devices.size());
  for (const Device& device : devices) {
    const double done = static_cast<double>(platform.devices.size());
    CostOptions cost;
    cost.quick = quick;
    cost.budget_s = (quick ? QuickBudget_s : FullBudget_s) / count;
    cost.progress = [&](double part) {
      progress.show("measuring " + device.name, static_cast<uint64_t>((done + part) / count * Steps));
    };
    Result<DeviceResult> result = measure_transfer_costs(device, cost);
    if (!result) return result.status().at(device.name);
    platform.devices.push_back(std::move(result->costs));
  }
  return platform;
}

}  // namespace

int platform_command(int argc, char** argv) {
  CLI::App app("Measures what host memory and transfers cost on this machine's OpenCL devices.",
               "gmicrobench platform");
  const Options options(app, "gmicrobench platform");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  const std::string path =
      options.text("output").empty() ? model::platform_cache_path() : options.text("output");
  if (path.empty())
    return fail(Program, Status(Kind::Invalid, "no home folder for the cache: give -o FILE"));
  const auto devices = chosen_devices(options);
  if (!devices) return fail(Program, devices.status());
  const Result<model::Platform> platform = measure(*devices, options.flag("quick"));
  if (!platform) return fail(Program, platform.status());
  if (options.flag("json")) {
    fmt::print("{}", model::format_platform(*platform));
  } else {
    for (const model::DeviceCosts& device : platform->devices) print_table(device);
  }
  if (Status s = model::write_platform(*platform, path); !s.ok()) return fail(Program, s);
  fmt::print(stderr, "{}: wrote {}\n", Program, path);
  if (options.text("output").empty()) fmt::print(stderr, "next: goptimize run -- APP\n");
  return ExitOk;
}

}  // namespace gt::bench
