#include "optimizer-rt/cl/coming_bytes.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "optimizer-rt/pool/runtime.h"
#include "traces/base/mutex.h"

namespace gt::opt {
namespace {

struct Coming {
  uintptr_t begin = 0, end = 0;
  cl_command_queue queue = nullptr;  // nullptr: of several, over when all are forgotten
  cl_event event = nullptr;
  bool in_order = false;
};

constexpr size_t Most = 128;
constinit Mutex g_mutex;
constinit Coming g_coming[Most] GT_GUARDED_BY(g_mutex) = {};  // the first g_count, in the order of the calls
constinit std::atomic<size_t> g_count{0};  // written with the mutex

// No room: the last one stands for this one, too.
void merge(Coming& last, const Coming& c) {
  last.begin = std::min(last.begin, c.begin);
  last.end = std::max(last.end, c.end);
  last.event = nullptr;
  if (last.queue != c.queue) last.queue = nullptr;
}

}  // namespace

bool any_coming() noexcept { return g_count.load(std::memory_order_acquire) != 0; }

void bytes_come(cl_command_queue queue, bool in_order, cl_event event, const HostRange& range) noexcept {
  if (range.bytes == 0 || runtime.in_forked_child()) return;
  const auto begin = reinterpret_cast<uintptr_t>(range.base);
  const Coming c{begin, begin + range.span, queue, event, in_order};
  const MutexLock lock(g_mutex);
  if (g_count == Most) return merge(g_coming[Most - 1], c);
  g_coming[g_count] = c;
  ++g_count;
}

bool are_coming(const HostRange& range) noexcept {
  if (!any_coming()) return false;
  const auto begin = reinterpret_cast<uintptr_t>(range.base);
  const MutexLock lock(g_mutex);
  return std::any_of(g_coming, g_coming + g_count,
                     [&](const Coming& c) { return begin < c.end && c.begin < begin + range.span; });
}

void queue_is_over(cl_command_queue queue) noexcept {
  if (!any_coming() || runtime.in_forked_child()) return;
  const MutexLock lock(g_mutex);
  const auto of_it = [queue](const Coming& c) { return c.queue == queue; };
  g_count = static_cast<size_t>(std::remove_if(g_coming, g_coming + g_count, of_it) - g_coming);
}

void event_is_over(cl_event event) noexcept {
  if (!event || !any_coming() || runtime.in_forked_child()) return;
  const MutexLock lock(g_mutex);
  Coming* const end = g_coming + g_count;
  Coming* const it = std::find_if(g_coming, end, [event](const Coming& c) { return c.event == event; });
  if (it == end) return;
  const Coming over = *it;
  const auto is_over = [&](const Coming& c) {
    return c.queue == over.queue && (c.event == over.event || over.in_order);
  };
  Coming* const kept = std::remove_if(g_coming, it + 1, is_over);  // what came later may be under way
  g_count = static_cast<size_t>(std::copy(it + 1, end, kept) - g_coming);
}

void event_is_released(cl_event event) noexcept {
  if (!event || !any_coming() || runtime.in_forked_child()) return;
  const MutexLock lock(g_mutex);
  for (size_t i = 0; i < g_count; ++i)
    if (g_coming[i].event == event) g_coming[i].event = nullptr;
}

}  // namespace gt::opt
