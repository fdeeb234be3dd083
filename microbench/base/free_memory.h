// How much memory this process may still take without hurting anybody. Thread safety: pure, of files.
#pragma once

#include <cstdint>
#include <string>

namespace gt::bench {

// The least of what the system has available, what the cgroups above us leave (version 2, or the memory controller of
// version 1), and what RLIMIT_AS leaves. `root`: where /proc and /sys are, for tests.
uint64_t free_memory(const std::string& root = "");

}  // namespace gt::bench
