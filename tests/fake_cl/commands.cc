// The fake's commands: done when enqueued, timed by a device clock that costs what they would.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "tests/fake_cl/driver.h"
#include "tests/fake_cl/script.h"

namespace gt::fake {
namespace {

constexpr uint64_t BytesPerNs = 10;

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
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

struct Waits {
  cl_uint count;
  const cl_event* list;
};

cl_int check(cl_command_queue q, Waits waits) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if ((waits.count == 0) != (waits.list == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < waits.count; ++i)
    if (!waits.list[i]) return CL_INVALID_EVENT_WAIT_LIST;
  return CL_SUCCESS;
}

// A command that has run: its event, when one is wanted.
cl_int finish(cl_command_queue q, cl_command_type type, uint64_t cost_ns, cl_event* out) {
  const uint64_t queued = now_ns();
  const uint64_t start = occupy_device(queued + 100, std::max<uint64_t>(cost_ns, 1));
  if (!out) return CL_SUCCESS;
  auto* event = new _cl_event;
  event->context = Ref<_cl_context>(q->context.get());
  event->queue = q;
  event->type = type;
  event->profiled = q->properties & CL_QUEUE_PROFILING_ENABLE;
  const uint64_t times[] = {queued, queued + 50, start, start + std::max<uint64_t>(cost_ns, 1)};
  std::copy(std::begin(times), std::end(times), event->times);
  *out = event;
  return CL_SUCCESS;
}

bool inside(cl_mem mem, size_t offset, size_t size) {
  return mem && size != 0 && offset <= mem->size && size <= mem->size - offset;
}

// A row by row copy between two boxes.
struct Box {
  uint8_t* data;
  const size_t* origin;
  size_t row, slice;
  uint8_t* at(size_t y, size_t z) const {
    return data + (origin[2] + z) * slice + (origin[1] + y) * row + origin[0];
  }
};
void copy_box(const Box& to, const Box& from, const size_t* region) {
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; ++y) std::memmove(to.at(y, z), from.at(y, z), region[0]);
}
cl_int rect(cl_mem mem, bool write, const size_t* origin, const size_t* host_origin,
            const size_t* region, size_t row, size_t slice, size_t host_row, size_t host_slice,
            void* ptr) {
  if (!mem) return CL_INVALID_MEM_OBJECT;
  if (!origin || !host_origin || !region || !ptr || !region[0] || !region[1] || !region[2])
    return CL_INVALID_VALUE;
  const auto row_of = [&](size_t pitch) { return pitch ? pitch : region[0]; };
  const Box device{mem->data, origin, row_of(row), slice ? slice : row_of(row) * region[1]};
  const Box host{static_cast<uint8_t*>(ptr), host_origin, row_of(host_row),
                 host_slice ? host_slice : row_of(host_row) * region[1]};
  const uint8_t* end = device.at(region[1] - 1, region[2] - 1) + region[0];
  if (end > mem->data + mem->size) return CL_INVALID_VALUE;
  if (write)
    copy_box(device, host, region);
  else
    copy_box(host, device, region);
  return CL_SUCCESS;
}
uint64_t rect_ns(const size_t* region) { return region[0] * region[1] * region[2] / BytesPerNs; }

cl_mem mem_arg(cl_kernel k, size_t i) {
  cl_mem mem = nullptr;
  if (i < k->args.size() && k->args[i].size() == sizeof mem)
    std::memcpy(&mem, k->args[i].data(), sizeof mem);
  return mem;
}
}  // namespace

void run_kernel(cl_kernel k) {
  cl_mem a = mem_arg(k, 0), b = mem_arg(k, 1);
  if (k->source.name == "copy" && a && b)
    std::memmove(b->data, a->data, std::min(a->size, b->size));
  if (k->source.name == "increment" && a)
    std::for_each(a->data, a->data + a->size, [](uint8_t& v) { ++v; });
  if (k->source.name == "print") print(k->program.get()->context.get());
}

namespace {
void fill(uint8_t* to, size_t size, const void* pattern, size_t pattern_size) {
  for (size_t i = 0; i < size; i += pattern_size) std::memcpy(to + i, pattern, pattern_size);
}

}  // namespace

