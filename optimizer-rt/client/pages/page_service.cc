#include "optimizer-rt/client/pages/page_service.h"

#include <atomic>
#include <cstddef>

#include "traces/base/mutex.h"
#include "traces/base/signals_blocked.h"
#include "transport/staging/thread.h"

namespace gt::virt {
namespace {

constexpr size_t MostThreads = 16;

constinit Mutex g_mutex;
PageTask* g_first GT_GUARDED_BY(g_mutex) = nullptr;
PageTask** g_last GT_GUARDED_BY(g_mutex) = &g_first;
size_t g_threads GT_GUARDED_BY(g_mutex) = 0;
size_t g_idle GT_GUARDED_BY(g_mutex) = 0;  // that wait, or are about to look
constinit std::atomic<int> g_posted{0};    // changes with each task

void* serve(void*);

void start_another() GT_REQUIRES(g_mutex) {
  if (g_threads == MostThreads || !staging::start_detached("gt-pages", &serve, nullptr)) return;
  ++g_threads;
  ++g_idle;
}

PageTask* take() {
  const MutexLock lock(g_mutex);
  PageTask* const task = g_first;
  if (!task) return nullptr;
  g_first = task->next;
  if (!g_first) g_last = &g_first;
  if (--g_idle == 0) start_another();
  return task;
}

void* serve(void*) {
  for (;;) {
    const int seen = g_posted.load();
    PageTask* const task = take();
    if (!task) {
      g_posted.wait(seen);
      continue;
    }
    task->run(task);
    const MutexLock lock(g_mutex);
    ++g_idle;
  }
}

}  // namespace

bool PageService::start() {
  const SignalsBlocked quiet;
  const MutexLock lock(g_mutex);
  if (g_threads == 0) start_another();
  return g_threads > 0;
}

void PageService::post(PageTask* task) {
  const SignalsBlocked quiet;
  const MutexLock lock(g_mutex);
  task->next = nullptr;
  *g_last = task;
  g_last = &task->next;
  g_posted.fetch_add(1);
  g_posted.notify_one();
}

void PageService::lock_for_fork() GT_NO_THREAD_SAFETY_ANALYSIS { g_mutex.lock(); }

void PageService::unlock_after_fork(bool in_child) GT_NO_THREAD_SAFETY_ANALYSIS {
  if (in_child) {
    g_first = nullptr;
    g_last = &g_first;
    g_threads = g_idle = 0;
  }
  g_mutex.unlock();
}

}  // namespace gt::virt
