// What is bound to the kernels of a replay, and what the elements of a buffer are: the type of the pointer through
// which the last kernel had it. Thread safety: any thread; a lock each time.
#pragma once

#include <atomic>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracer/gtrace/replay/comparison.h"
#include "tracer/gtrace/replay/opencl_library.h"
#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

// One argument, as it was set.
struct BoundValue {
  enum class Kind : uint8_t { Value, Object, Pointer, Local } kind = Kind::Value;
  size_t size = 0;
  Bytes value;          // Value, and the handle of an Object
  uint64_t handle = 0;  // Object; Pointer: the address
  model::ObjectKind object = model::ObjectKind::Unknown;
};
using Bindings = std::map<uint32_t, BoundValue>;

class KernelFacts {
 public:
  explicit KernelFacts(const OpenClLibrary& cl) : cl_(cl) {}

  void bind(uint64_t kernel, uint32_t index, BoundValue value);
  // The same for a number of `size` bytes, as a loop does it.
  void bind_number(uint64_t kernel, uint32_t index, size_t size, int64_t value);
  void copy(uint64_t from, uint64_t to);  // a kernel that was cloned
  void forget(uint64_t kernel);           // its handle is a new kernel's
  Bindings bindings(uint64_t kernel) const;

  // A launch of the kernel, of this class: which buffers and pointers it had.
  void launched(uint64_t kernel, model::ClassId cls);
  // An argument of a kernel in a command buffer is another buffer now.
  void rebound(model::ClassId cls, uint32_t index, uint64_t buffer);
  // As long as it is the same, another launch of the same kernel and class changes nothing.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  // Byte: no kernel had it, or the driver does not say.
  ElementType element_of(uint64_t buffer) const;

 private:
  using ArgKey = std::pair<model::ClassId, uint32_t>;
  ElementType ask(uint64_t kernel, uint32_t index) const;
  void unsettle() GT_REQUIRES(mutex_) {
    settled_ = 0;
    changes_.fetch_add(1, std::memory_order_release);
  }
  bool is_settled(uint64_t kernel, model::ClassId cls) const GT_REQUIRES(mutex_) {
    return kernel == settled_ && cls == settled_class_;
  }

  const OpenClLibrary& cl_;
  mutable Mutex mutex_;
  std::unordered_map<uint64_t, Bindings> kernels_ GT_GUARDED_BY(mutex_);
  std::map<ArgKey, ElementType> types_ GT_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, ElementType> buffers_ GT_GUARDED_BY(mutex_);
  // The last launch's kernel, while what it has is what it had then: another launch changes nothing. 0: none.
  uint64_t settled_ GT_GUARDED_BY(mutex_) = 0;
  model::ClassId settled_class_ GT_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> changes_{0};
};

}  // namespace gt::tracer
