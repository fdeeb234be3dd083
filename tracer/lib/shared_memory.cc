#include "tracer/lib/shared_memory.h"

#include <atomic>

#include "tracer/lib/contents.h"
#include "tracer/lib/queue_states.h"

namespace gt::tracer {

namespace {

struct Shared {
  std::atomic<uintptr_t> begin{0};  // 0: free
  std::atomic<size_t> size{0};
  std::atomic<cl_mem> owner{nullptr};
  std::atomic<int> owners{0};
  std::atomic<uint64_t> last{0};  // hash when last looked at
};
constexpr size_t Most = 256;
constexpr uintptr_t Busy = 1;
Shared g_shared[Most];
std::atomic<size_t> g_used{0};       // places [0, g_used) were ever used
std::atomic<bool> g_too_many{false};

template <class Visit>
void for_each(Visit visit) {
  const size_t used = g_used.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    const uintptr_t begin = g_shared[i].begin.load(std::memory_order_acquire);
    if (begin > Busy) visit(g_shared[i], begin);
  }
}

void record_one(uint16_t fn, uintptr_t address, const Content& content, uint64_t began) {
  const uint64_t now = ticks();
  record(RecordType::SharedContent, fn, now, address, content.hash, content.bytes, now - began,
         SharedKind::Launch);
}

}  // namespace

bool any_shared() noexcept { return g_used.load(std::memory_order_relaxed) != 0; }

void note_shared(const void* p, size_t size, cl_mem owner) noexcept {
  if (!p || size == 0) return;
  for (size_t i = 0; i < Most; ++i) {
    Shared& s = g_shared[i];
    uintptr_t free = 0;
    if (!s.begin.compare_exchange_strong(free, Busy, std::memory_order_acquire)) continue;
    s.size.store(size, std::memory_order_relaxed);
    s.owner.store(owner, std::memory_order_relaxed);
    s.owners.store(1, std::memory_order_relaxed);
    s.last.store(0, std::memory_order_relaxed);
    s.begin.store(reinterpret_cast<uintptr_t>(p), std::memory_order_release);
    size_t used = g_used.load(std::memory_order_relaxed);
    while (used <= i && !g_used.compare_exchange_weak(used, i + 1, std::memory_order_release)) {
    }
    return;
  }
  g_too_many.store(true, std::memory_order_relaxed);
}

void forget_shared(const void* p) noexcept {
  for_each([p](Shared& s, uintptr_t begin) {
    if (begin == reinterpret_cast<uintptr_t>(p) && !s.owner.load(std::memory_order_relaxed)) s.begin.store(0);
  });
}

void count_owners(cl_mem owner, int change) noexcept {
  for_each([&](Shared& s, uintptr_t) {
    if (s.owner.load(std::memory_order_relaxed) == owner && s.owners.fetch_add(change) + change == 0) s.begin.store(0);
  });
}

void record_shared(uint16_t fn) noexcept {
  const uint64_t start = ticks();
  if (!all_idle()) return record_one(fn, 0, {}, start);
  if (g_too_many.load(std::memory_order_relaxed)) record_one(fn, 0, {}, start);
  for_each([fn](Shared& s, uintptr_t begin) {
    const uint64_t began = ticks();
    const auto* const p = reinterpret_cast<const void*>(begin);
    const api::HostBox box{0, s.size.load(std::memory_order_relaxed)};
    const Content seen = content_of(p, box);
    if (seen.bytes != 0 && s.last.load(std::memory_order_relaxed) == seen.hash) return;
    const Content taken = seen.bytes != 0 ? send_content(p, box, seen) : seen;
    s.last.store(taken.hash, std::memory_order_relaxed);
    record_one(fn, begin, taken, began);
  });
}

}  // namespace gt::tracer
