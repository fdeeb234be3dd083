// gmicrobench calls: what each OpenCL call costs on every device, side by side.
#include <CLI/CLI.hpp>

#include "microbench/commands/command_parts.h"
#include "microbench/commands/commands.h"
#include "microbench/base/interrupt.h"
#include "microbench/report/calls_report.h"
#include "traces/base/command.h"

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

}  // namespace

int calls_command(int argc, char** argv) {
  CommandLine line("gmicrobench calls",
                   "Measures what each OpenCL call costs on this machine's devices, and on the remote ones.");
  const Options& options = line.options();
  if (const auto status = line.parse(argc, argv)) return *status;
  const auto devices = chosen_devices(options);
  if (!devices) return fail(Program, devices.status());
  const InterruptGuard guard;
  const bool quick = options.flag("quick");
  const Goal goal = quick ? Goal{0.05, 3, 30} : Goal{0.02, 5, 200};
  const auto result = measure_each<DeviceCalls>(
      *devices, quick ? QuickBudget_s : FullBudget_s,
      [&](const Device& device, double budget_s, const Tell& tell, DeviceCalls& out) {
        return measure_into(device, {budget_s, goal, tell}, out.costs);
      });
  if (const auto status = early_end(result)) return *status;
  const Status printed = print_text(options.flag("json") ? calls_json(result) : calls_table(result));
  return printed.ok() ? ExitOk : fail(Program, printed);
}

}  // namespace gt::bench
