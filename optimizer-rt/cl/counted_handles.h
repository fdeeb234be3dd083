// What we know of some handles, for as long as the program holds references to them.
//
// References are counted here, because what we hold, or the driver, would show in the driver's count; and because a
// driver's own notice of an object's end may come late.
// Invariant: an entry lives from add() until the program's last reference is released.
// Thread safety: all functions, but lock() and unlock(), which are for fork(): the child must not find the table locked
// by a thread that it does not have. Cost: one load and test while the table is empty.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include <CL/cl.h>

#include "traces/base/lock.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

template <class Handle, class Facts, size_t Most>
class CountedHandles {
 public:
  struct Entry {
    Handle handle = nullptr;
    Facts facts{};
    cl_uint references = 0;
  };
  constexpr CountedHandles() = default;

  void lock() noexcept { ::pthread_mutex_lock(&x_mutex); }
  void unlock() noexcept { ::pthread_mutex_unlock(&x_mutex); }

  size_t size() const noexcept { return x_count.load(std::memory_order_relaxed); }
  bool is_empty() const noexcept { return size() == 0; }

  // With one reference. False: no room.
  bool add(Handle handle, const Facts& facts) noexcept {
    const Lock lock(x_mutex);
    const size_t n = size();
    if (n == Most) return false;
    x_entries[n] = {handle, facts, 1};
    x_count.store(n + 1, std::memory_order_relaxed);
    return true;
  }
  // False: not one of ours; so with all below.
  bool look_up(Handle handle, Entry* out) noexcept {
    if (is_empty()) return false;
    const Lock lock(x_mutex);
    const Entry* e = find(handle);
    if (e) *out = *e;
    return e != nullptr;
  }
  template <class Change>
  bool change(Handle handle, Change change) noexcept {
    if (is_empty()) return false;
    const Lock lock(x_mutex);
    Entry* e = find(handle);
    if (e) change(*e);
    return e != nullptr;
  }
  // Is it true of one of them?
  template <class Test>
  bool any(Test test) noexcept {
    if (is_empty()) return false;
    const Lock lock(x_mutex);
    return std::any_of(x_entries, x_entries + size(), test);
  }
  bool retain(Handle handle) noexcept {
    return change(handle, [](Entry& e) { ++e.references; });
  }
  // True: it was the last reference, and `*out` what was known.
  bool release(Handle handle, Facts* out) noexcept {
    if (is_empty()) return false;
    const Lock lock(x_mutex);
    Entry* e = find(handle);
    if (!e || --e->references > 0) return false;
    *out = e->facts;
    *e = x_entries[size() - 1];
    x_count.store(size() - 1, std::memory_order_relaxed);
    return true;
  }

 private:
  // The latest is asked for most.
  Entry* find(Handle handle) noexcept {
    for (size_t i = size(); i-- > 0;)
      if (x_entries[i].handle == handle) return &x_entries[i];
    return nullptr;
  }

  pthread_mutex_t x_mutex = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<size_t> x_count{0};  // entries in use are the first
  Entry x_entries[Most] = {};
};

}  // namespace gt::opt

#pragma GCC visibility pop
