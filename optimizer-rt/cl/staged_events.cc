#include "optimizer-rt/cl/staged_events.h"

#include <algorithm>

#include "optimizer-rt/cl/counted_handles.h"
#include "optimizer-rt/cl/real.h"

namespace gt::opt {
namespace {

constexpr size_t Most = 4096;
using Events = CountedHandles<cl_event, staging::EventFacts, Most>;
constinit Events g_events;

cl_command_type command_of(const staging::EventFacts& f) {
  using Shape = staging::HostTransfer::Shape;
  const bool up = f.way == staging::Way::ToDevice;
  if (f.shape == Shape::Svm) return CL_COMMAND_SVM_MEMCPY;
  if (f.shape == Shape::Image) return up ? CL_COMMAND_WRITE_IMAGE : CL_COMMAND_READ_IMAGE;
  if (f.shape == Shape::Box) return up ? CL_COMMAND_WRITE_BUFFER_RECT : CL_COMMAND_READ_BUFFER_RECT;
  return up ? CL_COMMAND_WRITE_BUFFER : CL_COMMAND_READ_BUFFER;
}

template <class T>
void answer(size_t size, void* value, T right) {
  if (value && size >= sizeof right) *static_cast<T*>(value) = right;
}

}  // namespace

// Held from one call to the next.
void lock_staged_events() noexcept GT_NO_THREAD_SAFETY_ANALYSIS { g_events.lock(); }
void unlock_staged_events() noexcept GT_NO_THREAD_SAFETY_ANALYSIS { g_events.unlock(); }

bool room_for_staged_event() noexcept { return g_events.size() < Most / 2; }

void publish_staged_event(const staging::EventFacts& facts) noexcept {
  const bool is_over = facts.start_ns != 0 || facts.error != CL_SUCCESS;
  if (!is_over)
    g_events.add(facts.event, facts);
  else  // the program may have let go of it meanwhile
    g_events.change(facts.event, [&](Events::Entry& e) { e.facts = facts; });
}

void staged_event_retained(cl_event event) noexcept { g_events.retain(event); }
void staged_event_releasing(cl_event event) noexcept {
  staging::EventFacts unused;
  g_events.release(event, &unused);
}

void correct_event_info(cl_event event, cl_event_info what, size_t size, void* value) noexcept {
  Events::Entry e;
  if (!value || !g_events.look_up(event, &e)) return;
  if (what == CL_EVENT_COMMAND_TYPE) answer(size, value, command_of(e.facts));
  if (what == CL_EVENT_REFERENCE_COUNT) answer(size, value, e.references);
  if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && e.facts.error < 0 && *static_cast<cl_int*>(value) < 0)
    answer(size, value, e.facts.error);
}

void correct_profiling_info(cl_event event, cl_profiling_info what, size_t size, void* value) noexcept {
  Events::Entry e;
  if (what != CL_PROFILING_COMMAND_START || !g_events.look_up(event, &e) || e.facts.start_ns == 0) return;
  cl_ulong submitted = 0;
  const auto profiling = GT_REAL(clGetEventProfilingInfo);
  if (profiling) profiling(event, CL_PROFILING_COMMAND_SUBMIT, sizeof submitted, &submitted, nullptr);
  answer(size, value, std::max(e.facts.start_ns, submitted));
}

}  // namespace gt::opt
