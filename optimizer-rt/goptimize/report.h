// What was done: the text that ends a run, and the JSON of --report.
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "optimizer-rt/pool/counters.h"
#include "optimizer-rt/pool/plan.h"
#include "optimizer-rt/pool/policy.h"

namespace gt::opt {

struct SiteReport {
  std::string site;  // function and file:line, or module+offset
  std::string policy, why;
#define GT_SITE_COUNTER(name) uint64_t name = 0;
#include "optimizer-rt/pool/counters.def"
  // Of sizes that the profile did not see: all, and those from the pool.
  uint64_t other_sizes = 0, other_sizes_served = 0;
  double paid_s = 0;       // for pool blocks, pins, locks
  double saved_s = 0;      // by the curves' estimate of what the standard policy would have cost, less what was paid
  double predicted_s = 0;  // before the run
};

struct RunReport {
  std::string program, profile;
  std::string made_for;  // the program of the profile, if it is another one or another build; empty: it is this one
  std::string decision;  // one line: what was done, or why nothing was
  bool injected = false;
  bool only_asked = false;  // nothing was done but to learn what the program's devices cost: nothing is gained by that
  bool measured = false;  // there are costs to estimate by
  std::string unmeasured;  // what could not be measured, when and why; empty: nothing failed
  std::vector<SiteReport> sites;
#define GT_RUN_COUNTER(name, group, key, unit) uint64_t name = 0;
#include "optimizer-rt/pool/counters.def"
  double pages_saved_s = 0;  // by huge pages and by pages that were kept: an estimate (touch_costs.h)
  int node = -1;  // that the pools' memory was preferred from; -1: none
  std::string remote_urls;      // that were to be used; empty: none
  bool remote_first = false;    // in the program's list
  struct Moved {                // contents, between devices of one context
    uint64_t moves = 0, bytes = 0;
  };
  Moved moved_here, moved_by_devices, moved_directly, moved_through_us;  // memory::MoveCounts
  Moved known, missed, packed;  // of writes, likewise
  Moved unpacked;               // of reads
  std::vector<std::pair<std::string, uint64_t>> fallbacks;
};

// The sites before a run (or of a run without injection): no counters yet.
std::vector<SiteReport> planned_sites(const model::Profile& profile, const Decision& decision);
// Of more than MaxSites that are worth it the plan has not all: says so of the others, and counts them.
void leave_out(RunReport& report, const std::vector<size_t>& site_of_plan);
// Adds what the counters say. `site_of_plan` as in EncodedPlan.
void add_counters(RunReport& report, const Counters& counters,
                  const std::vector<size_t>& site_of_plan);

std::string report_json(const RunReport& report);
std::string report_text(const RunReport& report);
void print_report(const RunReport& report);  // on stderr
// One line: what was gained, or why nothing was.
std::string outcome(const RunReport& report);
double saved_s(const RunReport& report);  // all of it, less what it cost; but not what is estimated of pages
double staged_saved_s(const RunReport& report);  // against the curves
inline double seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }
Status write_report(const RunReport& report, const std::string& path);

}  // namespace gt::opt
