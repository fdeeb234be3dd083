// What each call really does to each object, once the kernels' sources are read.
//
// The tracer lets a launch use and define every buffer that is bound to its kernel. Here a buffer
// that the kernel only reads is used, and one that it does not touch has no effect at all:
//   launch vadd(a, b, c)   recorded: a, b, c use and define    refined: a, b use; c uses and defines
// What a kernel writes stays used and defined, even where it reads none of it: it may leave a part
// as it was. A kernel whose source is not known, or that may be one of several, keeps what was
// recorded: an effect is only taken away when it cannot happen.
#pragma once

#include <vector>

#include "analyzer/calls/kernel_facts.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

// Parallel to trace.shapes, and each element to the shape's args. REQUIRES: a checked trace.
std::vector<std::vector<model::Effect>> refine_effects(const model::Trace& trace,
                                                       const std::vector<KernelFacts>& kernels);

}  // namespace gt::analyzer
