#include "transport/staging/agent.h"

#include <algorithm>
#include <utility>

#include "traces/base/clock.h"
#include "traces/base/lock.h"
#include "transport/staging/futex.h"
#include "transport/staging/thread.h"

namespace gt::staging {
namespace {

constexpr int Looks = 200;  // a placeholder on an idle queue opens within 5 us; a look takes about 0.1

// Between looks at placeholders that stay closed: about a twentieth of the time that was waited already.
long pause_ns(int looks) { return std::min(20'000L + 2'000L * looks, 1'000'000L); }

}  // namespace

bool Agent::reserve() noexcept {
  const Lock lock(x_mutex);
  if (x_closed || x_reserved == Most) return false;
  if (!x_started && !start_detached("gtrace-agent", thread, this)) return false;
  x_started = true;
  ++x_reserved;
  return true;
}

void Agent::cancel() noexcept {
  const Lock lock(x_mutex);
  if (--x_reserved == 0) ::pthread_cond_broadcast(&x_idle);
}

void Agent::post(const Job& job) noexcept {
  {
    const Lock lock(x_mutex);
    x_jobs[x_count++] = job;
  }
  x_posts.fetch_add(1);
  wake(x_posts, 1);
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
      const Lock lock(x_mutex);
      if (i >= x_count) return false;
      *job = x_jobs[i];
    }
    {
      const Lock in_driver(x_in_driver);
      if (job->placeholder.state(*job->cl) == QueuePlaceholder::State::Closed) continue;
    }
    const Lock lock(x_mutex);
    std::copy(x_jobs + i + 1, x_jobs + x_count, x_jobs + i);
    --x_count;
    return true;
  }
}

void Agent::serve() noexcept {
  for (int looks = 0;; ++looks) {
    const uint32_t seen = x_posts.load();
    Job job;
    if (next_job(&job)) {
      {
        const Lock in_driver(x_in_driver);
        job.owner->run_in_background(job);
      }
      cancel();  // its place is free
      looks = 0;
      continue;
    }
    x_rounds.fetch_add(1);
    if (looks >= Looks) {
      const timespec pause = {0, pause_ns(looks - Looks)};
      const bool idle = !has_jobs();
      wait_while(x_posts, seen, idle ? nullptr : &pause);
      if (idle || x_posts.load() != seen) looks = 0;
    }
  }
}

bool Agent::has_jobs() noexcept {
  const Lock lock(x_mutex);
  return x_count > 0;
}

void Agent::wind_up(uint32_t timeout_ms) noexcept {
  const Lock lock(x_mutex);
  x_closed = true;
  const timespec end = deadline_in_ms(timeout_ms);
  while (x_reserved > 0 && ::pthread_cond_timedwait(&x_idle, &x_mutex, &end) == 0) continue;
}

void Agent::settle(uint32_t timeout_ms) noexcept {
  const timespec pause = {0, 50'000};
  const uint64_t end = monotonic_ns() + uint64_t{timeout_ms} * 1'000'000;
  const uint32_t before = x_rounds.load();
  x_posts.fetch_add(1);
  wake(x_posts, 1);
  // Two: the first may have begun before.
  while (has_places() && x_rounds.load() - before < 2 && monotonic_ns() < end) ::nanosleep(&pause, nullptr);
}

void Agent::lock_for_fork(uint32_t timeout_ms) noexcept {
  const timespec end = deadline_in_ms(timeout_ms);
  x_locked_for_fork = ::pthread_mutex_timedlock(&x_in_driver, &end) == 0;
}

void Agent::unlock_after_fork() noexcept {
  if (std::exchange(x_locked_for_fork, false)) ::pthread_mutex_unlock(&x_in_driver);
}

bool Agent::has_places() noexcept {
  const Lock lock(x_mutex);
  return x_reserved > 0;
}

}  // namespace gt::staging
