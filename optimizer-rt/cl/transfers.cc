// Pinning on first transfer, and counting.
#include "optimizer-rt/cl/transfers.h"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "optimizer-rt/cl/contexts.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/pool/runtime.h"
#include "transport/memory/pin.h"

namespace gt::opt {
namespace {

// Tokens that are no pins: a thread is pinning this span right now; the driver refused to.
constexpr PinToken Pending = ~PinToken{0} << 16;
constexpr PinToken Refused = (~PinToken{0} << 16) - (PinToken{1} << 16);

constexpr int NoDevice = -1;

uint64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

template <size_t N>
bool device_text_is(cl_device_id device, cl_device_info what, const char (&wanted)[N]) {
  char text[N] = {};
  const auto info = GT_REAL(clGetDeviceInfo);
  return info && info(device, what, N, text, nullptr) == CL_SUCCESS &&
         std::strncmp(text, wanted, N) == 0;
}

int look_up_device(cl_device_id device) {
  const auto devices = runtime.plan().devices;
  for (size_t i = 0; i < devices.size(); ++i)
    if (device_text_is(device, CL_DEVICE_NAME, devices[i].name) &&
        device_text_is(device, CL_DRIVER_VERSION, devices[i].driver))
      return static_cast<int>(i);
  return NoDevice;
}

// The plan's number of a device; remembered, because asking the driver takes microseconds.
int device_index(cl_device_id device) {
  struct Known {
    std::atomic<cl_device_id> device{nullptr};
    std::atomic<int> index{NoDevice};
  };
  static constinit Known known[64];
  for (Known& k : known) {
    cl_device_id d = k.device.load(std::memory_order_acquire);
    if (d == device) return k.index.load(std::memory_order_relaxed);
    if (d) continue;
    const int index = look_up_device(device);
    k.index.store(index, std::memory_order_relaxed);
    k.device.store(device, std::memory_order_release);
    return index;
  }
  return look_up_device(device);
}

struct Target {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
};

Target target_of(cl_command_queue queue) {
  Target t;
  const auto info = GT_REAL(clGetCommandQueueInfo);
  if (!info || info(queue, CL_QUEUE_CONTEXT, sizeof t.context, &t.context, nullptr) != CL_SUCCESS ||
      info(queue, CL_QUEUE_DEVICE, sizeof t.device, &t.device, nullptr) != CL_SUCCESS)
    return {};
  return t;
}

// A context of several devices counts as its first.
cl_device_id first_device(cl_context context) {
  cl_device_id devices[32] = {};
  size_t size = 0;
  const auto info = GT_REAL(clGetContextInfo);
  if (!info || info(context, CL_CONTEXT_DEVICES, 0, nullptr, &size) != CL_SUCCESS ||
      size > sizeof devices)
    return {};
  info(context, CL_CONTEXT_DEVICES, size, devices, nullptr);
  return devices[0];
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
  const uint64_t start = now_ns();
  PinToken token = 0;
  const PinResult result = pin(context, extent.base, extent.bytes, &token);
  extent.pin = Pending;
  if (result != PinResult::Done) {
    // A refusal is remembered; a context that goes away is no fault of the memory.
    pool.set_pin(extent, result == PinResult::Refused ? Refused : 0);
    return runtime.count(reason_of(result));
  }
  if (!pool.set_pin(extent, token)) return unpin(token);
  const uint64_t ns = now_ns() - start;
  Counters& c = runtime.counters();
  add(c.pinned_ranges, 1);
  add(c.pinned_bytes, extent.bytes);
  add(c.pin_ns, ns);
  SiteCounters& site = c.sites[extent.site];
  add(site.pins, 1);
  add(site.pinned_bytes, extent.bytes);
  add(site.pin_ns, ns);
}

void count_hit(SiteCounters& site, Way way, size_t bytes) {
  const size_t bucket = size_bucket(bytes);
  add(site.hits[way][bucket], 1);
  add(site.hit_bytes[way][bucket], bytes);
}

bool needs_pin(PinToken pin) {
  return pin != Pending && pin != Refused && (pin == 0 || !is_pinned(pin));
}

void touch_pool_memory(const Target& target, Way way, const HostRange& range) {
  PinnedPool& pool = *runtime.pool_of(range.base);
  const Extent extent = pool.extent_of(range.base);
  if (extent.bytes == 0) return runtime.count(Fallback::FreedMemory);
  Counters& c = runtime.counters();
  count_hit(c.sites[extent.site], way, range.bytes);
  const char* end = static_cast<const char*>(range.base) + range.span;
  if (end > extent.base + extent.bytes) runtime.count(Fallback::StraddlingTransfer);
  if (!target.device) return;
  const int device = device_index(target.device);
  if (device != NoDevice) add(c.device[device], 1);
  const PlanSite& site = runtime.plan().sites[extent.site];
  if (runtime.pins(&pool) && needs_pin(extent.pin) && pays_on(site, device))
    pin_span(pool, extent, target.context);
}

// The common part: true when the memory is the pool's and this process may pin.
bool is_ours(const HostRange& range) {
  if (!runtime.active() || !range.base || range.bytes == 0) return false;
  Counters& c = runtime.counters();
  add(c.transfers, 1);
  add(c.transfer_bytes, range.bytes);
  return runtime.owns(range.base) && !runtime.in_forked_child();
}

}  // namespace

HostRange contiguous(const void* p, size_t bytes) noexcept { return {p, bytes, bytes}; }

HostRange rectangle(const void* p, const size_t* origin, const size_t* region, size_t row_pitch,
                    size_t slice_pitch) noexcept {
  if (!p || !region || !region[0] || !region[1] || !region[2]) return {};
  const size_t row = row_pitch ? row_pitch : region[0];
  const size_t slice = slice_pitch ? slice_pitch : row * region[1];
  const size_t first = origin ? origin[0] + origin[1] * row + origin[2] * slice : 0;
  const size_t span = (region[2] - 1) * slice + (region[1] - 1) * row + region[0];
  return {static_cast<const char*>(p) + first, span, region[0] * region[1] * region[2]};
}

HostRange image_region(cl_mem image, const void* p, const size_t* region, size_t row_pitch,
                       size_t slice_pitch) noexcept {
  size_t element = 0;
  const auto info = GT_REAL(clGetImageInfo);
  if (!region || !info || !runtime.active() || !runtime.owns(p)) return {};
  if (info(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr) != CL_SUCCESS)
    return {};
  const size_t in_bytes[3] = {region[0] * element, region[1], region[2]};
  return rectangle(p, nullptr, in_bytes, row_pitch, slice_pitch);
}

void before_transfer(cl_command_queue queue, Way way, const HostRange& range) noexcept {
  if (is_ours(range)) touch_pool_memory(target_of(queue), way, range);
}

void before_copy_in(cl_context context, const HostRange& range) noexcept {
  if (is_ours(range)) touch_pool_memory({context, first_device(context)}, HostToDevice, range);
}

void provide_driver_memory(cl_context context) noexcept {
  static constinit std::atomic<bool> tried{false};
  if (!runtime.wants_driver_memory() || tried.exchange(true)) return;
  // In a context of our own, because this memory must outlive the program's.
  cl_device_id device = first_device(context);
  const auto create_context = GT_REAL(clCreateContext);
  const auto create_queue = GT_REAL(clCreateCommandQueue);
  const auto info = GT_REAL(clGetDeviceInfo);
  const memory::ClTable cl = {GT_REAL(clCreateBuffer), GT_REAL(clReleaseMemObject),
                              GT_REAL(clEnqueueMapBuffer), GT_REAL(clEnqueueUnmapMemObject),
                              GT_REAL(clFinish)};
  if (!device || !create_context || !create_queue || !info || !cl.complete())
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
