// What maps and unmaps of shared virtual memory send: clEnqueueSVMMap's, and those of buffers over it.
// Thread safety: as Command.
#pragma once

#include <memory>

#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/objects/svm.h"

namespace gt::virt {

// The command that a map or unmap is for the queue when no bytes move.
void order_only(Command& c);
// A command that moves or fills no bytes is refused if its driver refuses such (`said`, a habit), and else only keeps
// its place in the queue.
cl_int do_nothing(Command& c, cl_int said, bool blocking);

// REQUIRES: the block holds [p, p + bytes). Notes the map.
void send_map(Command& c, const std::shared_ptr<SvmBlock>& block, void* p, size_t bytes, cl_map_flags flags,
              bool blocking);
// Of the last map that gave `p`; without any it only keeps its place in the queue.
void send_unmap(Command& c, const std::shared_ptr<SvmBlock>& block, void* p);

}  // namespace gt::virt
