// What the host's memory costs by itself: touching fresh pages, copying with several threads. Thread safety: none.
#pragma once

#include "microbench/base/sampler.h"
#include "traces/model/platform/platform.h"

namespace gt::bench {

struct HostResult {
  model::HostCosts costs;
  std::vector<Series> series;
};

// `most`: no block is larger; `threads`: copies are measured with up to so many.
Result<HostResult> measure_host(const std::vector<uint64_t>& sizes, uint64_t most, uint32_t threads, const Pace& pace);

}  // namespace gt::bench
