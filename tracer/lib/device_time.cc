#include "tracer/lib/device_time.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "tracer/lib/real_calls.h"
#include "tracer/lib/recorder.h"

namespace gt::tracer {

namespace {

using api::FnId;

constexpr uint32_t MaxQueues =
    4096;  // live at once; a handle's place is used again with the handle
constexpr uint32_t PendingPerQueue = 1024;
constexpr uint32_t MaxList = 24;

struct Pending {
  cl_event event;
  uint64_t tid;
  uint64_t sequence;
};

struct Queue {
  std::atomic<cl_command_queue> handle{nullptr};
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  bool timed = false;
  bool asked = false;
  uint32_t list_count = 0;
  cl_queue_properties list[MaxList];
  Pending* fifo = nullptr;  // PendingPerQueue entries, mapped on first use
  std::atomic<uint32_t> first{0}, count{0};
};

Queue g_queues[MaxQueues];
std::atomic<uint32_t> g_queues_used{0};  // places with a handle, anywhere in the table
std::atomic<cl_device_id> g_named[64];   // devices whose name is recorded

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) relax();
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

uint32_t home(cl_command_queue queue) {
  return static_cast<uint32_t>((reinterpret_cast<uint64_t>(queue) * 0x9e3779b97f4a7c15ull) >> 40) %
         MaxQueues;
}

Queue* find(cl_command_queue queue, bool make = false) {
  if (!queue) return nullptr;
  for (uint32_t n = 0, i = home(queue); n < MaxQueues; ++n, i = (i + 1) % MaxQueues) {
    cl_command_queue handle = g_queues[i].handle.load(std::memory_order_acquire);
    if (handle == queue) return &g_queues[i];
    if (handle == nullptr) {
      if (!make) return nullptr;
      if (g_queues[i].handle.compare_exchange_strong(handle, queue)) {
        g_queues_used.fetch_add(1, std::memory_order_relaxed);
        return &g_queues[i];
      }
      if (handle == queue) return &g_queues[i];
    }
  }
  return nullptr;
}

void record_device(cl_device_id device) {
  for (auto& named : g_named) {
    cl_device_id known = named.load(std::memory_order_relaxed);
    if (known == device) return;
    if (known == nullptr && named.compare_exchange_strong(known, device)) break;
    if (known == device) return;
  }
  struct {
    uint64_t handle, zero;
    char name[256];
  } payload{};
  payload.handle = reinterpret_cast<uint64_t>(device);
  auto get = real<decltype(clGetDeviceInfo)>(FnId::clGetDeviceInfo);
  if (get) get(device, CL_DEVICE_NAME, sizeof payload.name - 1, payload.name, nullptr);
  Ring* ring = this_ring();
  if (!ring) return;
  constexpr uint32_t Bytes = sizeof(RecordHeader) + sizeof payload;
  uint8_t* at = reserve(*ring, RecordType::Device, 0, Bytes, ticks());
  if (!at) return;
  std::memcpy(at, &payload, sizeof payload);
  commit(*ring, Bytes);
}

// Start and end of a complete command; zeros when the driver does not say.
void read_times(cl_event event, cl_ulong& start, cl_ulong& end) {
  auto get = real<decltype(clGetEventProfilingInfo)>(FnId::clGetEventProfilingInfo);
  start = end = 0;
  if (!get || get(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr) != CL_SUCCESS ||
      get(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) != CL_SUCCESS) {
    start = end = 0;
  }
}

bool complete(cl_event event) {
  auto get = real<decltype(clGetEventInfo)>(FnId::clGetEventInfo);
  cl_int status = CL_QUEUED;
  if (!get ||
      get(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) != CL_SUCCESS)
    return true;
  return status <= CL_COMPLETE;
}

void harvest(Queue& queue) {
  if (queue.count.load(std::memory_order_relaxed) == 0) return;
  const uint64_t begin = ticks();
  {
    const SpinLock lock(queue.lock);
    auto release = real<decltype(clReleaseEvent)>(FnId::clReleaseEvent);
    uint32_t first = queue.first.load(std::memory_order_relaxed);
    uint32_t count = queue.count.load(std::memory_order_relaxed);
    for (; count > 0; --count, ++first) {
      const Pending pending = queue.fifo[first % PendingPerQueue];
      if (!complete(pending.event)) break;
      cl_ulong start = 0, end = 0;
      read_times(pending.event, start, end);
      if (release) release(pending.event);
      record(RecordType::DeviceTime, 0, ticks(), pending.tid, pending.sequence, start, end);
    }
    queue.first.store(first, std::memory_order_relaxed);
    queue.count.store(count, std::memory_order_relaxed);
  }
  if (Ring* ring = t_ring)
    ring->header->harvest_ticks.fetch_add(ticks() - begin, std::memory_order_relaxed);
}

}  // namespace

