// What a command sees and writes of memory that the program uses as it likes (host, shared allocations of unified
// shared memory, fine-grained shared virtual memory): what the program wrote goes ahead of the command, what the
// command may write is the device's then. Each Command has one (command.h), which begins it when its wait list is made
// and ends it when it has been sent.
//
// A command behind a user event that the program has not set leaves the memory to the program until then: what it
// writes meanwhile goes ahead of the event's status, and only then is the memory the device's.
// Blocks that need nothing of the kind may be given, too. Thread safety: none; on the stack of one call.
#pragma once

#include <memory>
#include <vector>

#include "optimizer-rt/client/memory/mem.h"
#include "optimizer-rt/client/objects/event.h"
#include "optimizer-rt/client/objects/svm.h"

namespace gt::virt {

class SharedUse {
 public:
  using Block = std::shared_ptr<SvmBlock>;
  SharedUse() = default;
  SharedUse(const SharedUse&) = delete;
  SharedUse& operator=(const SharedUse&) = delete;
  ~SharedUse() { release(parts_); }
  void reads(const Block& block, const void* p, size_t bytes) { add(block, p, bytes, false); }
  void writes(const Block& block, const void* p, size_t bytes) { add(block, p, bytes, true); }
  void reads(const Block& block) { add(block, block->base, block->size, false); }
  void writes(const Block& block) { add(block, block->base, block->size, true); }

  // A buffer, which may lie in such memory.
  void uses(_cl_mem& mem, bool writes) {
    if (mem.root().svm) add(mem, writes);
  }

  bool empty() const { return parts_.empty(); }
  // Of a command at that sub-context, whose memory alone counts: it must have an event.
  bool will_write(const SubContext& at);
  // The command has these gates and, if it writes, that event. It comes after what is appended.
  void begin(Ref<_cl_event> event, const Gates& gates, std::vector<Ref<_cl_event>>& after);
  void end();

 private:
  static constexpr int NotHeld = -1;
  struct Part {
    Block block;
    size_t offset, bytes;
    bool writes;
    int held = NotHeld;
  };
  static void hold(std::vector<Part>& parts);
  static void release(std::vector<Part>& parts);
  void add(_cl_mem& mem, bool writes);
  void add(const Block& block, const void* p, size_t bytes, bool writes);

  class Held;

  std::vector<Part> parts_;
  Ref<_cl_event> event_;  // of a command that writes
  std::shared_ptr<Held> held_;
};

}  // namespace gt::virt
