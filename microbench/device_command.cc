// gmicrobench device: the limits of every device (ExpEther's table), and its performance against arithmetic intensity.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "microbench/command_parts.h"
#include "microbench/commands.h"
#include "microbench/free_memory.h"
#include "microbench/interrupt.h"
#include "microbench/report/device_report.h"
#include "traces/base/command.h"
#include "traces/base/progress.h"
#include "traces/base/whole_file.h"

namespace gt::bench {
namespace {

constexpr double QuickBudget_s = 6, FullBudget_s = 40, LimitShare = 0.5;
constexpr uint64_t MostBytes = 256 << 20;

Status measure_into(const Device& device, bool quick, double budget_s, const std::function<void(double)>& progress,
                    DeviceLimits& out) {
  const auto session = Session::open(device);
  if (!session) return session.status();
  const Goal goal = quick ? Goal{0.05, 3, 30} : Goal{0.02, 3, 200};
  const uint64_t most = std::min({MostBytes, free_memory() / 8, device.memory_bytes / 8, device.max_buffer_bytes});
  const Pace first{budget_s * LimitShare, goal, [&](double part) { progress(part * LimitShare); }};
  Result<LimitTable> limits = measure_limits(**session, most, quick, first);
  if (!limits) return limits.status();
  out.limits = std::move(*limits);
  const Pace second{budget_s * (1 - LimitShare), goal,
                    [&](double part) { progress(LimitShare + part * (1 - LimitShare)); }};
  Result<Roofline> roofline = measure_roofline(**session, second);
  if (roofline) out.roofline = std::move(*roofline);
  return roofline.status().kind() == Kind::Unsupported ? Status() : roofline.status();
}

std::vector<DeviceLimits> measure(const std::vector<Device>& devices, bool quick) {
  constexpr double Steps = 1000;
  Progress progress("measuring", static_cast<uint64_t>(Steps), std::chrono::milliseconds(0));
  std::vector<DeviceLimits> out;
  const double count = static_cast<double>(devices.size());
  for (const Device& d : devices) {
    const double done = static_cast<double>(out.size());
    out.push_back({d.platform, d.name, d.driver, {}, {}, {}});
    const auto show = [&](double part) {
      progress.show("measuring " + d.name, static_cast<uint64_t>((done + part) / count * Steps));
    };
    const Status status = measure_into(d, quick, (quick ? QuickBudget_s : FullBudget_s) / count, show, out.back());
    out.back().error = status.text();
    if (interrupted()) break;
  }
  return out;
}

// The exit status: a failure is one when no device is left.
Status outcome(const std::vector<DeviceLimits>& devices) {
  const auto failed = [](const DeviceLimits& d) { return !d.error.empty(); };
  if (!std::all_of(devices.begin(), devices.end(), failed)) return {};
  return Status(Kind::Unsupported, devices.front().name + ": " + devices.front().error);
}

}  // namespace

int device_command(int argc, char** argv) {
  CLI::App app("Measures the limits of this machine's OpenCL devices: latency, throughput, arithmetic intensity.",
               "gmicrobench device");
  const Options options(app, "gmicrobench device");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  const std::string page = options.text("html");
  if (Status s = page.empty() ? Status() : can_write(page); !s.ok()) return fail(Program, s);
  const auto devices = chosen_devices(options);
  if (!devices) return fail(Program, devices.status());
  const InterruptGuard guard;
  const std::vector<DeviceLimits> result = measure(*devices, options.flag("quick"));
  if (interrupted()) return end_interrupted();
  if (Status s = outcome(result); !s.ok()) return fail(Program, s);
  for (const DeviceLimits& d : result)
    if (!d.error.empty()) fmt::print(stderr, "{}: {}: {}\n", Program, d.name, d.error);
  Status written;
  if (!page.empty()) written = write_whole_file(page, device_page(result));
  if (!page.empty() && written.ok()) fmt::print(stderr, "{}: wrote {}\n", Program, page);
  const Status printed = print_text(options.flag("json") ? device_json(result) : device_table(result));
  if (const Status& s = written.ok() ? printed : written; !s.ok()) return fail(Program, s);
  return ExitOk;
}

}  // namespace gt::bench
