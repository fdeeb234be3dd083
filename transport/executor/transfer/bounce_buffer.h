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
    const Result<wire::SegmentId> segment = link.allocate(bytes, &base_);
    if (!segment.ok()) return;
    if (!link.shared_address(base_, bytes)) return (void)link.withdraw(*segment).ok();
    segment_ = *segment;
    bytes_ = bytes;
  }
  wire::SegmentId segment() const { return segment_; }
  void* base() const { return base_; }
  uint64_t bytes() const { return bytes_; }  // 0: there is none
  // nullptr: that is not inside.
  void* at(uint64_t offset, uint64_t bytes) const {
    return offset <= bytes_ && bytes <= bytes_ - offset && bytes > 0 ? static_cast<char*>(base_) + offset : nullptr;
  }

 private:
  void* base_ = nullptr;
  wire::SegmentId segment_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace gt::exec
