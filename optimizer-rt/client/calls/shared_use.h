// What a command sees and writes of memory that the program uses as it likes (host, shared allocations of unified
// shared memory): what the program wrote goes ahead of the command, what the command may write is the device's then.
//
//   SharedUse use;  use.reads(block, p, bytes); use.writes(...);   all, before the command
//   use.begin(command);  ... the command is sent ...;  use.end();
//
// A command behind a user event that the program has not set leaves the memory to the program until then: what it
// writes meanwhile goes ahead of the event's status, and only then is the memory the device's.
// Blocks that need nothing of the kind may be given, too. Thread safety: none; on the stack of one call.
#pragma once

#include <memory>
#include <vector>

#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/objects/svm.h"

namespace gt::virt {

class SharedUse {
 public:
  using Block = std::shared_ptr<SvmBlock>;
  void reads(const Block& block, const void* p, size_t bytes) { add(block, p, bytes, false); }
  void writes(const Block& block, const void* p, size_t bytes) { add(block, p, bytes, true); }
  void reads(const Block& block) { add(block, block->base, block->size, false); }
  void writes(const Block& block) { add(block, block->base, block->size, true); }

  void begin(Command& c);
  void end();

 private:
  struct Part {
    Block block;
    size_t offset, bytes;
    bool writes;
  };
  void add(const Block& block, const void* p, size_t bytes, bool writes);

  class Held;

  std::vector<Part> parts_;
  Ref<_cl_event> event_;  // of a command that writes
  std::shared_ptr<Held> held_;
};

}  // namespace gt::virt
