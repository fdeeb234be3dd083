// What we know of some handles, for as long as the program holds references to them.
//
// References are counted here, because what we hold, or the driver, would show in the driver's count; and because a
// driver's own notice of an object's end may come late.
// Invariant: an entry lives from add() until the program's last reference is released.
// Thread safety: all functions, but lock() and unlock(), which are for fork(): the child must not find the table locked
// by a thread that it does not have. Cost: one load and test while the table is empty.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include <CL/cl.h>

#include "traces/base/mutex.h"

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

  void lock() noexcept GT_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock() noexcept GT_RELEASE(mutex_) { mutex_.unlock(); }

  size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }
  bool is_empty() const noexcept { return size() == 0; }

  // With one reference. False: no room.
  bool add(Handle handle, const Facts& facts) noexcept {
    const MutexLock lock(mutex_);
    const size_t n = size();
    if (n == Most) return false;
    entries_[n] = {handle, facts, 1};
    count_.store(n + 1, std::memory_order_relaxed);
    return true;
  }
  // False: not one of ours; so with all below.
  bool look_up(Handle handle, Entry* out) noexcept {
    if (is_empty()) return false;
    const MutexLock lock(mutex_);
    const Entry* e = find(handle);
    if (e) *out = *e;
    return e != nullptr;
  }
  template <class Change>
  bool change(Handle handle, Change change) noexcept {
    if (is_empty()) return false;
    const MutexLock lock(mutex_);
    Entry* e = find(handle);
    if (e) change(*e);
    return e != nullptr;
  }
  // Is it true of one of them?
  template <class Test>
  bool any(Test test) noexcept {
    if (is_empty()) return false;
    const MutexLock lock(mutex_);
    return std::any_of(entries_, entries_ + size(), test);
  }
  bool retain(Handle handle) noexcept {
    return change(handle, [](Entry& e) { ++e.references; });
  }
  // True: it was the last reference, and `*out` what was known.
  bool release(Handle handle, Facts* out) noexcept {
    if (is_empty()) return false;
    const MutexLock lock(mutex_);
    Entry* e = find(handle);
    if (!e || --e->references > 0) return false;
    *out = e->facts;
    *e = entries_[size() - 1];
    count_.store(size() - 1, std::memory_order_relaxed);
    return true;
  }

 private:
  // The latest is asked for most.
  Entry* find(Handle handle) noexcept GT_REQUIRES(mutex_) {
    for (size_t i = size(); i-- > 0;)
      if (entries_[i].handle == handle) return &entries_[i];
    return nullptr;
  }

  Mutex mutex_;
  std::atomic<size_t> count_{0};  // written with the mutex; entries in use are the first
  Entry entries_[Most] GT_GUARDED_BY(mutex_) = {};
};

}  // namespace gt::opt

#pragma GCC visibility pop
