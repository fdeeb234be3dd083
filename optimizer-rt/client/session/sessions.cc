#include "optimizer-rt/client/session/sessions.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "optimizer-rt/client/base/optimizer.h"
#include "optimizer-rt/client/base/serial_thread.h"
#include "traces/base/mutex.h"

namespace gt::virt {
namespace {

// Never taken apart, so that a child of fork() can walk along it without a lock.
struct Link {
  Session* session;
  Link* next;
};
std::atomic<Link*> g_first{nullptr};

template <class Visit>
void each_session(Visit visit) {
  for (const Link* l = g_first.load(std::memory_order_acquire); l; l = l->next) visit(*l->session);
}

// Commands under way may end first: what kernels print then is the program's output, and a driver that is torn away
// from them may take its process along.
class UnderWay {
 public:
  void begins() {
    const MutexLock lock(mutex_);
    ++sessions_;
  }
  void ends() {
    const MutexLock lock(mutex_);
    --sessions_;
    changed_.notify_all();
  }
  void wait_for(std::chrono::milliseconds timeout) {
    UniqueLock lock(mutex_);
    changed_.wait_for(lock, timeout, [this]() GT_REQUIRES(mutex_) { return sessions_ == 0; });
  }

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  int sessions_ GT_GUARDED_BY(mutex_) = 0;
};

// The sessions stay: other exit handlers of the program may come later, and its threads still run.
void at_exit() {
  constexpr std::chrono::milliseconds Timeout{2000};
  const auto under_way = std::make_shared<UnderWay>();
  each_session([&](Session& s) {
    under_way->begins();
    if (!s.finish_all([under_way] { under_way->ends(); })) under_way->ends();
  });
  under_way->wait_for(Timeout);
  each_session([](Session& s) { s.leave(); });
}
void in_child() {
  each_session([](Session& s) { s.forget(); });
  forget_threads();
}

void add(Session* session) {
  static std::once_flag once;
  std::call_once(once, [] {
    const Optimizer* const us = optimizer();  // preloaded, it comes after the program's own handlers
    if (!us || !us->at_process_end(&at_exit)) std::atexit(&at_exit);
    ::pthread_atfork(nullptr, nullptr, &in_child);
  });
  auto* const link = new Link{session, g_first.load()};
  while (!g_first.compare_exchange_weak(link->next, link)) {
  }
}

}  // namespace

Result<Session*> open_session(Connection connection, wire::Surveyed& surveyed) {
  auto* session = new Session(std::move(connection));
  Result<wire::Surveyed> told = session->begin();
  if (!told.ok()) return told.status();
  surveyed = std::move(*told);
  add(session);
  return session;
}

bool deregister_everywhere(const void* base, size_t bytes) {
  bool all = true;
  each_session([&](Session& s) {
    all = all && (!s.shares_memory() || s.registered_memory().deregister(s.link(), base, bytes));
  });
  return all;
}

}  // namespace gt::virt
