#include "tracer/lib/recorded_commands.h"

#include <algorithm>

#include "tracer/lib/fixed_table.h"

namespace gt::tracer {

namespace {

using detail::MostRecorded;

// Each once.
struct Handles {
  std::atomic<uintptr_t> of[MostRecorded];
  std::atomic<size_t> count{0};
  // False: there is no room.
  bool add(const void* handle) {
    const auto key = reinterpret_cast<uintptr_t>(handle);
    const size_t n = count.load(std::memory_order_relaxed);
    for (size_t i = 0; i < n; ++i)
      if (of[i].load(std::memory_order_relaxed) == key) return true;
    if (n == MostRecorded) return false;
    of[n].store(key, std::memory_order_relaxed);
    count.store(n + 1, std::memory_order_release);
    return true;
  }
};

struct Recorded {
  std::atomic<uintptr_t> key{0};  // the command buffer
  std::atomic<int> references{0};
  std::atomic<cl_command_queue> queue{nullptr};
  std::atomic<bool> whole{false};
  Handles objects, allocations;
  void begin() {
    references.store(1, std::memory_order_relaxed);
    whole.store(true, std::memory_order_relaxed);
    objects.count.store(0, std::memory_order_relaxed);
    allocations.count.store(0, std::memory_order_relaxed);
  }
};

FixedTable<Recorded, 256> g_recorded;

void add(Recorded& to, Handles& list, const void* handle) {
  if (!list.add(handle)) to.whole.store(false, std::memory_order_relaxed);
}

}  // namespace

void note_command_buffer(_cl_command_buffer_khr* made, const cl_command_queue* queues, cl_uint count) noexcept {
  Recorded* const recorded = g_recorded.add(made);
  if (!recorded) return;
  recorded->queue.store(count > 0 && queues ? queues[0] : nullptr, std::memory_order_relaxed);
  if (count != 1) recorded->whole.store(false, std::memory_order_relaxed);
}
void count_references(_cl_command_buffer_khr* buffer, int change) noexcept {
  Recorded* const recorded = g_recorded.find(buffer);
  if (recorded && recorded->references.fetch_add(change, std::memory_order_relaxed) + change <= 0)
    g_recorded.remove(buffer);
}

void record_object(_cl_command_buffer_khr* buffer, cl_mem object) noexcept {
  if (Recorded* const to = g_recorded.find(buffer)) add(*to, to->objects, object);
}
void record_pointer(_cl_command_buffer_khr* buffer, const void* p) noexcept {
  Recorded* const to = g_recorded.find(buffer);
  const LiveAllocation* const memory = to ? live_allocation(p) : nullptr;
  if (memory) add(*to, to->allocations, reinterpret_cast<const void*>(memory->key.load(std::memory_order_relaxed)));
}
void record_kernel(_cl_command_buffer_khr* buffer, cl_kernel kernel) noexcept {
  Recorded* const to = g_recorded.find(buffer);
  if (!to) return;
  const auto key = [](const auto& known) { return reinterpret_cast<const void*>(known.key.load()); };
  const bool whole = each_bound(
      kernel, [&](const LiveObject& object) { add(*to, to->objects, key(object)); },
      [&](const LiveAllocation& memory) { add(*to, to->allocations, key(memory)); });
  if (!whole) forget_whole(buffer);
}
void forget_whole(_cl_command_buffer_khr* buffer) noexcept {
  if (Recorded* const known = g_recorded.find(buffer)) known->whole.store(false, std::memory_order_relaxed);
}

cl_command_queue queue_of(_cl_command_buffer_khr* buffer) noexcept {
  const Recorded* const known = g_recorded.find(buffer);
  return known ? known->queue.load(std::memory_order_relaxed) : nullptr;
}

namespace detail {

RecordedUses uses_of(_cl_command_buffer_khr* buffer) noexcept {
  const Recorded* const known = g_recorded.find(buffer);
  if (!known) return {};
  return {known->objects.of, known->allocations.of, known->objects.count.load(std::memory_order_acquire),
          known->allocations.count.load(std::memory_order_acquire), known->whole.load(std::memory_order_relaxed)};
}

}  // namespace detail

}  // namespace gt::tracer
