// The fake's commands, timed by a device clock that costs what they would.
#include <algorithm>
#include <cstring>

#include "tests/fake_cl/behaviour.h"
#include "tests/fake_cl/driver.h"
#include "tests/fake_cl/held.h"

namespace gt::fake {
namespace {

constexpr uint64_t BytesPerNs = 10;

bool inside(cl_mem mem, size_t offset, size_t size) {
  return mem && size != 0 && offset <= mem->size && size <= mem->size - offset;
}

// A range of a buffer's contents, while a command that is to move it waits.
struct Bytes {
  Ref<_cl_mem> mem;
  size_t offset, size;
  uint8_t* data() const { return mem.get()->data + offset; }
};

// A row by row copy between two boxes.
struct Box {
  uint8_t* data;
  size_t origin[3];
  size_t row, slice;
  uint8_t* at(size_t y, size_t z) const {
    return data + (origin[2] + z) * slice + (origin[1] + y) * row + origin[0];
  }
};
Box box(void* data, const size_t* origin, const size_t* region, size_t row, size_t slice) {
  if (row == 0) row = region[0];
  return {static_cast<uint8_t*>(data), {origin[0], origin[1], origin[2]}, row, slice ? slice : row * region[1]};
}

cl_int rect(const Command& command, cl_mem mem, bool write, const size_t* origin, const size_t* host_origin,
            const size_t* region, size_t row, size_t slice, size_t host_row, size_t host_slice, void* ptr) {
  if (const cl_int error = check(command)) return error;
  if (!mem) return CL_INVALID_MEM_OBJECT;
  if (!origin || !host_origin || !region || !ptr || !region[0] || !region[1] || !region[2]) return CL_INVALID_VALUE;
  const Box device = box(mem->data, origin, region, row, slice);
  const Box host = box(ptr, host_origin, region, host_row, host_slice);
  const size_t width = region[0], rows = region[1], slices = region[2];
  if (device.at(rows - 1, slices - 1) + width > mem->data + mem->size) return CL_INVALID_VALUE;
  Command timed = command;
  timed.cost_ns = width * rows * slices / BytesPerNs;
  return submit(timed, [=, keep = Ref(mem)] {
    const Box &to = write ? device : host, &from = write ? host : device;
    for (size_t z = 0; z < slices; ++z)
      for (size_t y = 0; y < rows; ++y) std::memmove(to.at(y, z), from.at(y, z), width);
  });
}

cl_mem mem_arg(cl_kernel k, size_t i) {
  cl_mem mem = nullptr;
  if (i < k->args.size() && k->args[i].size() == sizeof mem)
    std::memcpy(&mem, k->args[i].data(), sizeof mem);
  return mem;
}

bool is(cl_kernel k, const char* name) { return k->source.name == name; }

// With the arguments that it has now.
Ref<_cl_kernel> as_it_is(cl_kernel k) {
  cl_kernel clone = fake_clCloneKernel(k, nullptr);
  const Ref<_cl_kernel> out(clone);
  Ref<_cl_kernel>::release(clone);
  return out;
}

void fill(uint8_t* to, size_t size, const std::vector<uint8_t>& pattern) {
  for (size_t i = 0; i < size; i += pattern.size()) std::memcpy(to + i, pattern.data(), pattern.size());
}
std::vector<uint8_t> pattern_of(const void* pattern, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(pattern);
  return {bytes, bytes + size};
}

void nothing() {}

// A command that only takes its place and its time.
cl_int take_time(const Command& command) {
  const cl_int error = check(command);
  return error ? error : submit(command, nothing);
}

}  // namespace

void run_kernel(cl_kernel k) {
  cl_mem a = mem_arg(k, 0), b = mem_arg(k, 1);
  if (is(k, "copy") && a && b) std::memmove(b->data, a->data, std::min(a->size, b->size));
  if (is(k, "increment") && a) std::for_each(a->data, a->data + a->size, [](uint8_t& v) { ++v; });
  if (is(k, "print")) print(k->program.get()->context.get());
}

// --- Transfers ---
cl_int fake_clEnqueueReadBuffer(cl_command_queue q, cl_mem mem, cl_bool blocking, size_t offset, size_t size, void* ptr,
                                cl_uint n, const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_READ_BUFFER, size / BytesPerNs, blocking != CL_FALSE, event};
  if (const cl_int error = check(command)) return error;
  if (!mem) return CL_INVALID_MEM_OBJECT;
  if (!inside(mem, offset, size) || !ptr) return CL_INVALID_VALUE;
  return submit(command, [from = Bytes{Ref(mem), offset, size}, ptr] { std::memmove(ptr, from.data(), from.size); });
}
cl_int fake_clEnqueueWriteBuffer(cl_command_queue q, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                 const void* ptr, cl_uint n, const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_WRITE_BUFFER, size / BytesPerNs, blocking != CL_FALSE, event};
  if (const cl_int error = check(command)) return error;
  if (!mem) return CL_INVALID_MEM_OBJECT;
  if (!inside(mem, offset, size) || !ptr) return CL_INVALID_VALUE;
  return submit(command, [to = Bytes{Ref(mem), offset, size}, ptr] { std::memmove(to.data(), ptr, to.size); });
}
cl_int fake_clEnqueueReadBufferRect(cl_command_queue q, cl_mem mem, cl_bool blocking, const size_t* origin,
                                    const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                    size_t host_row, size_t host_slice, void* ptr, cl_uint n, const cl_event* waits,
                                    cl_event* event) {
  return rect({q, n, waits, CL_COMMAND_READ_BUFFER_RECT, 1, blocking != CL_FALSE, event}, mem, false, origin,
              host_origin, region, row, slice, host_row, host_slice, ptr);
}
cl_int fake_clEnqueueWriteBufferRect(cl_command_queue q, cl_mem mem, cl_bool blocking, const size_t* origin,
                                     const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                     size_t host_row, size_t host_slice, const void* ptr, cl_uint n,
                                     const cl_event* waits, cl_event* event) {
  return rect({q, n, waits, CL_COMMAND_WRITE_BUFFER_RECT, 1, blocking != CL_FALSE, event}, mem, true, origin,
              host_origin, region, row, slice, host_row, host_slice, const_cast<void*>(ptr));
}
cl_int fake_clEnqueueCopyBuffer(cl_command_queue q, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                size_t size, cl_uint n, const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_COPY_BUFFER, size / BytesPerNs, false, event};
  if (const cl_int error = check(command)) return error;
  if (!from || !to) return CL_INVALID_MEM_OBJECT;
  if (!inside(from, from_offset, size) || !inside(to, to_offset, size)) return CL_INVALID_VALUE;
  return submit(command, [a = Bytes{Ref(from), from_offset, size}, b = Bytes{Ref(to), to_offset, size}] {
    std::memmove(b.data(), a.data(), a.size);
  });
}
cl_int fake_clEnqueueFillBuffer(cl_command_queue q, cl_mem mem, const void* pattern, size_t pattern_size, size_t offset,
                                size_t size, cl_uint n, const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_FILL_BUFFER, size / BytesPerNs, false, event};
  if (const cl_int error = check(command)) return error;
  if (!inside(mem, offset, size) || !pattern || pattern_size == 0 || size % pattern_size) return CL_INVALID_VALUE;
  return submit(command, [to = Bytes{Ref(mem), offset, size}, with = pattern_of(pattern, pattern_size)] {
    fill(to.data(), to.size, with);
  });
}
void* fake_clEnqueueMapBuffer(cl_command_queue q, cl_mem mem, cl_bool blocking, cl_map_flags, size_t offset,
                              size_t size, cl_uint n, const cl_event* waits, cl_event* event, cl_int* err) {
  const Command command{q, n, waits, CL_COMMAND_MAP_BUFFER, size / BytesPerNs, blocking != CL_FALSE, event};
  cl_int error = check(command);
  if (!error && !inside(mem, offset, size)) error = CL_INVALID_VALUE;
  if (!error) error = submit(command, nothing);
  if (err) *err = error;
  if (error) return nullptr;
  ++mem->maps;
  return mem->data + offset;
}
cl_int fake_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem mem, void* ptr, cl_uint n, const cl_event* waits,
                                    cl_event* event) {
  Command command{q, n, waits, CL_COMMAND_UNMAP_MEM_OBJECT, 1, false, event};
  if (const cl_int error = check(command)) return error;
  if (!mem) return CL_INVALID_MEM_OBJECT;
  const auto* p = static_cast<const uint8_t*>(ptr);
  if (mem->maps == 0 || p < mem->data || p >= mem->data + mem->size) return CL_INVALID_VALUE;
  --mem->maps;
  command.cost_ns = mem->size / BytesPerNs;
  return submit(command, nothing);
}
cl_int fake_clEnqueueMigrateMemObjects(cl_command_queue q, cl_uint count, const cl_mem* list, cl_mem_migration_flags,
                                       cl_uint n, const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_MIGRATE_MEM_OBJECTS, 1, false, event};
  if (const cl_int error = check(command)) return error;
  if (count == 0 || !list) return CL_INVALID_VALUE;
  return submit(command, nothing);
}
cl_int fake_clEnqueueSVMMemcpy(cl_command_queue q, cl_bool blocking, void* to, const void* from, size_t size, cl_uint n,
                               const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_SVM_MEMCPY, size / BytesPerNs, blocking != CL_FALSE, event};
  if (const cl_int error = check(command)) return error;
  if (!to || !from) return CL_INVALID_VALUE;
  return submit(command, [=] { std::memmove(to, from, size); });
}
cl_int fake_clEnqueueSVMMemFill(cl_command_queue q, void* to, const void* pattern, size_t pattern_size, size_t size,
                                cl_uint n, const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_SVM_MEMFILL, size / BytesPerNs, false, event};
  if (const cl_int error = check(command)) return error;
  if (!to || !pattern || pattern_size == 0 || size % pattern_size) return CL_INVALID_VALUE;
  return submit(command, [to, size, with = pattern_of(pattern, pattern_size)] {
    fill(static_cast<uint8_t*>(to), size, with);
  });
}
cl_int fake_clEnqueueSVMMap(cl_command_queue q, cl_bool blocking, cl_map_flags, void* p, size_t, cl_uint n,
                            const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_SVM_MAP, 1, blocking != CL_FALSE, event};
  if (const cl_int error = check(command)) return error;
  return p ? submit(command, nothing) : CL_INVALID_VALUE;
}
cl_int fake_clEnqueueSVMUnmap(cl_command_queue q, void* p, cl_uint n, const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_SVM_UNMAP, 1, false, event};
  if (const cl_int error = check(command)) return error;
  return p ? submit(command, nothing) : CL_INVALID_VALUE;
}

