// Whose turn it is to receive on a channel inside a node: its own thread's, or for a while that of a thread that waits
// for a frame, the helper, which so is not woken by the other but by the peer.
//
//   bell.asleep   whom the peer wakes: the helper while there is one and it sleeps, else the channel's thread if asleep
//
// Who receives holds the lock, and lets go of it to sleep. While a helper is at it the channel's thread sleeps on, so
// that a program that waits for one answer after the other wakes nobody but the peer, and the peer nobody but it.
// Rule: who changes whom the bell wakes looks at the ring again afterwards.
// Thread safety: what REQUIRES the lock, with it; the rest from any thread.
#pragma once

#include <pthread.h>

#include <mutex>

#include "traces/base/mutex.h"
#include "transport/link/base/spin_policy.h"
#include "transport/link/node/ring.h"

namespace gt::wire {

class ShmTurn {
 public:
  enum class Who : uint32_t { Thread = 1, Helper = 2 };
  using Lock = std::unique_lock<Mutex>;  // tried, and handed on: what the analysis cannot follow

  explicit ShmTurn(Bell& mine) : bell_(mine) {}

  Lock take() { return Lock(mutex_); }
  Lock try_to_take() { return Lock(mutex_, std::try_to_lock); }
  uint32_t rung() const { return bell_.rung.load(std::memory_order_seq_cst); }
  Bell& bell() { return bell_; }
  // The helper looks again whether what it waits for is there.
  void wake_helper();
  // Wakes who sleeps on this side, whoever it is.
  void wake_all() { ring_bell(bell_, EveryBit); }

  // --- REQUIRES the lock ---
  // This thread is the helper from now on, if it is not already. False: another one is, or the channel is over.
  bool begin_help();
  void end_help();
  void close() { over_ = true; }
  // Until the bell was rung after `seen` was read from it, or some time. Not holding the lock meanwhile.
  void sleep(Lock& lock, Who who, uint32_t seen, uint64_t most_ns);

  // Whether this thread is the helper, whether it is in a handler.
  bool is_helper() const { return helper_.load(std::memory_order_relaxed) == ::pthread_self(); }
  bool is_delivering() const { return delivering_.load(std::memory_order_relaxed) && is_helper(); }
  void set_delivering(bool yes) { delivering_.store(yes, std::memory_order_relaxed); }

  SpinPolicy thread_spins, helper_spins;

 private:
  void show();

  Bell& bell_;
  Mutex mutex_;
  bool over_ = false, thread_sleeps_ = false, helper_sleeps_ = false;
  std::atomic<pthread_t> helper_{};  // 0: none
  std::atomic<bool> delivering_{false};
};

}  // namespace gt::wire
