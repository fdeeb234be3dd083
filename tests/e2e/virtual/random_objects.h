// What a random program works with: its queues, buffers and images, and which commands each of them has to wait for.
#pragma once

#include <CL/cl.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "tests/random_bytes.h"

inline uint64_t g_seed;
inline void check(cl_int code, const char* what, int line) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "seed %llu, line %d: %s: %d\n", static_cast<unsigned long long>(g_seed), line, what, code);
  std::exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

struct Digest {
  uint64_t value = 0xcbf29ce484222325;
  void add(const void* p, size_t n) {
    const auto* const bytes = static_cast<const uint8_t*>(p);
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
      uint64_t word = n - i;  // of the last ones there may be fewer
      std::memcpy(&word, bytes + i, std::min(sizeof word, n - i));
      value = (value ^ word) * 0x100000001b3;
      value ^= value >> 32;
    }
  }
};

// A root with what must have ended before it is read, and before it is written.
struct Contents {
  cl_mem mem = nullptr;
  size_t bytes = 0;
  size_t width = 0, height = 0;  // images of four bytes an element
  bool image = false;
  std::vector<uint8_t> host;     // of USE_HOST_PTR
  uint8_t* shared = nullptr;     // shared virtual memory; `mem` is a buffer over it then, or nullptr
  size_t alignment = 128;        // of that
  bool fine = false;             // and it is fine-grained
  cl_mem part = nullptr;         // a sub-buffer, or nullptr
  size_t part_origin = 0, part_bytes = 0;
  std::vector<cl_event> writers, readers;
};

struct World {
  std::vector<cl_device_id> devices;
  cl_context context;
  cl_program program;
  bool shared = false;  // of one device, which has shared virtual memory
  bool fine = false;    // and fine-grained memory, too
};

struct Pending {  // bytes that have not been looked at
  cl_event event;
  std::vector<uint8_t>* bytes;
};

