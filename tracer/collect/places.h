// Which object an address lies in, and where in it. Every address gets an answer.
//
// Thread safety: none. Cost: a look-up in a hash map for the beginning of a live block; more for what lies within one,
// on a stack, in static data.
#pragma once

#include <memory>
#include <vector>

#include "tracer/collect/trace_tables.h"
#include "tracer/collect/traced_thread.h"

namespace gt::tracer {

class Places {
 public:
  // Both must outlive it. `threads`: of all processes.
  Places(TraceTables& tables, const std::vector<std::unique_ptr<TracedThread>>& threads)
      : tables_(tables), threads_(threads) {}

  // `stack_pointer`: of the frame by which what lies on the thread's own stack is named.
  Place of(const TracedThread& thread, uint64_t address, uint64_t stack_pointer);
  Place of(const TracedThread& thread, uint64_t address) { return of(thread, address, thread.pending.stack_pointer); }

 private:
  TraceTables& tables_;
  const std::vector<std::unique_ptr<TracedThread>>& threads_;
};

}  // namespace gt::tracer
