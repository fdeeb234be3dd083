// Where the calling thread's stack lies, found without the C library.
//
// Not by pthread_getattr_np(): that one allocates while it holds the thread's lock, and a program that calls it comes
// to our hooks by that very allocation (docs/decisions/0023-what-a-hook-may-call.md). So the kernel's list of mappings
// is read instead. The first thread's stack may grow as far as the limit and the mapping below allow; another thread's
// is the mapping that its control block lies in, up to the end of that block.
// Thread safety: yes. Takes no lock, allocates nothing. Cost: one read of /proc/self/maps.
#pragma once

#include "tracer/lib/frames.h"

namespace gt::tracer {

// [0, 0): it cannot be known. `first`: the thread is its process's first.
Stack own_stack(bool first);

}  // namespace gt::tracer
