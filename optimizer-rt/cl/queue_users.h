// Does more than one thread of the program put commands into queues? While it is one only, nothing can come between two
// commands that we enqueue for one of the program's.
// Thread safety: all functions. Cost: one load and comparison.
#pragma once

#include <atomic>

#include "traces/base/reentry.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

extern std::atomic<const void*> first_queue_user;  // by the address of its thread-local flags
extern std::atomic<bool> several_queue_users;

inline void note_queue_user() noexcept {
  const void* const me = &t_flags;
  const void* first = first_queue_user.load(std::memory_order_relaxed);
  if (__builtin_expect(first == me, 1)) return;
  if (first || !first_queue_user.compare_exchange_strong(first, me)) several_queue_users.store(true);
}

}  // namespace gt::opt

#pragma GCC visibility pop