class Objects {
 protected:
  Objects(const World& world, uint64_t seed) : world_(world), random_(seed) {
    make_queues();
    for (size_t i = 0, n = 3 + pick(3); i < n; ++i) make_buffer();
    for (size_t i = 0; i < 2; ++i) make_image();
    for (size_t i = 0, n = world.shared ? 2 + pick(3) : 0; i < n; ++i) make_shared();
  }
  ~Objects() {
    for (cl_event e : events_) CHECK(clReleaseEvent(e));
    for (const Contents& c : all_) {
      release(c);
      if (c.shared) clSVMFree(world_.context, c.shared);
    }
    for (cl_command_queue q : queues_) CHECK(clReleaseCommandQueue(q));
    for (Pending& p : pending_) delete p.bytes;
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  bool chance(size_t one_in) { return pick(one_in) == 0; }
  uint32_t word() { return static_cast<uint32_t>(random_()); }
  std::vector<uint8_t> bytes(size_t n) {
    std::vector<uint8_t> v(n);
    gt::testing::randomize(random_, v);
    return v;
  }

  void make_queues() {
    for (size_t i = 0; i < 3; ++i) {
      cl_int code = 0;
      const cl_command_queue_properties order = chance(2) ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
      queues_.push_back(
          clCreateCommandQueue(world_.context, world_.devices[i % world_.devices.size()], order, &code));
      CHECK(code);
    }
  }
  void make_buffer() {
    Contents c;
    c.bytes = (1 + pick(chance(4) ? 256 : 8)) * 4096;
    const std::vector<uint8_t> first = bytes(c.bytes);
    cl_int code = 0;
    switch (pick(3)) {
      case 0:
        c.mem = clCreateBuffer(world_.context, CL_MEM_READ_WRITE, c.bytes, nullptr, &code);
        CHECK(code);
        CHECK(clEnqueueWriteBuffer(queues_[0], c.mem, CL_TRUE, 0, c.bytes, first.data(), 0, nullptr, nullptr));
        CHECK(clFinish(queues_[0]));
        break;
      case 1:
        c.mem = clCreateBuffer(world_.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, c.bytes,
                               const_cast<uint8_t*>(first.data()), &code);
        break;
      default:
        c.host = first;
        c.mem = clCreateBuffer(world_.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, c.bytes, c.host.data(), &code);
    }
    CHECK(code);
    if (chance(2)) make_part(c);
    all_.push_back(std::move(c));
  }
  void make_part(Contents& c) {
    const cl_buffer_region region{1024 * pick(c.bytes / 1024 - 2), 2048};
    cl_int code = 0;
    c.part = clCreateSubBuffer(c.mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    CHECK(code);
    c.part_origin = region.origin;
    c.part_bytes = region.size;
  }
  // Whole pages under a buffer or without one, or any other size.
  void make_shared() {
    Contents c;
    const bool over = chance(2);
    c.bytes = over || chance(2) ? (1 + pick(chance(4) ? 64 : 8)) * 4096 : 128 + pick(100000);
    constexpr cl_uint Alignments[] = {0, 4, 64, 128};
    const cl_uint alignment = Alignments[pick(4)];
    if (alignment != 0) c.alignment = alignment;
    c.fine = world_.fine && chance(2);
    c.shared = allocate(c.bytes, alignment, c.fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0);
    const std::vector<uint8_t> first = bytes(c.bytes);
    const cl_command_queue q = queues_[0];
    if (c.fine && chance(2)) {
      std::memcpy(c.shared, first.data(), c.bytes);
    } else if (chance(2)) {
      CHECK(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, c.shared, c.bytes, 0, nullptr, nullptr));
      std::memcpy(c.shared, first.data(), c.bytes);
      CHECK(clEnqueueSVMUnmap(q, c.shared, 0, nullptr, nullptr));
    } else {
      CHECK(clEnqueueSVMMemcpy(q, CL_TRUE, c.shared, first.data(), c.bytes, 0, nullptr, nullptr));
    }
    CHECK(clFinish(q));
    if (over) {
      cl_int code = 0;
      c.mem = clCreateBuffer(world_.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, c.bytes, c.shared, &code);
      CHECK(code);
      if (chance(2)) make_part(c);
    }
    all_.push_back(std::move(c));
  }
  uint8_t* allocate(size_t size, cl_uint alignment, cl_svm_mem_flags kind = 0) {
    const cl_svm_mem_flags flags = (chance(2) ? CL_MEM_READ_WRITE : 0) | kind;
    void* p = nullptr;
    // Now and then no address is free on both sides; larger blocks lie elsewhere.
    for (size_t more = 0; !p && more < size_t{8} << 20; more = 4 * more + (size_t{256} << 10))
      p = clSVMAlloc(world_.context, flags, size + more, alignment);
    CHECK(p ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE);
    return static_cast<uint8_t*>(p);
  }
  static void release(const Contents& c) {
    if (c.part) CHECK(clReleaseMemObject(c.part));
    if (c.mem) CHECK(clReleaseMemObject(c.mem));
  }
  void make_image() {
    Contents c;
    c.image = true;
    c.width = 64;
    c.height = 16 + pick(64);
    c.bytes = c.width * c.height * 4;
    std::vector<uint8_t> first = bytes(c.bytes);
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = c.width;
    desc.image_height = c.height;
    cl_int code = 0;
    c.mem = clCreateImage(world_.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, first.data(),
                          &code);
    CHECK(code);
    all_.push_back(std::move(c));
  }

  Contents& some_buffer() {
    for (;;) {
      Contents& c = all_[pick(all_.size())];
      if (!c.image && c.mem) return c;
    }
  }
  // A buffer, or shared memory of as many bytes as one could have.
  Contents& some_pages() {
    for (;;) {
      Contents& c = all_[pick(all_.size())];
      if (!c.image && c.bytes % 4096 == 0) return c;
    }
  }
  Contents& some_shared() {
    for (;;) {
      Contents& c = all_[pick(all_.size())];
      if (c.shared) return c;
    }
  }
  Contents& some_image(const Contents* other = nullptr) {
    for (;;) {
      Contents& c = all_[pick(all_.size())];
      if (c.image && &c != other) return c;
    }
  }

  // What a command that reads and writes these has to wait for.
  std::vector<cl_event> needs(const std::vector<Contents*>& reads, const std::vector<Contents*>& writes) {
    std::vector<cl_event> list;
    for (const Contents* c : reads) list.insert(list.end(), c->writers.begin(), c->writers.end());
    for (const Contents* c : writes) {
      list.insert(list.end(), c->writers.begin(), c->writers.end());
      list.insert(list.end(), c->readers.begin(), c->readers.end());
    }
    if (chance(6)) list.push_back(make_gate());
    return list;
  }
  void did(cl_event event, const std::vector<Contents*>& reads, const std::vector<Contents*>& writes) {
    events_.push_back(event);
    for (Contents* c : reads) c->readers.push_back(event);
    for (Contents* c : writes) {
      c->writers = {event};
      c->readers.clear();
    }
  }

  // User events, to be set before anything waits on the host.
  cl_event make_gate() {
    cl_int code = 0;
    cl_event gate = clCreateUserEvent(world_.context, &code);
    CHECK(code);
    gates_.push_back(gate);
    events_.push_back(gate);
    return gate;
  }
  void open_gates() {
    for (cl_event gate : gates_) CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
    gates_.clear();
  }
  static cl_uint count(const std::vector<cl_event>& w) { return static_cast<cl_uint>(w.size()); }
  static const cl_event* list(const std::vector<cl_event>& w) { return w.empty() ? nullptr : w.data(); }
  cl_command_queue queue() { return queues_[pick(queues_.size())]; }

  void set(cl_kernel k, cl_uint i, size_t n, const void* p) { CHECK(clSetKernelArg(k, i, n, p)); }
  // Contents as a buffer, or by their address.
  void set(cl_kernel k, cl_uint i, const Contents& c) {
    if (c.shared && (!c.mem || chance(2)))
      CHECK(clSetKernelArgSVMPointer(k, i, c.shared));
    else
      set(k, i, sizeof c.mem, &c.mem);
  }
  void launch(cl_kernel k, cl_uint dimensions, const size_t* global, const size_t* local,
              const std::vector<Contents*>& reads, const std::vector<Contents*>& writes) {
    const auto waits = needs(reads, writes);
    cl_event event;
    CHECK(clEnqueueNDRangeKernel(queue(), k, dimensions, nullptr, global, local, count(waits), list(waits), &event));
    did(event, reads, writes);
  }
  cl_kernel kernel(const char* name) {
    cl_int code = 0;
    cl_kernel const k = clCreateKernel(world_.program, name, &code);
    CHECK(code);
    return k;
  }

  // The whole of a buffer, or its part.
  struct View {
    cl_mem mem;
    size_t bytes;
  };
  View view(const Contents& c) {
    return c.part && chance(2) ? View{c.part, c.part_bytes} : View{c.mem, c.bytes};
  }

  const World& world_;
  std::mt19937_64 random_;
  std::vector<cl_command_queue> queues_;
  std::vector<Contents> all_;
  std::vector<cl_event> events_, gates_;
  std::vector<Pending> pending_;
  std::vector<std::vector<uint8_t>> kept_;  // what commands read
  Digest digest_;
};
