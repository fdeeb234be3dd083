// gmicrobench device: the limits of every device (ExpEther's table), and its performance against arithmetic intensity.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "microbench/commands/command_parts.h"
#include "microbench/commands/commands.h"
#include "microbench/base/free_memory.h"
#include "microbench/base/interrupt.h"
#include "microbench/report/device_report.h"
#include "traces/base/command.h"
#include "traces/base/whole_file.h"

namespace gt::bench {
namespace {

constexpr double QuickBudget_s = 6, FullBudget_s = 40, LimitShare = 0.5;
constexpr uint64_t MostBytes = 256 << 20;

Status measure_into(const Device& device, bool quick, double budget_s, const Tell& tell, DeviceLimits& out) {
  const auto session = Session::open(device);
  if (!session) return session.status();
  const Goal goal = quick ? Goal{0.05, 3, 30} : Goal{0.02, 3, 200};
  const uint64_t most = std::min({MostBytes, free_memory() / 8, device.memory_bytes / 8, device.max_buffer_bytes});
  const Pace first{budget_s * LimitShare, goal, [&](double part) { tell(part * LimitShare); }};
  Result<LimitTable> limits = measure_limits(**session, most, quick, first);
  if (!limits) return limits.status();
  out.limits = std::move(*limits);
  const Pace second{budget_s * (1 - LimitShare), goal,
                    [&](double part) { tell(LimitShare + part * (1 - LimitShare)); }};
  Result<Roofline> roofline = measure_roofline(**session, second);
  if (roofline) out.roofline = std::move(*roofline);
  return roofline.status().kind() == Kind::Unsupported ? Status() : roofline.status();
}

}  // namespace

int device_command(int argc, char** argv) {
  CommandLine line("gmicrobench device",
                   "Measures the limits of this machine's OpenCL devices: latency, throughput, arithmetic intensity.");
  const Options& options = line.options();
  if (const auto status = line.parse(argc, argv)) return *status;
  const std::string page = options.text("html");
  if (Status s = page.empty() ? Status() : can_write(page); !s.ok()) return fail(Program, s);
  const auto devices = chosen_devices(options);
  if (!devices) return fail(Program, devices.status());
  const InterruptGuard guard;
  const bool quick = options.flag("quick");
  const auto result = measure_each<DeviceLimits>(
      *devices, quick ? QuickBudget_s : FullBudget_s,
      [&](const Device& device, double budget_s, const Tell& tell, DeviceLimits& out) {
        return measure_into(device, quick, budget_s, tell, out);
      });
  if (const auto status = early_end(result)) return *status;
  Status written;
  if (!page.empty()) written = write_whole_file(page, device_page(result));
  if (!page.empty() && written.ok()) fmt::print(stderr, "{}: wrote {}\n", Program, page);
  const Status printed = print_text(options.flag("json") ? device_json(result) : device_table(result));
  if (const Status& s = written.ok() ? printed : written; !s.ok()) return fail(Program, s);
  return ExitOk;
}

}  // namespace gt::bench
