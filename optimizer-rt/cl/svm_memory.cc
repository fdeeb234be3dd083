#include "optimizer-rt/cl/svm_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "optimizer-rt/cl/queues.h"
#include "traces/base/mutex.h"

namespace gt::opt {
namespace {

struct Allocation {
  uintptr_t base = 0, end = 0;
  cl_context context = nullptr;
};

constexpr size_t Most = 4096;
constinit Mutex g_mutex;
constinit Allocation g_list[Most] GT_GUARDED_BY(g_mutex) = {};  // by address; the first g_count
constinit std::atomic<size_t> g_count{0};
// There were more than Most: what is not in the list may be such memory, too.
constinit bool g_lost_some GT_GUARDED_BY(g_mutex) = false;

Allocation* end_of_list() GT_REQUIRES(g_mutex) { return g_list + g_count.load(std::memory_order_relaxed); }
// The first that ends behind `address`.
Allocation* find(uintptr_t address) GT_REQUIRES(g_mutex) {
  return std::partition_point(g_list, end_of_list(), [&](const Allocation& a) { return a.end <= address; });
}

enum class Kind { Host, Shared, Unclear };

Kind kind_of(cl_context context, const void* p, size_t bytes) GT_REQUIRES(g_mutex) {
  const auto base = reinterpret_cast<uintptr_t>(p);
  const Allocation* const a = find(base);
  if (a == end_of_list() || a->base >= base + bytes) return Kind::Host;
  return a->context == context && a->base <= base && base + bytes <= a->end ? Kind::Shared : Kind::Unclear;
}

}  // namespace

void svm_allocated(cl_context context, const void* p, size_t bytes) noexcept {
  svm_freed(p);  // an end that nobody told
  const auto base = reinterpret_cast<uintptr_t>(p);
  const MutexLock lock(g_mutex);
  if (g_count.load(std::memory_order_relaxed) == Most) {
    g_lost_some = true;
    return;
  }
  Allocation* const at = find(base);
  std::move_backward(at, end_of_list(), end_of_list() + 1);
  *at = {base, base + bytes, context};
  g_count.fetch_add(1, std::memory_order_relaxed);
}

void svm_freed(const void* p) noexcept {
  if (!p || g_count.load(std::memory_order_relaxed) == 0) return;
  const auto base = reinterpret_cast<uintptr_t>(p);
  const MutexLock lock(g_mutex);
  Allocation* const at = find(base);
  if (at == end_of_list() || at->base != base) return;
  std::move(at + 1, end_of_list(), at);
  g_count.fetch_sub(1, std::memory_order_relaxed);
}

void svm_left(cl_context context) noexcept {
  if (g_count.load(std::memory_order_relaxed) == 0) return;
  const MutexLock lock(g_mutex);
  Allocation* const end = std::remove_if(g_list, end_of_list(), [&](const auto& a) { return a.context == context; });
  g_count.store(static_cast<size_t>(end - g_list), std::memory_order_relaxed);
}

bool copy_of_svm(cl_command_queue queue, const void* to, const void* from, size_t bytes, staging::Way* way) noexcept {
  QueueEntry q;
  const uintptr_t last = UINTPTR_MAX - bytes;
  const bool sound = reinterpret_cast<uintptr_t>(to) <= last && reinterpret_cast<uintptr_t>(from) <= last;
  if (bytes == 0 || !sound || g_count.load(std::memory_order_relaxed) == 0 || !look_up_queue(queue, &q)) return false;
  const MutexLock lock(g_mutex);
  if (g_lost_some) return false;
  const Kind there = kind_of(q.context, to, bytes), here = kind_of(q.context, from, bytes);
  *way = there == Kind::Shared ? staging::Way::ToDevice : staging::Way::ToHost;
  return (there == Kind::Shared && here == Kind::Host) || (there == Kind::Host && here == Kind::Shared);
}

bool is_svm(const void* p) noexcept {
  if (g_count.load(std::memory_order_relaxed) == 0) return false;
  const auto address = reinterpret_cast<uintptr_t>(p);
  const MutexLock lock(g_mutex);
  const Allocation* const a = find(address);
  return a != end_of_list() && a->base <= address;
}

// Held from one call to the next.
void lock_svm_memory() noexcept GT_NO_THREAD_SAFETY_ANALYSIS { g_mutex.lock(); }
void unlock_svm_memory() noexcept GT_NO_THREAD_SAFETY_ANALYSIS { g_mutex.unlock(); }

}  // namespace gt::opt
