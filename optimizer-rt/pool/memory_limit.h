// How much memory this process may use: the machine's, or what its control groups leave it.
// Allocates nothing, leaves errno alone. Thread safety: all functions.
#pragma once

#include <cstddef>

#pragma GCC visibility push(hidden)

namespace gt::opt {

size_t memory_limit() noexcept;

// Of its addresses (ulimit -v). SIZE_MAX: none.
size_t address_space_limit() noexcept;

// The least limit of the process's control group and of those above it, of version 1 and 2, where they are usually
// mounted. SIZE_MAX: none. `root`: the folder that /proc and /sys are looked for in; "": the system's own.
size_t cgroup_memory_limit(const char* root) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
