// A finding: something in the program that costs time and can be changed. And the rules that look
// for them.
//
// A rule speaks only when it is sure; saying nothing is better than saying something wrong. To add
// one: a file in rules/ with a function of type Rule, declared and listed at the end of this
// header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/dispatch_ratio.h"
#include "analyzer/transfer_sources.h"
#include "traces/model/event.h"
#include "traces/model/platform.h"

namespace gt::analyzer {

struct Finding {
  std::string rule;                // "pageable-transfers"
  std::string place;               // "allocate (harness.cc:63)"
  std::string evidence;            // the figures that it rests on
  std::optional<double> saving_s;  // for one run like the traced one
  std::string basis;               // what the saving assumes, or why there is none
  std::string advice;
};

// What rules look at. Everything outlives the call of a rule.
struct Findings {
  const model::Trace& trace;
  const DispatchRatio& ratio;
  const std::vector<TransferSource>& sources;
  const model::Platform* platform = nullptr;  // null: not measured
  CallSites& sites;
  std::vector<Finding>& out;

  uint64_t wall_ns() const;  // 0: not known
  const model::DeviceCosts* device_costs()
      const;  // of the first device of the trace that was measured
};

using Rule = void (*)(Findings&);
void find_pageable_transfers(Findings& f);
void find_small_transfers(Findings& f);
void find_repeated_builds(Findings& f);
void find_buffers_in_loop(Findings& f);
constexpr Rule Rules[] = {find_pageable_transfers, find_small_transfers, find_repeated_builds,
                          find_buffers_in_loop};

}  // namespace gt::analyzer
