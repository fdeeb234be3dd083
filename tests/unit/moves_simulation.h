// Two devices of plain memory, for tests of moves between them. Their OpenCL runs a command only when somebody waits
// for it, so that a slot that is used again too early shows; their CUDA knows who may reach what. Any call can be
// refused.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "transport/moves/native_moves.h"

namespace gt::moves {

constexpr size_t KiB = 1024, MiB = 1024 * KiB;

struct Event;
struct Queue {
  std::deque<std::pair<Event*, std::function<void()>>> commands;
};
struct Event {
  Queue* queue;
  bool over = false;
};

struct Sim {
  int calls = 0, refuse_at = -1;  // the number of the call that fails
  int objects = 0, pins = 0;      // alive
  size_t largest = 0, reads_waiting = 0, most_reads_waiting = 0;
  struct {
    size_t width, height, element;
  } image = {};
  std::map<cl_mem, std::shared_ptr<char[]>> buffers;  // of the trial, and of what is imported
  std::chrono::microseconds bus{0};                   // a read takes so much longer
  bool refuse() { return calls++ == refuse_at; }
};
inline Sim sim;

inline char* bytes_of(cl_mem mem) { return reinterpret_cast<char*>(mem); }

inline cl_mem own_buffer(size_t size) {
  std::shared_ptr<char[]> memory(new char[size]);
  const auto mem = reinterpret_cast<cl_mem>(memory.get());
  sim.buffers[mem] = std::move(memory);
  return mem;
}

inline void run_until(Event* event) {
  while (!event->over) {
    auto [e, command] = std::move(event->queue->commands.front());
    event->queue->commands.pop_front();
    command();
    if (e) e->over = true;
  }
}

inline std::vector<std::pair<char*, size_t>> rows_of(cl_mem image, const size_t* origin, const size_t* region) {
  std::vector<std::pair<char*, size_t>> rows;
  const auto& i = sim.image;
  for (size_t z = origin[2]; z < origin[2] + region[2]; ++z)
    for (size_t y = origin[1]; y < origin[1] + region[1]; ++y) {
      const size_t at = ((z * i.height + y) * i.width + origin[0]) * i.element;
      rows.emplace_back(reinterpret_cast<char*>(image) + at, region[0] * i.element);
    }
  return rows;
}

inline cl_int enqueue(cl_command_queue queue, bool blocking, cl_event* out, std::function<void()> command) {
  if (sim.refuse()) return CL_OUT_OF_RESOURCES;
  auto* const q = reinterpret_cast<Queue*>(queue);
  auto* const e = new Event{q};
  q->commands.emplace_back(e, std::move(command));
  if (blocking) run_until(e);
  if (out) {
    ++sim.objects;
    *out = reinterpret_cast<cl_event>(e);
  } else {
    run_until(e);
    delete e;
  }
  return CL_SUCCESS;
}

inline ClFunctions functions() {
  ClFunctions f;
  f.clCreateCommandQueue = [](cl_context, cl_device_id, cl_command_queue_properties, cl_int* code) {
    *code = sim.refuse() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (*code != CL_SUCCESS) return cl_command_queue{};
    ++sim.objects;
    return reinterpret_cast<cl_command_queue>(new Queue);
  };
  f.clReleaseCommandQueue = [](cl_command_queue q) {
    --sim.objects;
    CHECK(reinterpret_cast<Queue*>(q)->commands.empty());
    delete reinterpret_cast<Queue*>(q);
    return CL_SUCCESS;
  };
  f.clCreateBuffer = [](cl_context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
    CHECK(flags == (CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0)));
    *code = sim.refuse() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (*code != CL_SUCCESS) return cl_mem{};
    if (!host) return own_buffer(size);
    ++sim.pins;
    return static_cast<cl_mem>(host);
  };
  f.clReleaseMemObject = [](cl_mem mem) {
    if (!sim.buffers.erase(mem)) --sim.pins;
    return CL_SUCCESS;
  };
  f.clEnqueueReadBuffer = [](cl_command_queue q, cl_mem mem, cl_bool blocking, size_t offset, size_t size, void* to,
                             cl_uint, const cl_event*, cl_event* out) {
    sim.largest = std::max(sim.largest, size);
    sim.most_reads_waiting = std::max(sim.most_reads_waiting, ++sim.reads_waiting);
    const char* const from = reinterpret_cast<const char*>(mem) + offset;
    std::this_thread::sleep_for(sim.bus);
    return enqueue(q, blocking, out, [=] {
      --sim.reads_waiting;
      std::memcpy(to, from, size);
    });
  };
  f.clEnqueueWriteBuffer = [](cl_command_queue q, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                              const void* from, cl_uint, const cl_event*, cl_event* out) {
    char* const to = reinterpret_cast<char*>(mem) + offset;
    return enqueue(q, blocking, out, [=] { std::memcpy(to, from, size); });
  };
  // Images lie packed in memory, as sim.image says.
  f.clEnqueueReadImage = [](cl_command_queue q, cl_mem mem, cl_bool blocking, const size_t* origin,
                            const size_t* region, size_t, size_t, void* to, cl_uint, const cl_event*, cl_event* out) {
    return enqueue(q, blocking, out, [rows = rows_of(mem, origin, region), to] {
      char* at = static_cast<char*>(to);
      for (const auto& [row, bytes] : rows) at = std::copy_n(row, bytes, at);
    });
  };
  f.clEnqueueWriteImage = [](cl_command_queue q, cl_mem mem, cl_bool blocking, const size_t* origin,
                             const size_t* region, size_t, size_t, const void* from, cl_uint, const cl_event*,
                             cl_event* out) {
    return enqueue(q, blocking, out, [rows = rows_of(mem, origin, region), from] {
      const char* at = static_cast<const char*>(from);
      for (const auto& [row, bytes] : rows) std::copy_n(at, bytes, row), at += bytes;
    });
  };
  f.clEnqueueCopyBuffer = [](cl_command_queue q, cl_mem from, cl_mem to, size_t at, size_t there, size_t size, cl_uint,
                             const cl_event*, cl_event* out) {
    return enqueue(q, false, out, [=] { std::memcpy(bytes_of(to) + there, bytes_of(from) + at, size); });
  };
  f.clEnqueueCopyImageToBuffer = [](cl_command_queue q, cl_mem image, cl_mem to, const size_t* origin,
                                    const size_t* region, size_t there, cl_uint, const cl_event*, cl_event* out) {
    return enqueue(q, false, out, [rows = rows_of(image, origin, region), to, there] {
      char* at = bytes_of(to) + there;
      for (const auto& [row, bytes] : rows) at = std::copy_n(row, bytes, at);
    });
  };
  f.clEnqueueCopyBufferToImage = [](cl_command_queue q, cl_mem from, cl_mem image, size_t there, const size_t* origin,
                                    const size_t* region, cl_uint, const cl_event*, cl_event* out) {
    return enqueue(q, false, out, [rows = rows_of(image, origin, region), from, there] {
      const char* at = bytes_of(from) + there;
      for (const auto& [row, bytes] : rows) std::copy_n(at, bytes, row), at += bytes;
    });
  };
  f.clCreateBufferWithProperties = [](cl_context, const cl_mem_properties* list, cl_mem_flags, size_t size, void*,
                                      cl_int* code) {
    *code = sim.refuse() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (*code != CL_SUCCESS) return cl_mem{};
    CHECK(list[0] == 0x2060);
    const int descriptor = static_cast<int>(list[1]);
    void* const base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    REQUIRE(base != MAP_FAILED);
    ::close(descriptor);
    const auto mem = static_cast<cl_mem>(base);
    sim.buffers[mem] = std::shared_ptr<char[]>(static_cast<char*>(base), [size](char* p) { ::munmap(p, size); });
    return mem;
  };
  f.clGetDeviceInfo = [](cl_device_id device, cl_device_info name, size_t size, void* value, size_t* needed) {
    constexpr char Extensions[] = "cl_khr_fp64 cl_khr_external_memory_opaque_fd cl_khr_device_uuid";
    cuda::Uuid uuid{};
    uuid.bytes[3] = static_cast<unsigned char>(reinterpret_cast<uintptr_t>(device));
    const bool asks_uuid = name == 0x106A;
    const size_t bytes = asks_uuid ? sizeof uuid : sizeof Extensions;
    if (needed) *needed = bytes;
    if (value && size >= bytes) std::memcpy(value, asks_uuid ? static_cast<const void*>(&uuid) : Extensions, bytes);
    return sim.refuse() ? CL_INVALID_VALUE : CL_SUCCESS;
  };
  f.clFlush = [](cl_command_queue) { return CL_SUCCESS; };
  f.clWaitForEvents = [](cl_uint, const cl_event* events) {
    run_until(reinterpret_cast<Event*>(events[0]));
    return sim.refuse() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
  };
  f.clReleaseEvent = [](cl_event e) {
    --sim.objects;
    delete reinterpret_cast<Event*>(e);
    return CL_SUCCESS;
  };
  return f;
}

