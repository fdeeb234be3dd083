// What the collector remembers of one process's memory objects, mappings, kernels, programs and command buffers.
//
// Names (names.h) tell objects apart; this is what later calls mean by them: how large an image's elements are, what
// lies under a sub-buffer, which arguments a kernel has, which commands a command buffer.
// Thread safety: none.
#pragma once

#include <unordered_map>
#include <vector>

#include "tracer/collect/names.h"
#include "traces/api/transfer_size.h"

namespace gt::tracer {

struct BoundArg {
  ObjectRef object;      // a memory object, sampler or queue...
  uint64_t handle = 0;   // ...and its handle
  uint64_t address = 0;  // or SVM
};
struct KernelArgs {
  std::vector<BoundArg> bound;     // by argument index
  std::vector<uint64_t> pointers;  // SVM that it reaches through other pointers (clSetKernelExecInfo)
};

// What a call touches without naming it.
struct Implied {
  model::Effect effect;
  ObjectRef object;
  uint64_t address = 0;  // memory, instead of an object
};

struct CommandBuffer {
  std::vector<Implied> touches;
  std::vector<ObjectRef> launches;  // the kernel of each
  uint64_t bytes = 0, transfers = 0;

  void clear() {
    touches.clear();
    launches.clear();
    bytes = transfers = 0;
  }
};

class KnownObjects : public api::KnownObjects {
 public:
  explicit KnownObjects(Objects& objects) : objects_(objects) {}

  std::unordered_map<uint64_t, api::CreatedMemory> memory;  // by handle
  std::unordered_map<uint64_t, KernelArgs> kernels;
  std::unordered_map<uint64_t, CommandBuffer> command_buffers;
  std::unordered_multimap<uint64_t, api::Mapped> mapped;  // by address; as often as it is mapped
  bool any_tied = false;  // is there any memory object that shares memory with something?

  api::MemoryFacts memory_object(uint64_t handle) const override;
  api::MemoryFacts allocation(uint64_t address) const override;
  api::Mapped mapping(uint64_t address) const override;
  uint64_t memory_parent(uint64_t handle) const;
  void unmap(uint64_t address);
  void forget(uint64_t handle);

 private:
  Objects& objects_;
};

}  // namespace gt::tracer
