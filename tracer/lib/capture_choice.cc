#include "tracer/lib/capture_choice.h"

#include <atomic>

#include "tracer/lib/bound_kernels.h"

namespace gt::tracer {

__thread CallChoice t_choice __attribute__((tls_model("initial-exec"))) = {};

namespace {

std::atomic<const RingHeader*> g_counted{nullptr};  // the ring of the thread whose calls are counted
std::atomic<int32_t> g_counted_pid{0};              // the process in which that is so: a forked one begins anew
uint64_t g_number = 0;                              // that thread's: of its call under way
std::atomic<bool> g_within{false};                  // the range has begun, and has not ended
std::atomic<uint64_t> g_launches{0};

bool in_range(const Ring& ring, const CaptureChoice& choice) {
  if (g_counted_pid.load(std::memory_order_acquire) != ring.header->pid) {
    g_counted.store(nullptr, std::memory_order_relaxed);
    g_number = 0;
    g_within.store(false, std::memory_order_relaxed);
    g_counted_pid.store(ring.header->pid, std::memory_order_release);
  }
  const RingHeader* counted = nullptr;
  const bool ours = g_counted.compare_exchange_strong(counted, ring.header) || counted == ring.header;
  if (ours && !t_choice.in_callback) {
    ++g_number;
    g_within.store(g_number >= choice.first && g_number <= choice.last, std::memory_order_release);
  }
  return g_within.load(std::memory_order_acquire);
}

bool is_launch(cl_kernel kernel, const CaptureChoice& choice) {
  if (!kernel || !kernel_is_named(kernel, choice.kernel)) return false;
  detail::g_spool->chosen_calls.fetch_add(1, std::memory_order_relaxed);
  return g_launches.fetch_add(1, std::memory_order_relaxed) + 1 == choice.nth;
}

}  // namespace

void choose(const Ring& ring, uint16_t fn, cl_kernel kernel, bool command) noexcept {
  const CaptureChoice& choice = spool()->choice;
  if (choice.part == CapturePart::Kernel) {
    t_choice.chosen = is_launch(kernel, choice);
  } else {
    t_choice.chosen = in_range(ring, choice);
    if (t_choice.chosen) detail::g_spool->chosen_calls.fetch_add(1, std::memory_order_relaxed);
  }
  if (t_choice.chosen && command)
    record(RecordType::SharedContent, fn, ticks(), 0, 0, 0, 0, SharedKind::Chosen);
}

}  // namespace gt::tracer
