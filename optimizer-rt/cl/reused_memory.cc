#include "optimizer-rt/cl/reused_memory.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "optimizer-rt/cl/contexts.h"
#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/queues.h"
#include "optimizer-rt/cl/staging.h"
#include "optimizer-rt/pool/residency.h"
#include "optimizer-rt/pool/runtime.h"
#include "optimizer-rt/pool/static_data.h"
#include "traces/base/clock.h"
#include "traces/base/reentry.h"

namespace gt::opt {
namespace {

using Next = ReusedBlocks::Next;

constexpr size_t LeastTransfer = size_t{4} << 10;  // below, the call is all that costs

TransferSaving saving_of(int device, Way way, size_t bytes) {
  const TransferSaving saving =
      transfer_saving(way_costs(device, way), model::Policy::Pin, bytes, may_stage(device, way));
  return {std::max(0.0, saving.decides), std::max(0.0, saving.counts)};
}

// When the process ends the driver may be gone before the program's last blocks: from then on pins end in calls only.
void leave_to_calls() { unpins_at_release.store(false); }

bool begin() {
  if (std::atexit(leave_to_calls) == 0) unpins_at_release.store(true);
  return true;
}

bool unpin_one(PinToken pin) {
  if (!runtime.in_forked_child()) unpin(pin);
  return true;
}

void count_pin(size_t bytes, uint64_t ns) {
  Counters& c = runtime.counters();
  add(c.pinned_ranges, 1);
  add(c.pinned_bytes, bytes);
  add(c.pin_ns, ns);
  add(c.reused_blocks, 1);
  add(c.reused_bytes, bytes);
  add(c.reuse_pin_ns, ns);
}

Fallback reason_of(PinResult result) {
  if (result == PinResult::UnknownContext) return Fallback::UnknownContext;
  return result == PinResult::TableFull ? Fallback::PinTableFull : Fallback::PinRefused;
}

bool pin_block(const ReusedBlocks::Block& block, cl_context context) {
  [[maybe_unused]] static const bool begun = begin();
  // Pinning what was never touched would take memory that the program never asked for.
  if (!is_resident(reinterpret_cast<void*>(block.base), block.bytes)) {
    reused_blocks.not_pinned(block, false);
    return runtime.count(Fallback::SparseMemory), false;
  }
  const uint64_t start = monotonic_ns();
  PinToken token = 0;
  const PinResult result = pin(context, reinterpret_cast<void*>(block.base), block.bytes, &token);
  if (result != PinResult::Done) {
    reused_blocks.not_pinned(block, result == PinResult::Refused);
    return runtime.count(reason_of(result)), false;
  }
  const uint64_t took_ns = monotonic_ns() - start;
  reused_blocks.pinned(block, token, context, took_ns);
  count_pin(block.bytes, took_ns);
  return true;
}

Next touch(const HostRange& range, const ReusedBlocks::Terms& terms, ReusedBlocks::Block* block) {
  const Next next = reused_blocks.touch(range.base, range.span, terms, block);
  const bool learns =
      next == Next::Unknown && reused_blocks.is_large(range.span) && static_data.holds(range.base, range.span);
  if (!learns) return next;
  reused_blocks.remember_static(range.base, range.span);
  return reused_blocks.touch(range.base, range.span, terms, block);
}

}  // namespace

bool reuse(const TransferCall& call, Way way, const HostRange& range) noexcept {
  if (range.bytes < LeastTransfer || !reused_blocks.is_open()) return false;
  QueueEntry queue;
  if (!look_up_queue(call.queue, &queue)) return false;
  ReusedBlocks::Terms terms;
  terms.always = runtime.plan().header->reuse == static_cast<uint32_t>(Reuse::Always);
  TransferSaving saving;
  if (const int device = plan_device(queue.device); device != NoDevice) {
    saving = saving_of(device, way, range.bytes);
    terms.saving_ns = saving.decides;
    terms.pin = &runtime.plan().devices[static_cast<size_t>(device)].pin;
  }
  ReusedBlocks::Block block;
  const Next next = touch(range, terms, &block);
  if (next == Next::Unknown || next == Next::Leave) return false;
  if (next == Next::Pin && !pin_block(block, queue.context)) return false;
  add(runtime.counters().reused, 1);
  add(runtime.counters().reused_saved_ns, static_cast<uint64_t>(saving.counts));
  return true;
}

void stop_reusing(cl_context context) noexcept {
  reused_blocks.owner_leaves(context);
  unpin_what_is_gone();
}

void unpin_what_is_gone() noexcept {
  if (runtime.in_forked_child()) return;
  reused_blocks.settle(unpin_one);
  // Others may be at theirs: new memory may be at those addresses. A driver's thread must not wait for a release that
  // may wait for that thread.
  if (t_flags.muted) return;
  while (!reused_blocks.is_settled()) ::sched_yield();
}

}  // namespace gt::opt
