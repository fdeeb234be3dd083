// What commands on shared memory, virtual or unified, send: copies, maps and unmaps (clEnqueueSVMMap's, and those
// of buffers over it).
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

// A copy from one address to another; each lies in the block beside it, or, without one, in the program's own memory.
struct SharedCopy {
  void* to;
  const void* from;
  size_t bytes;  // not 0
  std::shared_ptr<SvmBlock> in, out;
};
// Of one block to another by F, clEnqueueSVMMemcpy or clEnqueueMemcpyINTEL.
template <api::FnId F>
cl_int send_copy(Command& c, const SharedCopy& copy, bool blocking);
// What a fill needs of its pattern and its place; throws CL_INVALID_VALUE.
void check_fill(const void* p, const void* pattern, size_t pattern_size, size_t size);
// Do the two ranges have bytes in common?
bool meet(const void* a, const void* b, size_t bytes);

// REQUIRES: the block holds [p, p + bytes). Notes the map.
void send_map(Command& c, const std::shared_ptr<SvmBlock>& block, void* p, size_t bytes, cl_map_flags flags,
              bool blocking);
// Of the last map that gave `p`; without any it only keeps its place in the queue.
void send_unmap(Command& c, const std::shared_ptr<SvmBlock>& block, void* p);

}  // namespace gt::virt
