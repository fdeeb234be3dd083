// What a program with transfers works with: a device, its in-order queue, a compiled program, and everything made
// from them, given back at the end.
//
// Host memory comes from the program's own allocator, or, with --hand-pinned, from the driver: buffers with
// CL_MEM_ALLOC_HOST_PTR that stay mapped as long as the session lives, which is how an expert gets fast transfers.
// Thread safety: none.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "microbench/apps/harness.h"

namespace gt::apps {

// The options that every such program has.
struct Common {
  int64_t iterations = 10;
  bool hand_pinned = false;

  Option iterations_option(int64_t small, int64_t large, const char* help = "times to repeat the work") {
    return {"--iterations", help, &iterations, nullptr, small, large, 1};
  }
  Option hand_pinned_option() {
    return {"--hand-pinned", "host memory of transfers is CL_MEM_ALLOC_HOST_PTR, mapped", nullptr, &hand_pinned};
  }
};

class Session {
 public:
  Session(const char* source, bool hand_pinned);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Device& device() const { return device_; }
  cl_command_queue queue() const { return queue_; }
  bool hand_pinned() const { return hand_pinned_; }

  // Both are released with the session.
  cl_kernel kernel(const char* name);
  cl_mem buffer(cl_mem_flags flags, size_t bytes);

  // `count` items from `ordinary(count)`, or pinned ones with --hand-pinned. Both are to be written before they are
  // read. give_back() undoes it; pinned memory stays until the session ends.
  template <class T>
  T* memory(size_t count, T* (*ordinary)(size_t count)) {
    return hand_pinned_ ? pinned<T>(count) : ordinary(count);
  }
  template <class T>
  T* pinned(size_t count) {
    return static_cast<T*>(pinned_bytes(count * sizeof(T)));
  }
  template <class T>
  void give_back(T* p, void (*ordinary)(T*)) {
    if (!hand_pinned_) ordinary(p);
  }

  // One transfer of `bytes`. Blocking, or on its way when the function returns.
  void write(cl_mem to, const void* from, size_t bytes, cl_bool blocking = CL_TRUE);
  void read(cl_mem from, void* to, size_t bytes, cl_bool blocking = CL_TRUE);
  void launch(cl_kernel kernel, std::initializer_list<size_t> global, std::initializer_list<size_t> local = {});
  void finish();

 private:
  struct Pinned {
    cl_mem buffer;
    void* address;
  };
  void* pinned_bytes(size_t bytes);

  Device device_;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  bool hand_pinned_;
  std::vector<cl_kernel> kernels_;
  std::vector<cl_mem> buffers_;
  std::vector<Pinned> pinned_;
};

// malloc and free as the programs that use them write it: each purpose has its own call of malloc.
template <class T>
T* checked(void* p, size_t count) {
  return static_cast<T*>(check_memory(p, count * sizeof(T)));
}
template <class T>
void free_memory(T* p) {
  std::free(p);
}

}  // namespace gt::apps