bool timing_wanted(bool launch) {
  const SpoolHeader* header = spool();
  if (!header) return false;
  switch (header->timing) {
    case Timing::Off:
      return false;
    case Timing::Kernels:
      return launch;
    case Timing::Transfers:
      return !launch;
    case Timing::All:
      return true;
  }
  return false;
}

void watch_queue(cl_command_queue handle, cl_device_id device, bool asked,
                 const cl_queue_properties* list) {
  Queue* queue = find(handle, true);
  if (!queue) return;
  const SpinLock lock(queue->lock);
  queue->timed = true;
  queue->asked = asked;
  queue->list_count = 0;
  if (list) {
    uint32_t n = 0;
    while (list[n] != 0 && n + 3 < MaxList) n += 2;
    if (list[n] == 0) {
      std::memcpy(queue->list, list, (n + 1) * sizeof *list);
      queue->list_count = n + 1;
    }
  }
  record_device(device);
}

bool queue_is_timed(cl_command_queue handle) {
  const Queue* queue = find(handle);
  return queue && queue->timed;
}

bool profiling_hidden(cl_command_queue handle) {
  const Queue* queue = find(handle);
  return queue && queue->timed && !queue->asked;
}

uint32_t asked_properties(cl_command_queue handle, const cl_queue_properties** list) {
  const Queue* queue = find(handle);
  if (!queue || queue->asked || queue->list_count == 0) return 0;
  *list = queue->list;
  return queue->list_count;
}

bool track(cl_command_queue handle, cl_event event, bool ours, uint64_t sequence) {
  Queue* queue = find(handle);
  if (!queue || !event) return false;
  if (queue->count.load(std::memory_order_relaxed) >= PendingPerQueue) harvest(*queue);
  const SpinLock lock(queue->lock);
  const uint32_t count = queue->count.load(std::memory_order_relaxed);
  if (count >= PendingPerQueue) return false;
  if (!queue->fifo) {
    void* at = mmap(nullptr, PendingPerQueue * sizeof(Pending), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
    queue->fifo = static_cast<Pending*>(at);
  }
  if (!ours) {
    auto retain = real<decltype(clRetainEvent)>(FnId::clRetainEvent);
    if (!retain || retain(event) != CL_SUCCESS) return false;
  }
  const uint32_t at = (queue->first.load(std::memory_order_relaxed) + count) % PendingPerQueue;
  queue->fifo[at] = {event, static_cast<uint64_t>(t_ring->header->tid), sequence};
  queue->count.store(count + 1, std::memory_order_relaxed);
  return true;
}

bool tracked(cl_event event) {
  for (Queue& queue : g_queues) {
    if (queue.count.load(std::memory_order_relaxed) == 0) continue;
    const SpinLock lock(queue.lock);
    for (uint32_t i = 0; i < queue.count.load(std::memory_order_relaxed); ++i) {
      if (queue.fifo[(queue.first.load(std::memory_order_relaxed) + i) % PendingPerQueue].event ==
          event)
        return true;
    }
  }
  return false;
}

void harvest(cl_command_queue handle) {
  if (Queue* queue = find(handle)) harvest(*queue);
}

void harvest_all() {
  if (g_queues_used.load(std::memory_order_relaxed) == 0) return;
  for (Queue& queue : g_queues) harvest(queue);
}

}  // namespace gt::tracer
