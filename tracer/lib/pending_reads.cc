#include "tracer/lib/pending_reads.h"

#include <atomic>

#include "tracer/lib/contents.h"
#include "tracer/lib/queue_states.h"

namespace gt::tracer {

__thread uint64_t t_reads_begun __attribute__((tls_model("initial-exec"))) = 0;

namespace {

enum State : uint32_t { Free, Busy, Full };
struct Read {
  std::atomic<uint32_t> state{Free};
  // Its owner's who made it Busy:
  uint64_t number = 0;
  cl_command_queue queue = nullptr;
  bool in_order = false;
  cl_event event = nullptr;
  const void* p = nullptr;
  api::HostBox box;
};
constexpr size_t Most = 64;
Read g_reads[Most];
std::atomic<uint64_t> g_noted{0};
std::atomic<uint32_t> g_full{0};  // how many are Full, about

bool own(Read& read, uint32_t state) {
  return read.state.compare_exchange_strong(state, Busy, std::memory_order_acquire);
}

// Looks at those that `over(read)` says are complete, and forgets them.
template <class Over>
void record_complete(uint16_t fn, Over over) {
  if (g_full.load(std::memory_order_relaxed) == 0) return;
  for (Read& read : g_reads) {
    if (!own(read, Full)) continue;
    const bool complete = over(read);
    const api::HostBox box = read.box;
    const void* const p = read.p;
    read.state.store(complete ? Free : Full, std::memory_order_release);
    if (!complete) continue;
    g_full.fetch_sub(1, std::memory_order_relaxed);
    const uint64_t began = ticks();
    const Content content = take_content(p, box);
    const uint64_t now = ticks();
    record(RecordType::SharedContent, fn, now, reinterpret_cast<uintptr_t>(p), content.hash, content.bytes, now - began,
           SharedKind::Waited);
  }
}

}  // namespace

uint64_t reads_so_far() noexcept { return g_noted.load(std::memory_order_acquire); }

void note_read(uint16_t fn, cl_command_queue queue, cl_event event, const void* p, const api::HostBox& box) noexcept {
  record(RecordType::SharedContent, fn, ticks(), reinterpret_cast<uintptr_t>(p), 0, 0, 0, SharedKind::Pending);
  const uint64_t number = g_noted.fetch_add(1, std::memory_order_acq_rel);
  Read* place = nullptr;
  for (size_t i = 0; i < Most && !place; ++i) {
    if (own(g_reads[(number + i) % Most], Free)) place = &g_reads[(number + i) % Most];
  }
  if (place) {
    g_full.fetch_add(1, std::memory_order_relaxed);
  } else if (own(g_reads[number % Most], Full)) {
    place = &g_reads[number % Most];
  } else {
    return;
  }
  place->number = number;
  place->queue = queue;
  place->in_order = in_order(queue);
  place->event = event;
  place->p = p;
  place->box = box;
  place->state.store(Full, std::memory_order_release);
}

void record_reads_of(uint16_t fn, cl_command_queue queue, bool in_order, uint64_t begun) noexcept {
  record_complete(fn, [&](const Read& read) {
    return read.queue == queue && read.number < begun && (!in_order || read.in_order);
  });
}

void record_reads_with(uint16_t fn, const cl_event* events, cl_uint count) noexcept {
  record_complete(fn, [&](const Read& read) {
    for (cl_uint i = 0; read.event && i < count; ++i) {
      if (events[i] == read.event) return true;
    }
    return false;
  });
}

}  // namespace gt::tracer
