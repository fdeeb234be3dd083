// Blocks of memory that have the same address here and on the device: shared virtual memory, coarse- and fine-grained,
// and allocations of unified shared memory.
//
// The executor's driver chooses the address. Of an executor in this process the block is the driver's memory itself.
// For one elsewhere there is memory of ours at that address. Of coarse-grained memory it is a shadow: maps read it from
// the device, unmaps write it back. Fine-grained memory is kept in step, as host and shared allocations are. Of device
// memory it is there so that nothing else is, and nobody can touch it.
// A context with several sub-contexts has no shared virtual memory: no driver can be told what address to choose.
// Thread safety: any thread.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/object.h"
#include "traces/base/mutex.h"
#include "transport/protocol/messages.h"

struct _cl_device_id;
struct _cl_event;

namespace gt::virt {

struct SubContext;

// The pages [begin, begin + bytes) of this process, taken if nothing else was there.
class ReservedRange {
 public:
  ReservedRange() = default;
  ReservedRange(ReservedRange&& other) noexcept;
  ReservedRange& operator=(ReservedRange&& other) noexcept;
  ~ReservedRange();
  static ReservedRange take(uint64_t begin, size_t bytes, int protection);
  explicit operator bool() const { return base_ != nullptr; }

 private:
  void* base_ = nullptr;
  size_t bytes_ = 0;
};

// What a program may ask of an allocation of unified shared memory.
struct UsmFacts {
  cl_unified_shared_memory_type_intel type;
  _cl_device_id* device;  // none: memory of the host's. The context keeps it
  cl_mem_alloc_flags_intel flags;
};

class SvmBlock;

// Memory of a block that the program uses as it likes, without commands: kept in step with the device's
// (transfer/shared_pages.h).
class KeptInStep {
 public:
  virtual ~KeptInStep() = default;
  // False: the program has not touched it yet, nor is it likely to (device memory): commands need not tell of it.
  virtual bool is_used() const = 0;
  // Of a command that may write there, around send() and written_by(), where the program may write beside commands:
  // what other threads write meanwhile waits, else the device's bytes or theirs would be lost. Gives what release()
  // takes.
  virtual int hold() = 0;
  virtual void release(int held) = 0;
  // What the program wrote in the range goes to the device; a command that may see it comes after what is appended.
  // `block` is the one that this is of.
  virtual void send(const std::shared_ptr<SvmBlock>& block, size_t offset, size_t bytes,
                    std::vector<Ref<_cl_event>>& after) = 0;
  // A command that was sent may write there: what the program has is old, and new when the command has ended.
  virtual void written_by(const Ref<_cl_event>& command, size_t offset, size_t bytes) = 0;
  // The device's memory is about to go: nothing is sent there any more. Another thread's launch may be about to.
  virtual void give_up() = 0;
  // Lets go of events that are over, which keep the context: the program has let go of it.
  virtual void forget_ended() = 0;
};

class SvmBlock {
 public:
  struct Mapping {
    const void* pointer;
    size_t bytes;
    cl_map_flags flags;
  };

  // `native`: the address that the driver gave, at or before `base`. `usm`: none of shared virtual memory.
  SvmBlock(SubContext& at, wire::ObjectId id, uint64_t native, void* from, size_t bytes, ReservedRange shadow,
           const std::optional<UsmFacts>& facts = {}, std::unique_ptr<KeptInStep> in_step = nullptr)
      : sub_context(at),
        name(id),
        base(static_cast<uint8_t*>(from)),
        size(bytes),
        usm(facts),
        pages(std::move(in_step)),
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
  const std::optional<UsmFacts> usm;
  const std::unique_ptr<KeptInStep> pages;  // nullptr: of a device's, or the driver's own here

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
  bool begins_at(const void* base) const;
  void add(std::shared_ptr<SvmBlock> block);
  // The one that begins there is the program's no more.
  std::shared_ptr<SvmBlock> remove(const void* base);
  void give_all_back();
  void forget_ended() const;  // KeptInStep's
  bool any_in_step() const { return any_in_step_.load(std::memory_order_relaxed); }  // ever
  // Those that are kept in step, used, and chosen.
  using Chooses = std::function<bool(const std::shared_ptr<SvmBlock>&)>;
  std::vector<std::shared_ptr<SvmBlock>> in_step(const Chooses& chooses) const;

 private:
  mutable Mutex mutex_;
  std::map<const void*, std::shared_ptr<SvmBlock>> blocks_ GT_GUARDED_BY(mutex_);  // by address
  std::vector<std::shared_ptr<SvmBlock>> in_step_ GT_GUARDED_BY(mutex_);
  std::atomic<bool> any_in_step_{false};
};

// A block of `bytes` whose memory `give` has the driver give: as many bytes as it says, under the name; its address, or
// 0. nullptr: it refuses, or chooses addresses where something of ours is.
using GiveMemory = std::function<uint64_t(wire::ObjectId name, uint64_t bytes)>;
// Memory of the program's for a block at an executor elsewhere, at `base`, behind the driver's address; nullptr:
// something is there.
using KeepInStep =
    std::function<std::unique_ptr<KeptInStep>(wire::ObjectId name, uint64_t native, uint64_t base, size_t bytes)>;
std::shared_ptr<SvmBlock> make_block(SubContext& sub_context, size_t bytes, const GiveMemory& give,
                                     const std::optional<UsmFacts>& usm = {}, const KeepInStep& keep = {});

bool has_svm(_cl_device_id& device);
bool has_fine_svm(_cl_device_id& device);
bool has_usm(_cl_device_id& device);

}  // namespace gt::virt
