// Before contents go from device to device by themselves: does everything arrive, and is it faster than through pinned
// memory? Machines differ: a bridge that mixes up what devices write to each other (an IOMMU that redirects it) is seen
// by nobody but who compares.
//
// Thread safety: one thread, which blocks; queues and buffers are its own, so moves of others may go on in between.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "transport/moves/move_slots.h"

namespace gt::moves {

struct PeerVerdict {
  bool right = false;      // what arrived was what was there, each time
  size_t least_bytes = 0;  // from which on it is worth it; 0: never
  double pinned_fixed_ns = 0, pinned_byte_ns = 0;  // what the other way takes

  double pinned_ns(size_t bytes) const { return pinned_fixed_ns + pinned_byte_ns * static_cast<double>(bytes); }
};

// One move of so many bytes between buffers, which it has ended when it returns: the nanoseconds that it took, without
// waiting for its turn; nothing: it failed.
using TriedMove = std::function<std::optional<double>(cl_mem from, cl_mem to, size_t bytes)>;

// Takes some tens of milliseconds, and 16 MiB on both devices meanwhile. `stop`: nobody wants to know any more; asked
// before each pair of moves. The verdict is not right either when there was no memory on a device, or a move failed.
PeerVerdict try_peer(const MoveEnd& from, const MoveEnd& to, const TriedMove& peer, const TriedMove& pinned,
                     const std::function<bool()>& stop);

}  // namespace gt::moves
