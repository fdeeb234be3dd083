// Calls that the traced processes counted instead of recording them (gtrace run --no-memory-detail): gathers the tables
// of the rings (tracer/lib/call_counts.h), whose threads come and go.
//
// Thread safety: none; the rings' threads may go on counting.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "tracer/collect/trace_tables.h"
#include "tracer/lib/call_counts.h"
#include "traces/model/folded/memory_detail.h"

namespace gt::tracer {

class CountedCalls {
 public:
  explicit CountedCalls(TraceTables& tables) : tables_(tables) {}
  // What a ring of the process has counted so far.
  void take(TracedProcess& process, const CallCounts& counts);
  // As rows of the trace, which get their sites; of processes that are not listed only the sum, in `unlisted`.
  model::MemoryDetail rows(const std::function<bool(const TracedProcess&)>& listed, uint64_t& unlisted);

 private:
  struct Sum {
    uint64_t calls = 0, bytes = 0;
    void add(const CallCount& count);
  };
  struct OfProcess {
    TracedProcess* process = nullptr;
    std::map<uint64_t, Sum> sums;  // by key; 0: the others
  };
  TraceTables& tables_;
  std::map<uint32_t, OfProcess> processes_;  // by index
};

// For the next thread. REQUIRES: nobody owns the ring.
void clear(CallCounts& counts);

}  // namespace gt::tracer
