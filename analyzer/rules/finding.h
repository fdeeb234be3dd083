// A finding: something in the program that costs time and can be changed. And the rules that look
// for them, which find_all() (find_all.h) runs.
//
// A rule speaks only when it is sure; saying nothing is better than saying something wrong. To add
// one: a file in rules/ with a function of type Rule, declared and listed at the end of this
// header. What rules look at: the plans of shapes (call_plan.h), the call nodes with their loops
// (node_walk.h), calls in order (replay.h, and what was found by it: send_flow.h, wait_flow.h), and
// the sums in Trace::stats. What a finding is worth: saving.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/calls/call_plan.h"
#include "analyzer/calls/kernel_facts.h"
#include "analyzer/rules/map_flow.h"
#include "analyzer/rules/send_flow.h"
#include "analyzer/rules/wait_flow.h"
#include "analyzer/transfers/dispatch_ratio.h"
#include "analyzer/transfers/transfer_sources.h"
#include "traces/model/fold/event.h"
#include "traces/model/platform/platform.h"

namespace gt::analyzer {

struct Finding {
  std::string rule;                // "pageable-transfers"
  std::string place;               // "allocate (harness.cc:63)"
  std::string evidence;            // the figures that it rests on
  std::optional<double> saving_s;  // for one run like the traced one
  std::string basis;               // what the saving assumes, or why there is none
  std::string advice;
  std::vector<model::ShapeId> calls;  // whose time the saving is part of
  bool by_goptimize = false;          // so it is part of what goptimize can reach of the run
};

// What rules look at. Everything outlives the call of a rule.
struct Findings {
  const model::Trace& trace;
  const DispatchRatio& ratio;
  const std::vector<TransferSource>& sources;
  const model::Platform* platform = nullptr;  // null: not measured
  CallSites& sites;
  const std::vector<KernelFacts>& kernels;
  const bool on_host;  // the devices work in the host's own memory
  const CallPlans& plans;
  const std::vector<SendFacts>& sends;  // by shape
  const std::vector<WaitFacts>& waits;  // by shape
  const std::vector<MapFacts>& maps;    // by shape
  std::vector<Finding>& out;

  uint64_t wall_ns() const;                        // 0: not known
  const model::DeviceCosts* device_costs() const;  // of the first device of the trace that was measured
};

using Rule = void (*)(Findings&);
void find_pageable_transfers(Findings& f);
void find_small_transfers(Findings& f);
void find_repeated_builds(Findings& f);
void find_buffers_in_loop(Findings& f);
void find_repeated_sends(Findings& f);
void find_unread_sends(Findings& f);
void find_returned_results(Findings& f);
void find_idle_waits(Findings& f);
void find_copying_maps(Findings& f);
void find_missed_overlap(Findings& f);
void find_first_touch(Findings& f);
void find_allocation_churn(Findings& f);
void find_round_trips(Findings& f);
void find_access_flags(Findings& f);
void find_unused_buffers(Findings& f);
constexpr Rule Rules[] = {find_pageable_transfers, find_small_transfers, find_repeated_builds,  find_buffers_in_loop,
                          find_repeated_sends,     find_unread_sends,    find_returned_results, find_idle_waits,
                          find_copying_maps,       find_missed_overlap,  find_first_touch,      find_allocation_churn,
                          find_round_trips,        find_access_flags,    find_unused_buffers};

}  // namespace gt::analyzer
