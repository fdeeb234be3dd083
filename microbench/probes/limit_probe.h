// The least time and the highest rate of each thing a device does, waited for one by one (sync) and in rows (async):
// the table of ExpEther's evaluation. Transfers go from and to the driver's own memory. Thread safety: none.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "microbench/base/cl_session.h"
#include "microbench/base/sampler.h"

namespace gt::bench {

enum class Work : uint8_t { HtoD, DtoH, DtoD, Launch, Count };
constexpr size_t WorkCount = static_cast<size_t>(Work::Count);
constexpr std::array<std::string_view, WorkCount> WorkNames = {"HtoD", "DtoH", "DtoD", "kernel"};

struct Limit {
  double latency_ns = 0;   // of the smallest: 4 bytes, an empty kernel
  double bytes_per_s = 0;  // of the best size; a kernel: what it reads
};
struct Limits {
  std::optional<Limit> sync, async;  // nothing: the device cannot do it
};
using LimitTable = std::array<Limits, WorkCount>;

// `most`: the largest transfer. An error when the device failed.
Result<LimitTable> measure_limits(const Session& session, uint64_t most, bool quick, const Pace& pace);

}  // namespace gt::bench
