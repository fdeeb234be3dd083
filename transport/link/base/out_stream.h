// The bytes that one side sends, as one stream that outlives connections: what the peer has not acknowledged is kept
// and can be sent again from any byte on.
//
// Small things are copied into blocks; large ones are only referred to and must stay until they are acknowledged.
// Invariant: acknowledged() <= written() <= end(); the pieces cover [acknowledged(), end()) without gaps.
// Thread safety: none.
#pragma once

#include <sys/uio.h>

#include <deque>
#include <span>

#include "traces/base/bytes.h"

namespace gt::wire {

class OutStream {
 public:
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t written() const { return written_; }
  uint64_t end() const { return end_; }
  bool all_written() const { return written_ == end_; }

  void copy(ByteView bytes);
  void refer(const void* p, size_t bytes);

  // What comes next, in at most `parts.size()` parts; how many they are.
  size_t unwritten(std::span<iovec> parts) const;
  void wrote(size_t bytes);

  // False: that many were never sent.
  bool acknowledge(uint64_t position);
  // A new connection goes on where the peer says. False: that cannot be.
  bool rewind(uint64_t position);

  // Keeps a copy of what is to be written and referred to next. False: nothing is.
  bool keep_next();
  // Keeps copies of what it refers to inside [base, base + bytes).
  void keep(const void* base, size_t bytes);
  void drop_all();

 private:
  struct Piece {
    uint64_t begin = 0;
    const uint8_t* data = nullptr;
    size_t size = 0;
    Bytes own;  // data points into it, or it is empty
  };
  Piece& open_block(size_t bytes);
  static void own(Piece& piece);

  std::deque<Piece> pieces_;
  Bytes spare_;            // a block to use again
  size_t next_ = 0;        // the piece that holds written()
  uint64_t acknowledged_ = 0, written_ = 0, end_ = 0;
};

}  // namespace gt::wire
