// Memory of ours that a client of this node maps: it puts the bytes of a transfer there, or takes them from there,
// itself, and the device reads and writes them in place (DataPath::Ring). What is where is the client's business; one
// that uses a place twice gets what it asked for.
// Thread safety: open() first, then any thread.
#pragma once

#include "transport/link/base/link.h"

namespace gt::exec {

class BounceBuffer {
 public:
  // Nothing is kept where the link cannot share memory, or has none.
  void open(wire::Link& link, uint64_t bytes) {
    if (bytes == 0) return;
    const Result<wire::SegmentId> segment = link.allocate(bytes, &x_base);
    if (!segment.ok()) return;
    if (!link.shared_address(x_base, bytes)) return (void)link.withdraw(*segment).ok();
    x_segment = *segment;
    x_bytes = bytes;
  }
  wire::SegmentId segment() const { return x_segment; }
  void* base() const { return x_base; }
  uint64_t bytes() const { return x_bytes; }  // 0: there is none
  // nullptr: that is not inside.
  void* at(uint64_t offset, uint64_t bytes) const {
    return offset <= x_bytes && bytes <= x_bytes - offset && bytes > 0 ? static_cast<char*>(x_base) + offset : nullptr;
  }

 private:
  void* x_base = nullptr;
  wire::SegmentId x_segment = 0;
  uint64_t x_bytes = 0;
};

}  // namespace gt::exec
