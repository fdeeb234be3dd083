// What the block words of a ring stand for where a reader begins that has not heard what lies before.
//
// A ring's header says what they stand for at its end; BlockForm records and Base words say what they replace. So who
// sees all from the beginning to the end can go back (block_words.h).
// Thread safety: none. Cost: 2.4 KiB for a ring that has any.
#pragma once

#include <bitset>
#include <cstddef>
#include <memory>
#include <vector>

#include "tracer/collect/ring_reader.h"

namespace gt::tracer {

// A copy of a ring's header: of all of it, or of its first ThreadBytes, in which its thread is described.
class RingOwner {
 public:
  static constexpr size_t ThreadBytes = offsetof(RingHeader, head);
  explicit RingOwner(ByteView bytes);
  const RingHeader& header() const { return *reinterpret_cast<const RingHeader*>(page_->bytes); }

 private:
  struct alignas(RingHeader) Page {
    std::byte bytes[sizeof(RingHeader)] = {};
  };
  std::unique_ptr<Page> page_;
};

inline ByteView bytes_of(const RingHeader& header, size_t count = sizeof(RingHeader)) {
  return {reinterpret_cast<const uint8_t*>(&header), count};
}

class FormsBefore {
 public:
  void see(const RecordView& record);   // all of the ring's, in their order
  void end(const RingHeader& header);   // that was all of its thread's
  bool ended() const { return owner_ != nullptr; }
  // REQUIRES: ended(). As records of the ring's thread.
  void give(uint32_t ring, const RecordVisitor& visit) const;

 private:
  std::vector<uint64_t> forms_;  // by slot; empty: none was replaced
  std::bitset<BlockFormCount> known_;
  uint64_t base_ = 0;
  bool base_known_ = false;
  std::unique_ptr<RingOwner> owner_;
};

}  // namespace gt::tracer
