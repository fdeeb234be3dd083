// Counting what travelled, or need not, for the report of goptimize. Thread safety: any thread.
#pragma once

#include "optimizer-rt/client/base/optimizer.h"
#include "transport/memory/move_counts.h"

namespace gt::virt {

inline void count_move(memory::MoveCounts::Way memory::MoveCounts::*way, uint64_t bytes) {
  if (const Optimizer* const us = optimizer()) (us->moves->*way).add(bytes);
}

}  // namespace gt::virt
