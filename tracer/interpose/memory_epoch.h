// How often memory may have gone back without a call that we could look at: the stacks of threads, which the C library
// unmaps some time after they have ended, and libraries that were closed. Any thread: an atomic addition.
#pragma once

#include <atomic>
#include <cstdint>

namespace gt::interpose {

[[gnu::visibility("hidden")]] inline std::atomic<uint32_t> g_memory_epoch{0};

inline void begin_memory_epoch() noexcept { g_memory_epoch.fetch_add(1, std::memory_order_release); }

}  // namespace gt::interpose
