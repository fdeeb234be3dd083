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
  uint64_t allocations = 0, bytes = 0, fresh = 0;
  uint64_t left = 0, suspensions = 0;  // left to the C library while suspended
  // Of sizes that the profile did not see: all, and those from the pool.
  uint64_t other_sizes = 0, other_sizes_served = 0;
  uint64_t hits = 0, hit_bytes = 0;
  uint64_t pins = 0, pinned_bytes = 0, pin_ns = 0;
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
  uint64_t devices_met = 0, devices_known = 0;  // by the platform file
  std::vector<SiteReport> sites;
  uint64_t transfers = 0, transfer_bytes = 0;
  uint64_t staged = 0, staged_bytes = 0, staged_ns = 0;
  double staged_saved_s = 0;  // against the curves
  uint64_t staged_measured = 0, staged_measured_ns = 0, staged_driver_ns = 0;  // took; would have taken the driver
  uint64_t staged_left = 0, staged_suspensions = 0;  // to the driver, while it was suspended
  uint64_t drivers_own = 0, drivers_own_bytes = 0;  // transfers of memory that the driver mapped or was given
  uint64_t copies_alone = 0;  // of chunks, without help because the machine was busy
  uint64_t reused_blocks = 0, reused_bytes = 0, reused = 0, reuse_pin_ns = 0;  // pinned on reuse; its transfers
  double reused_saved_s = 0;                                                    // by the curves
  uint64_t returned_excess = 0, returned_short = 0, returned_idle = 0;  // bytes, as in Counters
  int node = -1;  // that the pools' memory was preferred from; -1: none
  uint64_t pinned_ranges = 0, pinned_bytes = 0, pin_ns = 0;
  std::string remote_urls;      // that were to be used; empty: none
  uint64_t remote_devices = 0;  // that the program saw
  uint64_t remote_contexts = 0;  // that it made of some
  bool remote_first = false;     // in its list
  struct Moved {                // contents, between devices of one context
    uint64_t moves = 0, bytes = 0;
  };
  Moved moved_here, moved_by_devices, moved_directly, moved_through_us;  // memory::MoveCounts
  uint64_t in_place = 0, in_place_bytes = 0;  // transfers of pool memory, by executors of this node
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
double saved_s(const RunReport& report);  // all of it, less what it cost
Status write_report(const RunReport& report, const std::string& path);

}  // namespace gt::opt