// --- CUDA ---

// CUDA, over memory that two mappings share.
struct FakeCuda {
  int live = 0;      // what was made and not let go of
  int copies = 0;
  int calls = 0, refuse_at = -1;
  bool mixes_up = false;
  std::chrono::microseconds copy_time{0};
  size_t free = 100;
  std::vector<cuda::Device> current;  // whose contexts are, the last one innermost
  struct Mapped {
    size_t bytes;
    std::set<cuda::Device> may;
  };
  std::map<cuda::Address, Mapped> mapped;
  bool refuse() { return calls++ == refuse_at; }
  bool reaches(cuda::Address at, size_t bytes) const {
    auto it = mapped.upper_bound(at);
    if (it == mapped.begin() || current.empty()) return false;
    --it;
    return at + bytes <= it->first + it->second.bytes && it->second.may.contains(current.back());
  }
};
inline FakeCuda fake;

inline cuda::Code made(bool good) {
  if (good) ++fake.live;
  return good ? 0 : 2;
}

inline const cuda::Functions* fake_cuda() {
  static cuda::Functions f;
  f.device_count = [](int* n) { return *n = 3, fake.refuse() ? 1 : 0; };
  f.device = [](cuda::Device* device, int i) { return *device = i, 0; };
  f.uuid = [](cuda::Uuid* uuid, cuda::Device device) {
    *uuid = {};
    uuid->bytes[3] = static_cast<unsigned char>(device);
    return 0;
  };
  f.retain_context = [](cuda::Context* context, cuda::Device device) {
    *context = reinterpret_cast<cuda::Context>(uintptr_t{100} + static_cast<uintptr_t>(device));
    return made(!fake.refuse());
  };
  f.release_context = [](cuda::Device) { return --fake.live, 0; };
  f.push_context = [](cuda::Context context) {
    if (fake.refuse()) return 2;
    fake.current.push_back(static_cast<cuda::Device>(reinterpret_cast<uintptr_t>(context) - 100));
    return made(true);
  };
  f.pop_context = [](cuda::Context*) { return fake.current.pop_back(), --fake.live, 0; };
  f.memory_info = [](size_t* free, size_t* total) { return *free = fake.free, *total = 100, 0; };
  f.granularity = [](size_t* unit, const cuda::AllocationProperties*, int) { return *unit = size_t{2} << 20, 0; };
  f.allocate = [](cuda::Allocation* out, size_t size, const cuda::AllocationProperties*, unsigned long long) {
    if (fake.refuse()) return 2;
    const int fd = ::memfd_create("device", MFD_CLOEXEC);
    REQUIRE(::ftruncate(fd, static_cast<off_t>(size)) == 0);
    *out = static_cast<cuda::Allocation>(fd);
    return made(true);
  };
  f.release = [](cuda::Allocation a) { return ::close(static_cast<int>(a)), --fake.live, 0; };
  f.export_handle = [](void* out, cuda::Allocation a, int, unsigned long long) {
    if (fake.refuse()) return 801;
    const int copy = ::dup(static_cast<int>(a));
    std::memcpy(out, &copy, sizeof copy);
    return 0;
  };
  f.reserve_address = [](cuda::Address* out, size_t size, size_t, cuda::Address, unsigned long long) {
    if (fake.refuse()) return 2;
    *out = reinterpret_cast<cuda::Address>(::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    return made(true);
  };
  f.free_address = [](cuda::Address at, size_t size) {
    return ::munmap(reinterpret_cast<void*>(at), size), --fake.live, 0;
  };
  f.map = [](cuda::Address at, size_t size, size_t, cuda::Allocation a, unsigned long long) {
    if (fake.refuse()) return 2;
    ::mmap(reinterpret_cast<void*>(at), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, static_cast<int>(a), 0);
    fake.mapped[at] = {size, {}};
    return made(true);
  };
  f.unmap = [](cuda::Address at, size_t) { return fake.mapped.erase(at), --fake.live, 0; };
  f.set_access = [](cuda::Address at, size_t size, const cuda::Access* access, size_t n) {
    if (fake.refuse()) return 217;  // they do not reach each other
    CHECK(fake.mapped.at(at).bytes == size);
    for (size_t i = 0; i < n; ++i) fake.mapped.at(at).may.insert(access[i].location.id);
    return 0;
  };
  f.create_stream = [](cuda::Stream* out, unsigned) {
    *out = reinterpret_cast<cuda::Stream>(uintptr_t{7});
    return made(!fake.refuse());
  };
  f.destroy_stream = [](cuda::Stream) { return --fake.live, 0; };
  f.synchronize = [](cuda::Stream) { return fake.refuse() ? 700 : 0; };
  f.copy = [](cuda::Address to, cuda::Address from, size_t size, cuda::Stream) {
    if (!fake.reaches(to, size) || !fake.reaches(from, size)) return 1;
    std::this_thread::sleep_for(fake.copy_time);
    ++fake.copies;
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
    if (fake.mixes_up && size > KiB) reinterpret_cast<char*>(to)[size / 2] ^= 1;
    return 0;
  };
  return &f;
}

}  // namespace gt::moves
