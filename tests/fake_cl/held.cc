#include "tests/fake_cl/held.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <mutex>
#include <thread>

#include "tests/fake_cl/behaviour.h"

namespace gt::fake {
namespace {

struct Held {
  Ref<_cl_command_queue> queue;
  std::vector<Ref<_cl_event>> waits;
  Ref<_cl_event> event;
  std::function<void()> work;
  uint64_t cost_ns = 1;
  unsigned flush = 0;  // the number of the flush that it went with
  bool running = false;
};
using Runs = Behaviour::Runs;

std::mutex g_mutex;
// In the order of arrival. Never destroyed: programs end with some held.
std::list<Held>& g_held = *new std::list<Held>;
std::atomic<size_t> g_count{0};  // of all queues
unsigned g_flushes = 0;

uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// The device runs one command at a time: START is not before the END of the command before.
uint64_t occupy_device(uint64_t earliest, uint64_t cost_ns) {
  static std::mutex lock;
  static uint64_t free_at = 0;
  const std::lock_guard guard(lock);
  const uint64_t start = std::max(earliest, free_at);
  free_at = start + cost_ns;
  return start;
}

void stamp(cl_event event, uint64_t queued, uint64_t start, uint64_t cost_ns) {
  const uint64_t times[] = {queued, queued + 50, start, start + cost_ns};
  std::copy(std::begin(times), std::end(times), event->times);
}

cl_event make_event(const Command& c) {
  auto* event = new _cl_event;
  event->context = Ref<_cl_context>(c.queue->context.get());
  event->queue = c.queue;
  event->type = c.type;
  event->profiled = c.queue->properties & CL_QUEUE_PROFILING_ENABLE;
  return event;
}

bool is_over(cl_event e) { return e->status <= CL_COMPLETE; }
bool has_failed(const Ref<_cl_event>& e) { return e.get()->status < 0; }

// REQUIRES: g_mutex is held, by all below.
bool goes_with(const Held& other, const Held& h) {
  return other.queue.get() == h.queue.get() && other.flush <= h.flush;
}
bool waits_for_user(const Held& h) {
  return std::any_of(h.waits.begin(), h.waits.end(),
                     [](const auto& e) { return e.get()->type == CL_COMMAND_USER && !is_over(e.get()); });
}
bool is_flushed(const Held& h) {
  return h.flush > 0 && std::none_of(g_held.begin(), g_held.end(), [&](const Held& other) {
           return other.flush > 0 && goes_with(other, h) && waits_for_user(other);
         });
}
bool may_run(const Held& h) {
  if (behaviour().runs == Runs::ByFlush && !is_flushed(h)) return false;
  if (h.running || !std::all_of(h.waits.begin(), h.waits.end(), [](const auto& e) { return is_over(e.get()); }))
    return false;
  const cl_command_type type = h.event.get()->type;
  const bool in_order = !(h.queue.get()->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const bool after_all = h.waits.empty() && (type == CL_COMMAND_MARKER || type == CL_COMMAND_BARRIER);
  for (const Held& before : g_held) {
    if (&before == &h) break;
    if (before.queue.get() != h.queue.get()) continue;
    if (in_order || after_all || before.event.get()->type == CL_COMMAND_BARRIER) return false;
  }
  return true;
}

// Of a queue; nullptr: of any.
bool run_next(cl_command_queue queue) {
  std::unique_lock lock(g_mutex);
  const auto next = std::find_if(g_held.begin(), g_held.end(), [queue](const Held& h) {
    return (!queue || h.queue.get() == queue) && may_run(h);
  });
  if (next == g_held.end()) return false;
  next->running = true;
  lock.unlock();
  const bool failed = std::any_of(next->waits.begin(), next->waits.end(), has_failed);
  if (!failed) next->work();
  cl_event event = next->event.get();
  stamp(event, event->times[0], occupy_device(now_ns(), next->cost_ns), next->cost_ns);
  std::list<Held> over;
  lock.lock();
  event->status = failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE;
  over.splice(over.begin(), g_held, next);
  g_count = g_held.size();
  lock.unlock();
  event->waiting.happened(false);
  return true;
}

}  // namespace

cl_int check(const Command& c) {
  if (!c.queue) return CL_INVALID_COMMAND_QUEUE;
  if ((c.waits == 0) != (c.wait_list == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < c.waits; ++i)
    if (!c.wait_list[i]) return CL_INVALID_EVENT_WAIT_LIST;
  return CL_SUCCESS;
}

bool runs_at_once(const Command& c) {
  const auto is_complete = [](cl_event e) { return e->status == CL_COMPLETE; };
  if (behaviour().runs != Runs::AtOnce) return false;
  return g_count == 0 && std::all_of(c.wait_list, c.wait_list + c.waits, is_complete);
}

cl_int finish(const Command& c) {
  const uint64_t queued = now_ns(), cost = std::max<uint64_t>(c.cost_ns, 1);
  const uint64_t start = occupy_device(queued + 100, cost);
  if (!c.event) return CL_SUCCESS;
  *c.event = make_event(c);
  stamp(*c.event, queued, start, cost);
  return CL_SUCCESS;
}

cl_int hold(const Command& c, std::function<void()> work) {
  Held h;
  h.queue = Ref<_cl_command_queue>(c.queue);
  std::for_each(c.wait_list, c.wait_list + c.waits, [&](cl_event e) { h.waits.emplace_back(e); });
  cl_event event = make_event(c);
  event->status = CL_SUBMITTED;
  event->times[0] = now_ns();
  h.event = Ref<_cl_event>(event);
  h.work = std::move(work);
  h.cost_ns = std::max<uint64_t>(c.cost_ns, 1);
  {
    const std::lock_guard lock(g_mutex);
    g_held.push_back(std::move(h));
    g_count = g_held.size();
  }
  run_what_may();
  const cl_int error = c.blocking ? wait_for(event) : CL_SUCCESS;
  if (c.event)
    *c.event = event;
  else
    Ref<_cl_event>::release(event);
  return error;
}

void run_what_may() {
  while (behaviour().runs != Runs::WhenWaitedFor && g_count > 0 && run_next(nullptr)) continue;
}

void flush(cl_command_queue queue) {
  {
    const std::lock_guard lock(g_mutex);
    ++g_flushes;
    for (Held& h : g_held)
      if (h.queue.get() == queue && h.flush == 0) h.flush = g_flushes;
  }
  run_what_may();
}

namespace {

// Waiting flushes.
template <class IsOver>
void wait_until(cl_command_queue queue, IsOver is_over) {
  if (behaviour().runs == Runs::ByFlush) flush(queue);
  while (!is_over() && !loss())
    if (behaviour().runs != Runs::WhenWaitedFor || !(run_next(queue) || run_next(nullptr)))
      std::this_thread::sleep_for(std::chrono::microseconds(50));
}

}  // namespace

void wait_for_all(cl_command_queue queue) {
  wait_until(queue, [queue] {
    if (g_count == 0) return true;
    const std::lock_guard lock(g_mutex);
    return std::none_of(g_held.begin(), g_held.end(), [queue](const Held& h) { return h.queue.get() == queue; });
  });
}

cl_int wait_for(cl_event event) {
  wait_until(event->queue, [event] { return is_over(event); });
  if (!is_over(event)) return loss();
  return event->status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

size_t held_commands(cl_command_type type) {
  const std::lock_guard lock(g_mutex);
  return static_cast<size_t>(
      std::count_if(g_held.begin(), g_held.end(), [type](const Held& h) { return h.event.get()->type == type; }));
}

}  // namespace gt::fake
