// Buffers that go from device to device often come to live in memory of CUDA's on both (peer_memory.h), where a move is
// one step instead of three: not from the beginning, since nobody knows then which they are, making such memory takes
// 300 us and at least 2 MiB (docs/decisions/0022).
//
// A peer-mapped allocation takes the place of the driver's buffer: the same object of the program's, another native
// one, of which the executor is told the name. Commands that have been sent go on with the one before. What shares a
// buffer's memory, sub-buffers and images, shares the driver's.
#pragma once

#include "optimizer-rt/client/memory/mem.h"
#include "transport/moves/native_moves.h"

namespace gt::virt {

// Counts a move that is about to be made, and has the buffer live in peer-mapped allocations from now on where that is
// worth it.
// REQUIRES: the context's residency is locked.
void give_peer_mapped(_cl_mem& root, SubContext& from, SubContext& to, NativeMoves& way);

// The object is part of `whole` from now on (nullptr: of nothing), which lives in the driver's memory again, and will:
// NVIDIA's driver makes images of imported memory that it then refuses to write. REQUIRES: nobody else knows `part`
// yet, and the residency is not locked: this does so.
void make_part_of(_cl_mem& part, _cl_mem* whole);

// It lives in the driver's memory again, and will: somebody there holds it. REQUIRES: the residency is not locked.
void keep_in_place(_cl_mem& mem);

}  // namespace gt::virt
