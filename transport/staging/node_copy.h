// Large copies between the two ends of a link inside a node: shared out to threads of this process, which are made with
// the first of them and sleep between them. One core copies at 6 to 12 GB/s, a PCIe 5 link moves 55.
// Thread safety: any thread. noexcept: injected code uses it. A child of fork() copies alone.
#pragma once

#include <cstddef>

namespace gt::staging {

// The memory must not overlap.
void copy_in_node(void* to, const void* from, size_t bytes) noexcept;

}  // namespace gt::staging
