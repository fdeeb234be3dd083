// The dispatch ratio: how much time the devices spend in transfers for each second that they spend
// in kernels. Margiolas & O'Boyle, section 5: a program with a ratio of at least 0.1 is worth
// optimizing.
//
// Times are unions of intervals on each device's clock: commands that overlap count once. The program's are the sums
// over its devices, a context's over the devices that its queues run on. The verdict is on the whole program.
// Steady state: the same without the first timed execution of each call (a place in the code with one form of
// arguments). So it has neither set-up and warm-up nor what the program does only once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/code/call_site.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct Ratio {
  uint64_t transfer_ns = 0, kernel_ns = 0, overlap_ns = 0, h2d_ns = 0, d2h_ns = 0;
  uint64_t transfers = 0, kernels = 0;                      // timed
  uint64_t estimated_transfers = 0, estimated_kernels = 0;  // in the figures: timed ones stand for them
  uint64_t untimed_transfers = 0, untimed_kernels = 0;      // not in the figures
  uint64_t steady_transfer_ns = 0, steady_kernel_ns = 0, steady_overlap_ns = 0;

  bool defined() const { return transfer_ns > 0 || kernel_ns > 0; }
  // Infinity for transfers without kernels; 0 when there is nothing.
  double value() const;
  bool steady_defined() const { return steady_transfer_ns > 0 || steady_kernel_ns > 0; }
  double steady_value() const;
};
struct DeviceRatio {
  std::string device;
  Ratio ratio;
};
struct ObjectRatio {  // of a queue, or of a context on all its devices
  std::string name;   // as `gtrace show` names it: "q0"
  CallSite site;      // of the call that made it
  std::vector<std::string> devices;
  Ratio ratio;
};
struct DispatchRatio {
  Ratio program;  // sums over the devices
  std::vector<DeviceRatio> devices;
  std::vector<ObjectRatio> queues, contexts;  // most busy first; empty in traces of formats 1 and 2
  double min_ratio = 0.1;
  bool eligible = false;
  std::optional<double> share;  // part of the run in which devices worked; nothing: not known
  std::string sentence;   // explains the verdict to someone who has never heard of it
  std::string steady;     // the ratio of the steady state; empty when nothing ran twice
  std::string estimated;  // what is not measured in it; empty when all is
  std::string untimed;    // what is missing from it; empty when nothing is

  // Do the devices work for so little of the run that nothing done to them shows in it?
  bool hardly_runs() const { return share && *share < 0.01; }
};

// REQUIRES: a checked trace.
DispatchRatio find_dispatch_ratio(const model::Trace& trace, double min_ratio, CallSites& sites);

}  // namespace gt::analyzer
