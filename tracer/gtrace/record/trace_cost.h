// What a trace takes, where that may surprise: how much, of what, and what makes it less.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "traces/model/fold/event.h"

namespace gt::tracer {

constexpr uint64_t LargeTrace = 32 << 20;  // bytes

// About the bytes that a trace's streams take in a file; the tables beside them are small.
struct TraceShares {
  uint64_t memory = 0, opencl = 0, timeline = 0;
};
TraceShares trace_shares(const model::Trace& trace);

// One line about the trace in `file`, without a full stop; "" where nothing is to be said: it is small, or as large as
// the user has let it become (--max-size), and its records were taken while the program ran. `late`: taking them took
// longer than the program, which has been said.
std::string trace_cost(const model::Trace& trace, const std::string& file, uint64_t bytes, bool late);

}  // namespace gt::tracer
