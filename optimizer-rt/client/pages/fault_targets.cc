#include "optimizer-rt/client/pages/fault_targets.h"

#include <sched.h>

#include <algorithm>
#include <new>
#include <vector>

#include "traces/base/mutex.h"
#include "traces/base/signals_blocked.h"

namespace gt::virt {
namespace {

using List = std::vector<FaultTarget*>;  // by address
constinit Mutex g_mutex;
constinit std::atomic<const List*> g_list{nullptr};
constinit std::atomic<uint32_t> g_readers{0};  // have signals blocked: they come to their end

size_t place_of(const List& list, uintptr_t address) {  // of the first that begins behind it
  const auto at =
      std::upper_bound(list.begin(), list.end(), address, [](uintptr_t a, const FaultTarget* t) { return a < t->low; });
  return static_cast<size_t>(at - list.begin());
}

void publish(const List* list) GT_REQUIRES(g_mutex) {
  const List* const old = g_list.exchange(list);
  while (g_readers.load() != 0) ::sched_yield();
  delete old;
}

}  // namespace

bool add_target(FaultTarget* target) {
  const SignalsBlocked quiet;
  const MutexLock lock(g_mutex);
  try {
    const List* const now = g_list.load();
    auto* const next = now ? new List(*now) : new List;
    next->insert(next->begin() + static_cast<ptrdiff_t>(place_of(*next, target->low)), target);
    publish(next);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void remove_target(FaultTarget* target) {
  const SignalsBlocked quiet;
  const MutexLock lock(g_mutex);
  const List* const now = g_list.load();
  if (!now || std::find(now->begin(), now->end(), target) == now->end()) return;  // in a child of fork()
  auto* const next = new List(*now);
  next->erase(std::find(next->begin(), next->end(), target));
  publish(next);
}

FaultTarget* pinned_target(uintptr_t address) noexcept {
  g_readers.fetch_add(1);
  FaultTarget* found = nullptr;
  if (const List* const list = g_list.load()) {
    const size_t place = place_of(*list, address);
    if (place > 0 && address < (*list)[place - 1]->high) found = (*list)[place - 1];
  }
  if (found) found->pins.fetch_add(1);
  g_readers.fetch_sub(1);
  return found;
}

void lock_targets() GT_NO_THREAD_SAFETY_ANALYSIS { g_mutex.lock(); }  // from one fork handler to the next

void unlock_targets(bool in_child) GT_NO_THREAD_SAFETY_ANALYSIS {
  if (in_child) {
    g_list.store(nullptr);
    g_readers.store(0);
  }
  g_mutex.unlock();
}

void each_target(void (*visit)(FaultTarget* target)) {
  if (const List* const list = g_list.load()) std::for_each(list->begin(), list->end(), visit);
}

}  // namespace gt::virt