// --- Launches and order ---
cl_int fake_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim, const size_t*, const size_t* global,
                                   const size_t*, cl_uint n, const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_NDRANGE_KERNEL, behaviour().kernel_ns, false, event};
  if (const cl_int error = check(command)) return error;
  if (!k) return CL_INVALID_KERNEL;
  if (dim < 1 || dim > 3) return CL_INVALID_WORK_DIMENSION;
  if (!global) return CL_INVALID_GLOBAL_WORK_SIZE;
  if (is(k, "print")) return submit(command, [kernel = as_it_is(k)] { run_kernel(kernel.get()); });
  if (!is(k, "copy") && !is(k, "increment")) return submit(command, nothing);
  cl_mem second = is(k, "copy") ? mem_arg(k, 1) : nullptr;
  return submit(command, [kernel = as_it_is(k), a = Ref(mem_arg(k, 0)), b = Ref(second)] { run_kernel(kernel.get()); });
}
cl_int fake_clEnqueueTask(cl_command_queue q, cl_kernel k, cl_uint n, const cl_event* waits, cl_event* event) {
  const size_t one = 1;
  return fake_clEnqueueNDRangeKernel(q, k, 1, nullptr, &one, nullptr, n, waits, event);
}
cl_int fake_clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event* waits, cl_event* event) {
  return take_time({q, n, waits, CL_COMMAND_MARKER, 1, false, event});
}
cl_int fake_clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint n, const cl_event* waits, cl_event* event) {
  return take_time({q, n, waits, CL_COMMAND_BARRIER, 1, false, event});
}
cl_int fake_clEnqueueMarker(cl_command_queue q, cl_event* event) {
  return fake_clEnqueueMarkerWithWaitList(q, 0, nullptr, event);
}
cl_int fake_clEnqueueBarrier(cl_command_queue q) {
  return fake_clEnqueueBarrierWithWaitList(q, 0, nullptr, nullptr);
}
cl_int fake_clEnqueueWaitForEvents(cl_command_queue q, cl_uint n, const cl_event* list) {
  return take_time({q, n, list, CL_COMMAND_BARRIER, 1, false, nullptr});
}
cl_int fake_clFlush(cl_command_queue q) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (behaviour().runs == Behaviour::Runs::ByFlush) flush(q);
  if (behaviour().flush_finishes) wait_for_all(q);
  return CL_SUCCESS;
}
cl_int fake_clFinish(cl_command_queue q) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  wait_for_all(q);
  return loss();
}
cl_int fake_clWaitForEvents(cl_uint n, const cl_event* list) {
  if (n == 0 || !list) return CL_INVALID_VALUE;
  cl_int worst = CL_SUCCESS;
  for (cl_uint i = 0; i < n; ++i) {
    if (!list[i]) return CL_INVALID_EVENT;
    worst = std::min(worst, wait_for(list[i]));
  }
  return worst;
}

}  // namespace gt::fake
