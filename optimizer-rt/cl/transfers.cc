// Pinning on first transfer, and counting.
#include "optimizer-rt/cl/transfers.h"

#include <algorithm>
#include <cstring>

#include "optimizer-rt/cl/coming_bytes.h"
#include "optimizer-rt/cl/contexts.h"
#include "optimizer-rt/cl/drivers_memory.h"
#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/queues.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/reused_memory.h"
#include "optimizer-rt/cl/staging.h"
#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/runtime.h"
#include "traces/base/clock.h"
#include "transport/memory/pin.h"

namespace gt::opt {
namespace {

// Tokens that are no pins: a thread is pinning this span right now; the driver refused to.
constexpr PinToken Pending = ~PinToken{0} << 16;
constexpr PinToken Refused = (~PinToken{0} << 16) - (PinToken{1} << 16);

struct Target {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
};

Target target_of(cl_command_queue queue) {
  QueueEntry q;
  return look_up_queue(queue, &q) ? Target{q.context, q.device} : Target{};
}

bool pays_on(const PlanSite& site, int device) {
  if (device == NoDevice) return runtime.plan().header->pin_everywhere != 0;
  return runtime.plan().header->pin_everywhere != 0 || (site.pin_on >> device & 1);
}

Fallback reason_of(PinResult result) {
  switch (result) {
    case PinResult::UnknownContext:
      return Fallback::UnknownContext;
    case PinResult::TableFull:
      return Fallback::PinTableFull;
    default:
      return Fallback::PinRefused;
  }
}

void pin_span(PinnedPool& pool, Extent extent, cl_context context) {
  if (!pool.set_pin(extent, Pending)) return;  // another thread is at it
  const uint64_t start = monotonic_ns();
  PinToken token = 0;
  populate(extent.base, extent.bytes);
  const PinResult result = pin(context, extent.base, extent.bytes, &token);
  extent.pin = Pending;
  if (result != PinResult::Done) {
    // A refusal is remembered; a context that goes away is no fault of the memory.
    pool.set_pin(extent, result == PinResult::Refused ? Refused : 0);
    return runtime.count(reason_of(result));
  }
  if (!pool.set_pin(extent, token)) return unpin(token);
  const uint64_t ns = monotonic_ns() - start;
  Counters& c = runtime.counters();
  add(c.pinned_ranges, 1);
  add(c.pinned_bytes, extent.bytes);
  add(c.pin_ns, ns);
  SiteCounters& site = c.sites[extent.site];
  add(site.pins, 1);
  add(site.pinned_bytes, extent.bytes);
  add(site.pin_ns, ns);
  runtime.book(extent.site, {-static_cast<double>(ns), -static_cast<double>(ns)});
}

// What one transfer of the site's memory saves when it has what the policy promises.
TransferSaving saving_of(const PlanSite& site, int device, Way way, size_t bytes) {
  if (device == NoDevice) return {};
  return transfer_saving(way_costs(device, way), static_cast<model::Policy>(site.policy), bytes,
                         may_stage(device, way));
}

bool is_mark(PinToken pin) { return pin == Pending || pin == Refused; }
PinState state_of(PinToken pin, cl_context context) { return pin ? pin_state(pin, context) : PinState::Gone; }

// Ski rental (pool/trial_account.h): a pin that the site cannot afford waits.
bool pin_is_due(const PlanSite& site, const Extent& extent, int device, const TransferSaving& saving) {
  if (is_mark(extent.pin) || !pays_on(site, device)) return false;
  TrialAccount& account = runtime.account(extent.site);
  const double cost = device == NoDevice ? 0 : runtime.plan().devices[static_cast<size_t>(device)].pin(extent.bytes);
  if (account.affords(cost)) return true;
  account.owe(saving.decides);
  return false;
}

// True: the memory is pinned (or needs no pin), so that the driver's own way is the fastest.
bool touch_pool_memory(const Target& target, Way way, const HostRange& range) {
  PinnedPool& pool = *runtime.pool_of(range.base);
  Extent extent = pool.extent_of(range.base);
  if (extent.bytes == 0) return runtime.count(Fallback::FreedMemory), false;
  Counters& c = runtime.counters();
  add(c.sites[extent.site].hits, 1);
  add(c.sites[extent.site].hit_bytes, range.bytes);
  if (extent.aside) return false;
  const char* end = static_cast<const char*>(range.base) + range.span;
  if (end > extent.base + extent.bytes) return runtime.count(Fallback::StraddlingTransfer), false;
  if (!target.device) return false;
  const int device = plan_device(target.device);
  if (device != NoDevice) add(c.device[device], 1);
  const PlanSite& site = runtime.plan_site(extent.site);
  const TransferSaving saving = saving_of(site, device, way, range.bytes);
  if (!runtime.pins(&pool)) return runtime.book(extent.site, saving), pool.is_adopted();
  PinState state = state_of(extent.pin, target.context);
  if (state == PinState::Gone && pin_is_due(site, extent, device, saving)) {
    pin_span(pool, extent, target.context);
    state = state_of(pool.extent_of(range.base).pin, target.context);
  }
  if (state == PinState::Here) runtime.book(extent.site, saving);
  return state == PinState::Here;
}

bool count_transfer(const HostRange& range) {
  if (!range.base || range.bytes == 0) return false;
  Counters& c = runtime.counters();
  add(c.transfers, 1);
  add(c.transfer_bytes, range.bytes);
  return !runtime.in_forked_child();
}

void count_drivers(const HostRange& range) {
  add(runtime.counters().drivers_own, 1);
  add(runtime.counters().drivers_own_bytes, range.bytes);
}

// A transfer as the program asked for it, looked at once.
struct LocalTransfer {
  const TransferCall& call;
  const staging::HostTransfer& moved;
  const HostRange range;
  const Way way;
  const bool pooled;  // of memory that is ours
};

// The ways that a transfer can go, each of which takes it or does not.
enum class Taken : uint8_t {
  No,
  ByDriver,  // the program's own call is the best
  ByUs       // it has been done, or begun
};

Taken pinned(const LocalTransfer& t, cl_int*) {
  return t.pooled && touch_pool_memory(target_of(t.call.queue), t.way, t.range) ? Taken::ByDriver : Taken::No;
}

Taken drivers_own(const LocalTransfer& t, cl_int*) {
  if (!is_drivers(t.range)) return Taken::No;  // a pool's, too, that the program made a buffer over
  count_drivers(t.range);
  return Taken::ByDriver;
}

Taken reused(const LocalTransfer& t, cl_int*) {
  return !t.pooled && reuse(t.call, t.way, t.range) ? Taken::ByDriver : Taken::No;
}

// Bytes that are still on their way there: the driver knows the order.
Taken coming(const LocalTransfer& t, cl_int*) {
  return t.call.way == staging::Way::ToDevice && are_coming(t.range) ? Taken::ByDriver : Taken::No;
}

Taken staged(const LocalTransfer& t, cl_int* error) {
  return stage(t.call, t.moved, error) ? Taken::ByUs : Taken::No;
}

// The first that takes it; none: the driver's.
constexpr Taken (*Takers[])(const LocalTransfer&, cl_int*) = {pinned, drivers_own, reused, coming, staged};

}  // namespace

bool transfer(const TransferCall& call, cl_int* error) noexcept {
  if (!runtime.active()) return false;
  // Refused for that: nobody looks at what the other arguments point to.
  if (!call.queue || (!call.mem && !call.svm)) return false;
  const staging::HostTransfer moved = describe(call);
  const HostRange range = host_range(moved);
  if (!count_transfer(range)) return false;
  runtime.worked(range.bytes);
  if (call.way == staging::Way::ToHost && range.span == range.bytes) huge_pages.filled(range.base, range.bytes);
  const LocalTransfer t{call, moved, range, way_of(call.way, call.shape), runtime.owns(range.base)};
  for (const auto take : Takers) {
    const Taken taken = take(t, error);
    if (taken != Taken::No) return taken == Taken::ByUs;
  }
  return false;
}

void transferred(const TransferCall& call) noexcept {
  const bool comes = call.way == staging::Way::ToHost && !call.blocking;
  if (!comes && !(call.blocking && any_coming())) return;
  QueueEntry queue;
  const bool in_order = look_up_queue(call.queue, &queue) && queue.in_order;
  if (comes) return bytes_come(call.queue, in_order, call.event ? *call.event : nullptr, host_range(describe(call)));
  if (in_order) queue_is_over(call.queue);  // with all that was before it
}

bool before_copy_in(const void* host, size_t bytes) noexcept {
  return runtime.active() && count_transfer({host, bytes, bytes});
}

void left_to_copy_in(cl_context context, const void* host, size_t bytes) noexcept {
  if (runtime.owns(host)) touch_pool_memory({context, first_device(context)}, HostToDevice, {host, bytes, bytes});
}

void provide_driver_memory(cl_context context) noexcept {
  static constinit std::atomic<bool> tried{false};
  if (!runtime.wants_driver_memory() || tried.exchange(true)) return;
  // In a context of our own, because this memory must outlive the program's.
  cl_device_id device = first_device(context);
  const auto create_context = GT_REAL(clCreateContext);
  const auto create_queue = GT_REAL(clCreateCommandQueue);
  const auto info = GT_REAL(clGetDeviceInfo);
  ClFunctions cl;
  cl.clCreateBuffer = GT_REAL(clCreateBuffer);
  cl.clReleaseMemObject = GT_REAL(clReleaseMemObject);
  cl.clEnqueueMapBuffer = GT_REAL(clEnqueueMapBuffer);
  cl.clEnqueueUnmapMemObject = GT_REAL(clEnqueueUnmapMemObject);
  cl.clFinish = GT_REAL(clFinish);
  if (!device || !create_context || !create_queue || !info || !cl.has(ClFunctions::Memory))
    return runtime.count(Fallback::DriverMemory);
  cl_ulong largest = 0;
  info(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr);
  const size_t bytes = std::min<size_t>(runtime.plan().header->driver_bytes, largest);
  cl_int err = CL_SUCCESS;
  cl_context own = create_context(nullptr, 1, &device, nullptr, nullptr, &err);
  cl_command_queue queue = err == CL_SUCCESS ? create_queue(own, device, 0, &err) : nullptr;
  memory::DriverMemory memory;
  if (err != CL_SUCCESS || memory::map_driver_memory(cl, own, queue, bytes, &memory) != CL_SUCCESS)
    return runtime.count(Fallback::DriverMemory);
  runtime.adopt_driver_memory(memory.base, memory.bytes);
}

}  // namespace gt::opt
