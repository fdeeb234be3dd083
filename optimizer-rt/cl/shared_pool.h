// What the virtual platform learns of us: which of the pools' memory executors of this node may map, and the functions
// by which local contexts of its own come to staging and pins.
// Thread safety: all functions.
#pragma once

#include "optimizer-rt/client/base/optimizer.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

// Once, before the virtual platform has a context.
void meet_virtual_platform(virt::Meet meet) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
