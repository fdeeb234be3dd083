#include "tracer/lib/queue_states.h"

#include <atomic>
#include <cstddef>

#include "tracer/lib/real_calls.h"

namespace gt::tracer {

__thread uint32_t t_notes_begun __attribute__((tls_model("initial-exec"))) = 0;

namespace {

struct State {
  std::atomic<cl_command_queue> queue{nullptr};
  std::atomic<bool> busy{false}, in_order{false};
  std::atomic<cl_event> last{nullptr};  // of its last command
  std::atomic<uint32_t> notes{0};       // of commands, before and after their calls
};
constexpr size_t Most = 64;
State g_states[Most];
std::atomic<bool> g_full{false};  // there are more queues: something may always be under way

// nullptr: there is no room for it.
State* state_of(cl_command_queue queue, bool add) {
  for (State& s : g_states) {
    cl_command_queue known = s.queue.load(std::memory_order_relaxed);
    if (!known && !add) return nullptr;
    if (!known && s.queue.compare_exchange_strong(known, queue)) return &s;
    if (known == queue) return &s;
  }
  if (add) g_full.store(true, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace

bool in_order(cl_command_queue queue) noexcept {
  cl_command_queue_properties properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  const auto get = real<decltype(clGetCommandQueueInfo)>(api::FnId::clGetCommandQueueInfo);
  return get && get(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr) == CL_SUCCESS &&
         !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

uint32_t note_enqueuing(cl_command_queue queue) noexcept {
  State* const s = state_of(queue, true);
  if (!s) return 0;
  // Another one may have had this handle before.
  if (!s->busy.load(std::memory_order_relaxed)) s->in_order.store(in_order(queue), std::memory_order_relaxed);
  s->busy.store(true, std::memory_order_relaxed);
  return s->notes.fetch_add(1) + 1;
}

void note_enqueued(cl_command_queue queue, uint32_t begun, cl_event event, bool waited) noexcept {
  State* const s = state_of(queue, true);
  if (!s) return;
  const bool ordered = s->in_order.load(std::memory_order_relaxed), alone = s->notes.fetch_add(1) == begun;
  s->last.store(ordered && alone ? event : nullptr, std::memory_order_relaxed);
  s->busy.store(!waited || !ordered || !alone, std::memory_order_relaxed);
}

uint32_t note_finishing(cl_command_queue queue) noexcept {
  const State* const s = state_of(queue, false);
  return s ? s->notes.load() : 0;
}

void note_finished(cl_command_queue queue, uint32_t begun) noexcept {
  State* const s = state_of(queue, false);
  if (s && s->notes.load() == begun) s->busy.store(false, std::memory_order_relaxed);
}

void note_waited(const cl_event* events, cl_uint count) noexcept {
  for (State& s : g_states) {
    const cl_event last = s.last.load(std::memory_order_relaxed);
    if (!last || !s.busy.load(std::memory_order_relaxed)) continue;
    for (cl_uint i = 0; i < count; ++i) {
      if (events[i] == last) s.busy.store(false, std::memory_order_relaxed);
    }
  }
}

void note_unseen() noexcept { g_full.store(true, std::memory_order_relaxed); }

bool all_idle() noexcept {
  if (g_full.load(std::memory_order_relaxed)) return false;
  for (const State& s : g_states) {
    if (!s.queue.load(std::memory_order_relaxed)) break;
    if (s.busy.load(std::memory_order_relaxed)) return false;
  }
  return true;
}

}  // namespace gt::tracer
