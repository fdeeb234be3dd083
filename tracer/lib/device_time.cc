#include "tracer/lib/device_time.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "tracer/lib/readable.h"
#include "tracer/lib/real_calls.h"
#include "tracer/lib/recorder.h"
#include "tracer/lib/sampling.h"

namespace gt::tracer {

using api::FnId;

namespace {

constexpr uint32_t MaxQueues = 4096;  // live at once; a handle's place is used again with the handle
constexpr uint32_t PendingPerQueue = 1024;
constexpr uint32_t MaxList = 24;

struct Pending {
  cl_event event;
  uint32_t tid, sample;
  uint64_t sequence;
};

}  // namespace

struct WatchedQueue {
  std::atomic<cl_command_queue> handle{nullptr};
  std::atomic<uint32_t> first{0}, count{0};
  std::atomic<uint32_t> profiled{0};  // Profiled objects alive, where `switches`
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  bool timed = false;
  bool asked = false;
  bool switches = false;    // profiling is off but while a Profiled lives
  Pending* fifo = nullptr;  // PendingPerQueue entries, mapped on first use
  uint32_t list_count = 0;
  cl_queue_properties list[MaxList];
};

namespace {

using Queue = WatchedQueue;

Queue g_queues[MaxQueues];
// Places with a handle, in the order in which they got their first one: what a walk over all queues visits.
std::atomic<uint16_t> g_order[MaxQueues];
std::atomic<uint32_t> g_queues_used{0};
std::atomic<cl_device_id> g_named[64];  // devices whose name is recorded

// A thread's samples: those of its ring. More threads than tables share them, which costs precision only.
constexpr uint32_t SampleTables = 64, SamplesPerTable = 256, SampleProbes = 8;
SiteSample g_samples[SampleTables * SamplesPerTable];

// A queue's lock, or not: its holder may be in the driver, which may call back into the program, which may come here
// again. So nobody waits for long; without the lock a command stays untimed, or is read later.
class QueueLock {
 public:
  explicit QueueLock(std::atomic_flag& flag, uint32_t most_spins = 10'000) : flag_(flag) {
    for (uint32_t i = 0; !(held_ = !flag_.test_and_set(std::memory_order_acquire)) && i < most_spins; ++i) relax();
  }
  ~QueueLock() {
    if (held_) flag_.clear(std::memory_order_release);
  }
  QueueLock(const QueueLock&) = delete;
  QueueLock& operator=(const QueueLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  std::atomic_flag& flag_;
  bool held_ = false;
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
        g_order[g_queues_used.fetch_add(1, std::memory_order_relaxed)].store(static_cast<uint16_t>(i),
                                                                            std::memory_order_relaxed);
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

// Every queue ever watched. One that is being added may be missed, or the first one visited for it.
template <class Visit>
void for_each_queue(Visit visit) {
  const uint32_t used = g_queues_used.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < used; ++i) visit(g_queues[g_order[i].load(std::memory_order_relaxed)]);
}

// NVIDIA's driver charges 6 to 8 us for every transfer of a queue that profiles, timed or not, and lets profiling be
// switched in 10 ns at any time. Others may not even have the function behind their loader's entry, so only what is
// known to work is called.
bool can_switch(cl_device_id device) {
  constexpr cl_uint Nvidia = 0x10de;
  cl_uint vendor = 0;
  auto get = real<decltype(clGetDeviceInfo)>(FnId::clGetDeviceInfo);
  return get && get(device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, nullptr) == CL_SUCCESS && vendor == Nvidia;
}

bool switch_profiling(cl_command_queue queue, bool on) {
  auto set = real<cl_int(cl_command_queue, cl_command_queue_properties, cl_bool, cl_command_queue_properties*)>(
      FnId::clSetCommandQueueProperty);
  return set && set(queue, CL_QUEUE_PROFILING_ENABLE, on, nullptr) == CL_SUCCESS;
}

bool complete(cl_event event) {
  auto get = real<decltype(clGetEventInfo)>(FnId::clGetEventInfo);
  cl_int status = CL_QUEUED;
  if (!get || get(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) != CL_SUCCESS) return true;
  return status <= CL_COMPLETE;
}

// Start and end of a command; zeros when the driver does not say. False: it is not complete yet.
bool read_times(cl_event event, cl_ulong& start, cl_ulong& end) {
  auto get = real<decltype(clGetEventProfilingInfo)>(FnId::clGetEventProfilingInfo);
  start = end = 0;
  if (get && get(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) == CL_SUCCESS && end != 0 &&
      get(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr) == CL_SUCCESS) {
    return true;
  }
  start = end = 0;
  return complete(event);
}

void harvest(Queue& queue) {
  if (queue.count.load(std::memory_order_relaxed) == 0) return;
  const uint64_t begin = ticks();
  if (const QueueLock lock(queue.lock, 0); lock) {  // else another thread reads them already
    auto release = real<decltype(clReleaseEvent)>(FnId::clReleaseEvent);
    uint32_t first = queue.first.load(std::memory_order_relaxed);
    uint32_t count = queue.count.load(std::memory_order_relaxed);
    for (; count > 0; --count, ++first) {
      const Pending pending = queue.fifo[first % PendingPerQueue];
      cl_ulong start = 0, end = 0;
      if (!read_times(pending.event, start, end)) break;
      if (release) release(pending.event);
      if (pending.sample != EverySample && end > start) g_samples[pending.sample].learn(end - start);
      record(RecordType::DeviceTime, 0, ticks(), uint64_t{pending.tid}, pending.sequence, start, end);
    }
    queue.first.store(first, std::memory_order_relaxed);
    queue.count.store(count, std::memory_order_relaxed);
  }
  if (Ring* ring = t_ring) ring->header->harvest_ticks.fetch_add(ticks() - begin, std::memory_order_relaxed);
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

void watch_queue(cl_command_queue handle, cl_device_id device, bool asked, const cl_queue_properties* list) {
  Queue* queue = find(handle, true);
  if (!queue) return;
  const bool switches = !asked && can_switch(device) && switch_profiling(handle, false);
  const QueueLock lock(queue->lock);
  queue->timed = true;
  queue->asked = asked;
  queue->switches = switches;
  queue->profiled.store(0, std::memory_order_relaxed);
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

WatchedQueue* watched_queue(cl_command_queue handle) {
  Queue* queue = find(handle);
  return queue && queue->timed ? queue : nullptr;
}

void ask_profiling(cl_command_queue handle, bool on) {
  Queue* queue = find(handle);
  if (!queue || !queue->timed) return;
  queue->asked = on;
  queue->switches = !on;  // what it asked for stays on; and a driver that switched once can switch
}

uint32_t sample_of(const Ring& ring, const void* site, uint64_t work) {
  if (spool()->sample == 1) return EverySample;
  const uint64_t hash = (reinterpret_cast<uint64_t>(site) ^ work * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull;
  const uint32_t tag = static_cast<uint32_t>(hash >> 32) | 1;
  const uint32_t table = ring.index % SampleTables * SamplesPerTable;
  uint32_t at = table;
  for (uint32_t probe = 0; probe < SampleProbes; ++probe) {
    at = table + (tag / 2 + probe) % SamplesPerTable;
    if (g_samples[at].tag() == tag) return at;
    if (g_samples[at].tag() == 0) {
      g_samples[at].begin(tag);
      return at;
    }
  }
  return at;  // crowded: shared with another site
}

bool due(uint32_t sample) { return sample == EverySample || g_samples[sample].due(spool()->sample); }

// Two threads may switch at once and leave a command of one of them without times: it counts as untimed.
Profiled::Profiled(WatchedQueue& queue) : queue_(queue), switches_(queue.switches) {
  if (switches_ && queue.profiled.fetch_add(1, std::memory_order_relaxed) == 0) {
    switch_profiling(queue.handle.load(std::memory_order_relaxed), true);
  }
}
Profiled::~Profiled() {
  if (switches_ && queue_.profiled.fetch_sub(1, std::memory_order_relaxed) == 1) {
    switch_profiling(queue_.handle.load(std::memory_order_relaxed), false);
  }
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

bool track(WatchedQueue& queue, cl_event event, bool ours, uint64_t sequence, uint32_t sample) {
  if (queue.count.load(std::memory_order_relaxed) >= PendingPerQueue) harvest(queue);
  const QueueLock lock(queue.lock);
  if (!lock) return false;
  const uint32_t count = queue.count.load(std::memory_order_relaxed);
  if (count >= PendingPerQueue) return false;
  if (!queue.fifo) {
    void* at = mmap(nullptr, PendingPerQueue * sizeof(Pending), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
    queue.fifo = static_cast<Pending*>(at);
  }
  if (!ours) {
    auto retain = real<decltype(clRetainEvent)>(FnId::clRetainEvent);
    if (!retain || retain(event) != CL_SUCCESS) return false;
  }
  const uint32_t at = (queue.first.load(std::memory_order_relaxed) + count) % PendingPerQueue;
  queue.fifo[at] = {event, static_cast<uint32_t>(t_ring->header->tid), sample, sequence};
  queue.count.store(count + 1, std::memory_order_relaxed);
  return true;
}

void drop_event_of_error(cl_command_queue queue, cl_event event) noexcept {
  uint64_t of_queue = 0, of_event = 0;  // the first word of each object of a driver leads to its functions
  if (!event || !readable(queue, sizeof of_queue) || !readable(event, sizeof of_event)) return;
  std::memcpy(&of_queue, queue, sizeof of_queue);
  std::memcpy(&of_event, event, sizeof of_event);
  auto release = real<decltype(clReleaseEvent)>(FnId::clReleaseEvent);
  if (of_queue == of_event && release) release(event);
}

bool tracked(cl_event event) {
  bool found = false;
  for_each_queue([&](Queue& queue) {
    if (found || queue.count.load(std::memory_order_relaxed) == 0) return;
    const QueueLock lock(queue.lock);
    for (uint32_t i = 0; lock && i < queue.count.load(std::memory_order_relaxed); ++i) {
      found |= queue.fifo[(queue.first.load(std::memory_order_relaxed) + i) % PendingPerQueue].event == event;
    }
  });
  return found;
}

void harvest(cl_command_queue handle) {
  if (Queue* queue = find(handle)) harvest(*queue);
}

void harvest_all() {
  for_each_queue([](Queue& queue) { harvest(queue); });
}

}  // namespace gt::tracer
