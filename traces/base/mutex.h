// A mutex that clang's analysis knows (thread_safety.h), and what holds it for a scope.
// Cost: that of pthread_mutex_lock() and _unlock(); no exception, no allocation, nothing to destroy, so injected code
// may use it, also as a constinit global. It is not recursive.
//
// Which one holds it:
//   MutexLock                  from here to the end of the scope; nearly always
//   UniqueLock                 the same, but may be given up in between, and a std::condition_variable waits with it
//   std::unique_lock<Mutex>    held or not, or handed on: what the analysis cannot follow, so it may guard no member
#pragma once

#include <pthread.h>

#include <mutex>
#include <type_traits>

#include "traces/base/thread_safety.h"

namespace gt {

class GT_CAPABILITY("mutex") Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept GT_ACQUIRE() { ::pthread_mutex_lock(native_handle()); }
  void unlock() noexcept GT_RELEASE() { ::pthread_mutex_unlock(native_handle()); }
  bool try_lock() noexcept GT_TRY_ACQUIRE(true) { return ::pthread_mutex_trylock(native_handle()) == 0; }

  // What the analysis is to believe, where it cannot know better. Does nothing.
  void assert_held() const noexcept GT_ASSERT_HELD() {}

  // For pthread_cond_timedwait() and pthread_mutex_timedlock(), with the mutex's rules.
  pthread_mutex_t* native_handle() noexcept { return mutex_.native_handle(); }

 private:
  friend class UniqueLock;
  std::mutex mutex_;  // and no pthread_mutex_t, for std::condition_variable
};

static_assert(std::is_trivially_destructible_v<Mutex>);

class GT_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) noexcept GT_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  MutexLock(Mutex& mutex, std::adopt_lock_t) noexcept GT_REQUIRES(mutex) : mutex_(mutex) {}  // it is held, till here
  ~MutexLock() GT_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class GT_SCOPED_CAPABILITY UniqueLock {
 public:
  explicit UniqueLock(Mutex& mutex) GT_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~UniqueLock() GT_RELEASE() {}
  UniqueLock(const UniqueLock&) = delete;
  UniqueLock& operator=(const UniqueLock&) = delete;

  void lock() GT_ACQUIRE() { lock_.lock(); }
  void unlock() GT_RELEASE() { lock_.unlock(); }
  operator std::unique_lock<std::mutex>&() { return lock_; }  // what a std::condition_variable takes

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace gt