// --- Transfers ---
cl_int fake_clEnqueueReadBuffer(cl_command_queue q, cl_mem mem, cl_bool, size_t offset, size_t size,
                                void* ptr, cl_uint n, const cl_event* waits, cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (!mem) return CL_INVALID_MEM_OBJECT;
  if (!inside(mem, offset, size) || !ptr) return CL_INVALID_VALUE;
  std::memmove(ptr, mem->data + offset, size);
  return finish(q, CL_COMMAND_READ_BUFFER, size / BytesPerNs, event);
}
cl_int fake_clEnqueueWriteBuffer(cl_command_queue q, cl_mem mem, cl_bool, size_t offset,
                                 size_t size, const void* ptr, cl_uint n, const cl_event* waits,
                                 cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (!mem) return CL_INVALID_MEM_OBJECT;
  if (!inside(mem, offset, size) || !ptr) return CL_INVALID_VALUE;
  std::memmove(mem->data + offset, ptr, size);
  return finish(q, CL_COMMAND_WRITE_BUFFER, size / BytesPerNs, event);
}
cl_int fake_clEnqueueReadBufferRect(cl_command_queue q, cl_mem mem, cl_bool, const size_t* origin,
                                    const size_t* host_origin, const size_t* region, size_t row,
                                    size_t slice, size_t host_row, size_t host_slice, void* ptr,
                                    cl_uint n, const cl_event* waits, cl_event* event) {
  cl_int error = check(q, {n, waits});
  if (!error)
    error = rect(mem, false, origin, host_origin, region, row, slice, host_row, host_slice, ptr);
  return error ? error : finish(q, CL_COMMAND_READ_BUFFER_RECT, rect_ns(region), event);
}
cl_int fake_clEnqueueWriteBufferRect(cl_command_queue q, cl_mem mem, cl_bool, const size_t* origin,
                                     const size_t* host_origin, const size_t* region, size_t row,
                                     size_t slice, size_t host_row, size_t host_slice,
                                     const void* ptr, cl_uint n, const cl_event* waits,
                                     cl_event* event) {
  cl_int error = check(q, {n, waits});
  if (!error)
    error = rect(mem, true, origin, host_origin, region, row, slice, host_row, host_slice,
                 const_cast<void*>(ptr));
  return error ? error : finish(q, CL_COMMAND_WRITE_BUFFER_RECT, rect_ns(region), event);
}
cl_int fake_clEnqueueCopyBuffer(cl_command_queue q, cl_mem from, cl_mem to, size_t from_offset,
                                size_t to_offset, size_t size, cl_uint n, const cl_event* waits,
                                cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (!from || !to) return CL_INVALID_MEM_OBJECT;
  if (!inside(from, from_offset, size) || !inside(to, to_offset, size)) return CL_INVALID_VALUE;
  std::memmove(to->data + to_offset, from->data + from_offset, size);
  return finish(q, CL_COMMAND_COPY_BUFFER, size / BytesPerNs, event);
}
cl_int fake_clEnqueueFillBuffer(cl_command_queue q, cl_mem mem, const void* pattern,
                                size_t pattern_size, size_t offset, size_t size, cl_uint n,
                                const cl_event* waits, cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (!inside(mem, offset, size) || !pattern || pattern_size == 0 || size % pattern_size)
    return CL_INVALID_VALUE;
  fill(mem->data + offset, size, pattern, pattern_size);
  return finish(q, CL_COMMAND_FILL_BUFFER, size / BytesPerNs, event);
}
void* fake_clEnqueueMapBuffer(cl_command_queue q, cl_mem mem, cl_bool, cl_map_flags, size_t offset,
                              size_t size, cl_uint n, const cl_event* waits, cl_event* event,
                              cl_int* err) {
  cl_int error = check(q, {n, waits});
  if (!error && !inside(mem, offset, size)) error = CL_INVALID_VALUE;
  if (!error) error = finish(q, CL_COMMAND_MAP_BUFFER, size / BytesPerNs, event);
  if (err) *err = error;
  if (error) return nullptr;
  ++mem->maps;
  return mem->data + offset;
}
cl_int fake_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem mem, void* ptr, cl_uint n,
                                    const cl_event* waits, cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (!mem) return CL_INVALID_MEM_OBJECT;
  const auto* p = static_cast<const uint8_t*>(ptr);
  if (mem->maps == 0 || p < mem->data || p >= mem->data + mem->size) return CL_INVALID_VALUE;
  --mem->maps;
  return finish(q, CL_COMMAND_UNMAP_MEM_OBJECT, mem->size / BytesPerNs, event);
}
cl_int fake_clEnqueueMigrateMemObjects(cl_command_queue q, cl_uint count, const cl_mem* list,
                                       cl_mem_migration_flags, cl_uint n, const cl_event* waits,
                                       cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (count == 0 || !list) return CL_INVALID_VALUE;
  return finish(q, CL_COMMAND_MIGRATE_MEM_OBJECTS, 1, event);
}
cl_int fake_clEnqueueSVMMemcpy(cl_command_queue q, cl_bool, void* to, const void* from, size_t size,
                               cl_uint n, const cl_event* waits, cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (!to || !from) return CL_INVALID_VALUE;
  std::memmove(to, from, size);
  return finish(q, CL_COMMAND_SVM_MEMCPY, size / BytesPerNs, event);
}
cl_int fake_clEnqueueSVMMemFill(cl_command_queue q, void* to, const void* pattern,
                                size_t pattern_size, size_t size, cl_uint n, const cl_event* waits,
                                cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (!to || !pattern || pattern_size == 0 || size % pattern_size) return CL_INVALID_VALUE;
  fill(static_cast<uint8_t*>(to), size, pattern, pattern_size);
  return finish(q, CL_COMMAND_SVM_MEMFILL, size / BytesPerNs, event);
}
cl_int fake_clEnqueueSVMMap(cl_command_queue q, cl_bool, cl_map_flags, void* p, size_t, cl_uint n,
                            const cl_event* waits, cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  return p ? finish(q, CL_COMMAND_SVM_MAP, 1, event) : CL_INVALID_VALUE;
}
cl_int fake_clEnqueueSVMUnmap(cl_command_queue q, void* p, cl_uint n, const cl_event* waits,
                              cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  return p ? finish(q, CL_COMMAND_SVM_UNMAP, 1, event) : CL_INVALID_VALUE;
}

