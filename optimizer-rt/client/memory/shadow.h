// The memory that maps of an object show: shared with an executor of this node where there is one, so that it is read
// and written in place; else ordinary memory. A child of fork() has a copy of its own.
// Thread safety: make() and destruction from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "optimizer-rt/client/objects/context.h"

namespace gt::virt {

class Shadow {
 public:
  virtual ~Shadow() = default;
  uint8_t* data() const { return data_; }

  // Page-aligned; nullptr: no memory.
  static std::unique_ptr<Shadow> make(const _cl_context& context, size_t bytes);

 protected:
  explicit Shadow(void* data) : data_(static_cast<uint8_t*>(data)) {}

 private:
  uint8_t* const data_;
};

}  // namespace gt::virt
