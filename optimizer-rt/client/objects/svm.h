// Shared virtual memory, coarse-grained: blocks that have the same address here and on the device.
//
// The executor's driver chooses the address. Of an executor in this process the block is the driver's memory itself.
// For one elsewhere there is memory of ours at that address, a shadow: maps read it from the device, unmaps write it
// back.
// A context with several sub-contexts has none: no driver can be told what address to choose.
// Thread safety: any thread.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "traces/base/mutex.h"
#include "transport/protocol/messages.h"

struct _cl_device_id;

namespace gt::virt {

struct SubContext;

// The pages [begin, begin + bytes) of this process, taken for a shadow if nothing else was there.
class ReservedRange {
 public:
  ReservedRange() = default;
  ReservedRange(ReservedRange&& other) noexcept;
  ReservedRange& operator=(ReservedRange&&) = delete;
  ~ReservedRange();
  static ReservedRange take(uint64_t begin, size_t bytes);
  explicit operator bool() const { return base_ != nullptr; }

 private:
  void* base_ = nullptr;
  size_t bytes_ = 0;
};

class SvmBlock {
 public:
  struct Mapping {
    const void* pointer;
    size_t bytes;
    cl_map_flags flags;
  };

  // `native`: the address that the driver gave, at or before `base`.
  SvmBlock(SubContext& at, wire::ObjectId id, uint64_t native, void* from, size_t bytes, ReservedRange shadow)
      : sub_context(at),
        name(id),
        base(static_cast<uint8_t*>(from)),
        size(bytes),
        native_(native),
        shadow_(std::move(shadow)) {}

  bool holds(const void* p, size_t bytes) const;
  bool has_shadow() const { return static_cast<bool>(shadow_); }
  // Of a transfer from or to `p`. REQUIRES: the block holds it.
  copy::Region part(const void* p, size_t bytes) const;
  void note(const Mapping& mapping);
  // Of the last map that gave `pointer`; false: there is none.
  bool take(const void* pointer, Mapping& out);
  // The device's memory goes, in the order of messages; the shadow with the last reference to this.
  void give_back();

  SubContext& sub_context;
  const wire::ObjectId name;
  uint8_t* const base;  // as the program has it
  const size_t size;

 private:
  const uint64_t native_;
  const ReservedRange shadow_;
  Mutex mutex_;
  std::vector<Mapping> maps_ GT_GUARDED_BY(mutex_);
};

// The blocks of a context.
class SvmBlocks {
 public:
  // The one that [p, p + bytes) begins in; nullptr: none, or it ends before. Its end is in it, too.
  std::shared_ptr<SvmBlock> find(const void* p, size_t bytes = 0) const;
  // The same without its end, where memory of the program's own may begin.
  std::shared_ptr<SvmBlock> find_inside(const void* p) const { return find(p, 1); }
  void add(std::shared_ptr<SvmBlock> block);
  // The one that begins there is the program's no more.
  std::shared_ptr<SvmBlock> remove(const void* base);
  void give_all_back();

 private:
  mutable Mutex mutex_;
  std::map<const void*, std::shared_ptr<SvmBlock>> blocks_ GT_GUARDED_BY(mutex_);  // by address
};

bool has_svm(_cl_device_id& device);

}  // namespace gt::virt