// --- Launches and order ---
cl_int fake_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim, const size_t*,
                                   const size_t* global, const size_t*, cl_uint n,
                                   const cl_event* waits, cl_event* event) {
  if (const cl_int error = check(q, {n, waits})) return error;
  if (!k) return CL_INVALID_KERNEL;
  if (dim < 1 || dim > 3) return CL_INVALID_WORK_DIMENSION;
  if (!global) return CL_INVALID_GLOBAL_WORK_SIZE;
  run_kernel(k);
  return finish(q, CL_COMMAND_NDRANGE_KERNEL, kernel_ns(), event);
}
cl_int fake_clEnqueueTask(cl_command_queue q, cl_kernel k, cl_uint n, const cl_event* waits,
                          cl_event* event) {
  const size_t one = 1;
  return fake_clEnqueueNDRangeKernel(q, k, 1, nullptr, &one, nullptr, n, waits, event);
}
cl_int fake_clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event* waits,
                                        cl_event* event) {
  const cl_int error = check(q, {n, waits});
  return error ? error : finish(q, CL_COMMAND_MARKER, 1, event);
}
cl_int fake_clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint n, const cl_event* waits,
                                         cl_event* event) {
  const cl_int error = check(q, {n, waits});
  return error ? error : finish(q, CL_COMMAND_BARRIER, 1, event);
}
cl_int fake_clEnqueueMarker(cl_command_queue q, cl_event* event) {
  return fake_clEnqueueMarkerWithWaitList(q, 0, nullptr, event);
}
cl_int fake_clEnqueueBarrier(cl_command_queue q) {
  return fake_clEnqueueBarrierWithWaitList(q, 0, nullptr, nullptr);
}
cl_int fake_clEnqueueWaitForEvents(cl_command_queue q, cl_uint n, const cl_event* list) {
  return check(q, {n, list});
}
cl_int fake_clFlush(cl_command_queue q) { return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }
cl_int fake_clFinish(cl_command_queue q) { return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }
cl_int fake_clWaitForEvents(cl_uint n, const cl_event* list) {
  if (n == 0 || !list) return CL_INVALID_VALUE;
  bool failed = false;
  for (cl_uint i = 0; i < n; ++i) {
    if (!list[i]) return CL_INVALID_EVENT;
    while (list[i]->status > CL_COMPLETE)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    failed |= list[i]->status < 0;
  }
  return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

}  // namespace gt::fake
