// The calls around an allocation: a stack walk that can be afforded at each large one.
//
// Steps from frame to frame by the unwind tables of the modules (.eh_frame), which every compiler writes and which do
// not need frame pointers. What the tables say of a return address is kept in a small table of the thread, so a warm
// step is two loads and three comparisons. The tables are found with _dl_find_object, which takes no lock. Stops,
// without a fault, at code that has no tables or unusual ones (JIT, hand-written assembly), at a signal handler's
// frame, at a function that the walk has been in before (recursion has no end that would tell uses apart), and as soon
// as an address is not on the thread's own stack: fibers and alternate signal stacks are not walked.
// Thread safety: yes; nothing is shared. Allocates nothing from the program's heap: one anonymous mapping a thread.
// Cost: about 10 ns a warm frame; 2 us a cold one (docs/decisions/0007-callers-of-large-allocations.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracer/lib/spool.h"

namespace gt::tracer {

struct Stack {
  uint64_t low = 0, high = 0;
};

// The return addresses around `site`, innermost first, as far as they can be known: their number.
// REQUIRES: `site` is the return address of one of the calling thread's innermost frames.
size_t find_frames(const void* site, const Stack& stack, std::span<uint64_t, MaxFrames> out);

// Drops what find_frames() keeps for the calling thread.
void forget_frames();

}  // namespace gt::tracer
