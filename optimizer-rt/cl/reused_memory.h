// Pin on reuse: memory that no site of the plan covers is pinned in place when its transfers have paid for it
// (pool/reused_blocks.h says when, and how a pin ends before its memory does).
// Thread safety: all functions. Cost: one load for each call; about 100 ns for each transfer of LeastStaged or more.
#pragma once

#include <CL/cl.h>

#include "optimizer-rt/cl/transfer_call.h"
#include "optimizer-rt/pool/counters.h"
#include "optimizer-rt/pool/reused_blocks.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

// True: the memory is pinned, so that the driver's own way is the fastest.
bool reuse(const TransferCall& call, Way way, const HostRange& range) noexcept;

// The program has let go of its context: the pins in it go first.
void stop_reusing(cl_context context) noexcept;

// Before a call of the program's reaches the driver: no pin of memory that is gone may be left.
void unpin_what_is_gone() noexcept;
inline void settle_pins() noexcept {
  if (__builtin_expect(!reused_blocks.is_settled(), 0)) unpin_what_is_gone();
}

}  // namespace gt::opt

#pragma GCC visibility pop
