// A thread that runs the transfers which programs do not wait for.
//
// Jobs begin when their placeholder's `before` is done, in the order of arrival among those that may: a job whose turn
// in its queue has not come holds up no other. There is one agent for each direction, so that both overlap.
// Placeholders are looked at again and again, ever more rarely: some drivers deliver callbacks milliseconds late, and a
// thread that waits for one placeholder cannot see another open.
//
// Thread safety: all functions. The thread starts with the first job and stays; wind_up() is for the end of the
// process, before the driver goes away.
#pragma once

#include <pthread.h>

#include <atomic>

#include "traces/base/mutex.h"
#include "transport/staging/host_transfer.h"
#include "transport/staging/queue_placeholder.h"

namespace gt::staging {

class Agent {
 public:
  constexpr Agent() = default;

  class Owner;
  struct Job {
    Owner* owner = nullptr;
    const ClFunctions* cl = nullptr;  // to look at the placeholder
    QueuePlaceholder placeholder;
    HostTransfer transfer;
    bool published = false, timed = false;
  };
  // Who posts jobs, and what they do when their placeholder is open (or has failed): on the agent's thread, in the
  // driver.
  class Owner {
   public:
    virtual void run_in_background(const Job& job) noexcept = 0;

   protected:
    ~Owner() = default;  // nobody deletes it through this; and it stays trivial, for objects that live for ever
  };
  // Keeps a place for one job, which post() then fills: then the job must not be refused any more. False: no thread,
  // no room, or the process is ending.
  bool reserve() noexcept;
  void cancel() noexcept;
  void post(const Job& job) noexcept;
  // Takes no more jobs; waits up to `timeout_ms` until none is left. What can never begin stays, as it would without
  // us.
  void wind_up(uint32_t timeout_ms) noexcept;
  // Waits up to `timeout_ms` until it was seen that no job runs and none may begin: nothing is copied then.
  void settle(uint32_t timeout_ms) noexcept;
  // From lock_for_fork() to unlock_after_fork() (in parent and child) the thread is not inside the driver, whose locks
  // it would hold for ever in the child. Waits up to `timeout_ms` for it; then the fork goes on all the same.
  void lock_for_fork(uint32_t timeout_ms) noexcept;
  void unlock_after_fork() noexcept;

 private:
  static constexpr size_t Most = 256;

  static void* thread(void* agent);
  void serve() noexcept;
  bool next_job(Job* job) noexcept;  // one that may begin; false: none
  bool has_jobs() noexcept;
  bool has_places() noexcept;

  Mutex mutex_;
  Mutex in_driver_;  // held by the thread while it calls the driver
  bool locked_for_fork_ = false;  // of the thread that forks
  pthread_cond_t idle_ = PTHREAD_COND_INITIALIZER;
  bool started_ GT_GUARDED_BY(mutex_) = false, closed_ GT_GUARDED_BY(mutex_) = false;
  std::atomic<uint32_t> posts_{0};
  std::atomic<uint32_t> rounds_{0};  // looks at all jobs by which none could begin
  size_t reserved_ GT_GUARDED_BY(mutex_) = 0;  // places kept, filled or not, and the job that runs
  size_t count_ GT_GUARDED_BY(mutex_) = 0;
  Job jobs_[Most] GT_GUARDED_BY(mutex_);  // the first count_, in the order of arrival
};

}  // namespace gt::staging
