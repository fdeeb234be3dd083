#include "transport/staging/agent.h"

#include <algorithm>
#include <utility>

#include "traces/base/clock.h"
#include "transport/staging/futex.h"
#include "transport/staging/thread.h"

namespace gt::staging {
namespace {

constexpr int Looks = 200;  // a placeholder on an idle queue opens within 5 us; a look takes about 0.1

// Between looks at placeholders that stay closed: about a twentieth of the time that was waited already.
long pause_ns(int looks) { return std::min(20'000L + 2'000L * looks, 1'000'000L); }

}  // namespace

bool Agent::reserve() noexcept {
  const MutexLock lock(mutex_);
  if (closed_ || reserved_ == Most) return false;
  if (!started_ && !start_detached("gtrace-agent", thread, this)) return false;
  started_ = true;
  ++reserved_;
  return true;
}

void Agent::cancel() noexcept {
  const MutexLock lock(mutex_);
  if (--reserved_ == 0) ::pthread_cond_broadcast(&idle_);
}

void Agent::post(const Job& job) noexcept {
  {
    const MutexLock lock(mutex_);
    jobs_[count_++] = job;
  }
  posts_.fetch_add(1);
  wake(posts_, 1);
}

void* Agent::thread(void* agent) {
  if (thread_begins) thread_begins();
  static_cast<Agent*>(agent)->serve();
  return nullptr;
}

// Only this thread removes jobs, so the driver is asked without the lock.
bool Agent::next_job(Job* job) noexcept {
  for (size_t i = 0;; ++i) {
    {
      const MutexLock lock(mutex_);
      if (i >= count_) return false;
      *job = jobs_[i];
    }
    {
      const MutexLock in_driver(in_driver_);
      if (job->placeholder.state(*job->cl) == QueuePlaceholder::State::Closed) continue;
    }
    const MutexLock lock(mutex_);
    std::copy(jobs_ + i + 1, jobs_ + count_, jobs_ + i);
    --count_;
    return true;
  }
}

void Agent::serve() noexcept {
  for (int looks = 0;; ++looks) {
    const uint32_t seen = posts_.load();
    Job job;
    if (next_job(&job)) {
      {
        const MutexLock in_driver(in_driver_);
        job.owner->run_in_background(job);
      }
      cancel();  // its place is free
      looks = 0;
      continue;
    }
    rounds_.fetch_add(1);
    if (looks >= Looks) {
      const timespec pause = {0, pause_ns(looks - Looks)};
      const bool idle = !has_jobs();
      wait_while(posts_, seen, idle ? nullptr : &pause);
      if (idle || posts_.load() != seen) looks = 0;
    }
  }
}

bool Agent::has_jobs() noexcept {
  const MutexLock lock(mutex_);
  return count_ > 0;
}

void Agent::wind_up(uint32_t timeout_ms) noexcept {
  const MutexLock lock(mutex_);
  closed_ = true;
  const timespec end = deadline_in_ms(timeout_ms);
  while (reserved_ > 0 && ::pthread_cond_timedwait(&idle_, mutex_.native_handle(), &end) == 0) continue;
}

void Agent::settle(uint32_t timeout_ms) noexcept {
  const timespec pause = {0, 50'000};
  const uint64_t end = monotonic_ns() + uint64_t{timeout_ms} * 1'000'000;
  const uint32_t before = rounds_.load();
  posts_.fetch_add(1);
  wake(posts_, 1);
  // Two: the first may have begun before.
  while (has_places() && rounds_.load() - before < 2 && monotonic_ns() < end) ::nanosleep(&pause, nullptr);
}

// Held from one call to the next.
void Agent::lock_for_fork(uint32_t timeout_ms) noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  const timespec end = deadline_in_ms(timeout_ms);
  locked_for_fork_ = ::pthread_mutex_timedlock(in_driver_.native_handle(), &end) == 0;
}

void Agent::unlock_after_fork() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  if (std::exchange(locked_for_fork_, false)) in_driver_.unlock();
}

bool Agent::has_places() noexcept {
  const MutexLock lock(mutex_);
  return reserved_ > 0;
}

}  // namespace gt::staging
