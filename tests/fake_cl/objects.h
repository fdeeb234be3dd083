// The fake driver's objects. The first word of each is the ICD dispatch table, as the ICD loader
// requires.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/fake_cl/callbacks.h"
#include "traces/api/icd_dispatch.h"

namespace gt::fake {

extern const api::IcdDispatch dispatch_table;

struct Handle {
  const api::IcdDispatch* dispatch = &dispatch_table;
};
struct Object : Handle {
  std::atomic<cl_uint> references{1};
};
template <class T>
struct Counted : Object {
  static inline std::atomic<int> alive{0};
  Counted() { ++alive; }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

// Owns one reference to an object.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : p_(p) {
    if (p_) ++p_->references;
  }
  Ref(const Ref& other) : Ref(other.p_) {}
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Ref() { release(p_); }
  T* get() const { return p_; }
  static void release(T* p) {
    if (p && --p->references == 0) delete p;
  }

 private:
  T* p_ = nullptr;
};

}  // namespace gt::fake

struct _cl_platform_id : gt::fake::Handle {};
struct _cl_device_id : gt::fake::Handle {
  unsigned char number = 0;
};
struct _cl_context : gt::fake::Object {
  ~_cl_context() { destroyed.happened(true); }
  gt::fake::Waiting destroyed;
  void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*) = nullptr;
  void* notify_data = nullptr;
  std::vector<cl_device_id> devices;
  std::vector<cl_context_properties> properties;
};
struct _cl_command_queue : gt::fake::Counted<_cl_command_queue> {
  gt::fake::Ref<_cl_context> context;
  cl_device_id device = nullptr;
  cl_command_queue_properties properties = 0;
  std::vector<cl_queue_properties> list;
};
struct _cl_mem : gt::fake::Counted<_cl_mem> {
  ~_cl_mem() {
    destroyed.happened(true);
    if (imported) ::munmap(data, size);
  }
  gt::fake::Waiting destroyed;
  gt::fake::Ref<_cl_context> context;
  gt::fake::Ref<_cl_mem> parent;
  cl_mem_flags flags = 0;
  size_t size = 0, offset = 0;
  uint8_t* data = nullptr;  // `own`, the program's memory (USE_HOST_PTR), or inside the parent's
  void* host_ptr = nullptr;
  std::vector<uint8_t> own;
  bool imported = false;  // the data are a mapping
  std::atomic<cl_uint> maps{0};
  struct {
    size_t width, height, depth, element;  // packed
  } image = {};                            // of a buffer all 0
};
namespace gt::fake {
struct KernelSource {
  std::string name;
  cl_uint args = 0;
};
}  // namespace gt::fake

struct _cl_program : gt::fake::Object {
  ~_cl_program() { destroyed.happened(true); }
  gt::fake::Waiting destroyed;
  gt::fake::Ref<_cl_context> context;
  std::string source, options;
  std::vector<gt::fake::KernelSource> kernels;
  bool built = false;
};
struct _cl_kernel : gt::fake::Object {
  gt::fake::Ref<_cl_program> program;
  gt::fake::KernelSource source;
  std::vector<std::vector<uint8_t>> args;
};
struct _cl_event : gt::fake::Counted<_cl_event> {
  gt::fake::Ref<_cl_context> context;
  cl_command_queue queue = nullptr;  // not owned
  cl_command_type type = 0;
  std::atomic<cl_int> status{CL_COMPLETE};
  cl_ulong times[4] = {};  // QUEUED, SUBMIT, START, END
  bool profiled = false;
  gt::fake::Waiting waiting;  // for its completion
};
