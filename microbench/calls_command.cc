// gmicrobench calls: what each OpenCL call costs on every device, side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "microbench/command_parts.h"
#include "microbench/commands.h"
#include "microbench/interrupt.h"
#include "microbench/report/calls_report.h"
#include "traces/base/command.h"
#include "traces/base/progress.h"

namespace gt::bench {
namespace {

constexpr double QuickBudget_s = 6, FullBudget_s = 30;

Status measure_into(const Device& device, const Pace& pace, CallCosts& out) {
  const auto session = Session::open(device);
  if (!session) return session.status();
  Result<CallCosts> costs = measure_calls(**session, pace);
  if (costs) out = *costs;
  return costs.status();
}

std::vector<DeviceCalls> measure(const std::vector<Device>& devices, bool quick) {
  constexpr double Steps = 1000;
  Progress progress("measuring", static_cast<uint64_t>(Steps), std::chrono::milliseconds(0));
  std::vector<DeviceCalls> out;
  const double count = static_cast<double>(devices.size());
  for (const Device& d : devices) {
    const double done = static_cast<double>(out.size());
    out.push_back({d.platform, d.name, d.driver, {}, {}});
    const Pace pace{(quick ? QuickBudget_s : FullBudget_s) / count, quick ? Goal{0.05, 3, 30} : Goal{0.02, 5, 200},
                    [&](double part) {
                      progress.show("measuring " + d.name, static_cast<uint64_t>((done + part) / count * Steps));
                    }};
    out.back().error = measure_into(d, pace, out.back().costs).text();
    if (interrupted()) break;
  }
  return out;
}

}  // namespace

int calls_command(int argc, char** argv) {
  CLI::App app("Measures what each OpenCL call costs on this machine's devices, and on the remote ones.",
               "gmicrobench calls");
  const Options options(app, "gmicrobench calls");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  const auto devices = chosen_devices(options);
  if (!devices) return fail(Program, devices.status());
  const InterruptGuard guard;
  const std::vector<DeviceCalls> result = measure(*devices, options.flag("quick"));
  if (interrupted()) return end_interrupted();
  const auto failed = [](const DeviceCalls& d) { return !d.error.empty(); };
  if (std::all_of(result.begin(), result.end(), failed))
    return fail(Program, Status(Kind::Unsupported, result.front().name + ": " + result.front().error));
  for (const DeviceCalls& d : result)
    if (failed(d)) fmt::print(stderr, "{}: {}: {}\n", Program, d.name, d.error);
  const Status printed = print_text(options.flag("json") ? calls_json(result) : calls_table(result));
  return printed.ok() ? ExitOk : fail(Program, printed);
}

}  // namespace gt::bench
