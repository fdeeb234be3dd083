#include "optimizer-rt/cl/staged_events.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "optimizer-rt/cl/real.h"
#include "traces/base/lock.h"

namespace gt::opt {
namespace {

constexpr size_t Most = 4096;

struct Entry {
  staging::EventFacts facts;
  cl_uint references = 0;  // the program's
};

constinit pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
constinit Entry g_entries[Most] = {};
constinit std::atomic<size_t> g_count{0};  // entries in use are the first

bool none() { return g_count.load(std::memory_order_relaxed) == 0; }

// The latest is asked for most.
Entry* find(cl_event event) {
  for (size_t i = g_count.load(std::memory_order_relaxed); i-- > 0;)
    if (g_entries[i].facts.event == event) return &g_entries[i];
  return nullptr;
}

cl_command_type command_of(const staging::EventFacts& f) {
  using Shape = staging::Move::Shape;
  const bool up = f.way == staging::Way::ToDevice;
  if (f.shape == Shape::Image) return up ? CL_COMMAND_WRITE_IMAGE : CL_COMMAND_READ_IMAGE;
  if (f.shape == Shape::Box) return up ? CL_COMMAND_WRITE_BUFFER_RECT : CL_COMMAND_READ_BUFFER_RECT;
  return up ? CL_COMMAND_WRITE_BUFFER : CL_COMMAND_READ_BUFFER;
}

// A copy of what is known; false: not one of ours.
bool known(cl_event event, Entry* out) {
  if (none()) return false;
  const Lock lock(g_mutex);
  const Entry* e = find(event);
  if (e) *out = *e;
  return e != nullptr;
}

template <class T>
void answer(size_t size, void* value, T right) {
  if (value && size >= sizeof right) *static_cast<T*>(value) = right;
}

}  // namespace

void lock_staged_events() noexcept { ::pthread_mutex_lock(&g_mutex); }
void unlock_staged_events() noexcept { ::pthread_mutex_unlock(&g_mutex); }

bool room_for_staged_event() noexcept { return g_count.load(std::memory_order_relaxed) < Most / 2; }

void publish_staged_event(const staging::EventFacts& facts) noexcept {
  const Lock lock(g_mutex);
  Entry* e = find(facts.event);
  const size_t count = g_count.load(std::memory_order_relaxed);
  if (e) {
    e->facts.start_ns = facts.start_ns;
    e->facts.error = facts.error;
  } else if (facts.start_ns == 0 && facts.error == CL_SUCCESS && count < Most) {
    // One that is over and not here is one that the program has let go of.
    g_entries[count] = {facts, 1};
    g_count.store(count + 1, std::memory_order_relaxed);
  }
}

void staged_event_retained(cl_event event) noexcept {
  if (none()) return;
  const Lock lock(g_mutex);
  if (Entry* e = find(event)) ++e->references;
}

void staged_event_releasing(cl_event event) noexcept {
  if (none()) return;
  const Lock lock(g_mutex);
  Entry* e = find(event);
  if (!e || --e->references > 0) return;
  const size_t last = g_count.load(std::memory_order_relaxed) - 1;
  *e = g_entries[last];
  g_count.store(last, std::memory_order_relaxed);
}

void correct_event_info(cl_event event, cl_event_info what, size_t size, void* value) noexcept {
  Entry e;
  if (!value || !known(event, &e)) return;
  if (what == CL_EVENT_COMMAND_TYPE) answer(size, value, command_of(e.facts));
  if (what == CL_EVENT_REFERENCE_COUNT) answer(size, value, e.references);
  if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && e.facts.error < 0 && *static_cast<cl_int*>(value) < 0)
    answer(size, value, e.facts.error);
}

void correct_profiling_info(cl_event event, cl_profiling_info what, size_t size, void* value) noexcept {
  Entry e;
  if (what != CL_PROFILING_COMMAND_START || !known(event, &e) || e.facts.start_ns == 0) return;
  cl_ulong submitted = 0;
  const auto profiling = GT_REAL(clGetEventProfilingInfo);
  if (profiling) profiling(event, CL_PROFILING_COMMAND_SUBMIT, sizeof submitted, &submitted, nullptr);
  answer(size, value, std::max(e.facts.start_ns, submitted));
}

}  // namespace gt::opt
