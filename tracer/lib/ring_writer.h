// Writers for the encoder: one measures a call's record, the other writes it into the ring.
//
// Byte strings longer than InlineBytes do not fit a record: the measuring pass sends them ahead as
// Chunk records and the main record carries a marker in their place (bit 63 of the length). Thread
// safety: none; used between this_ring() and commit() of one thread.
#pragma once

#include <cstring>

#include "tracer/lib/readable.h"
#include "tracer/lib/recorder.h"
#include "traces/api/wire.h"

namespace gt::tracer {

constexpr size_t InlineBytes = 32 << 10;

void record_chunks(const void* data, size_t size);

// What both writers follow of the program's pointers: all that can be read; of a brief record, whose lists would not
// fit into the ring, none.
class Follower {
 public:
  explicit Follower(bool brief) : brief_(brief) {}
  bool readable(const void* p, size_t size) const { return !brief_ && tracer::readable(p, size); }
  bool text_length(const char* s, size_t& size) const { return !brief_ && tracer::text_length(s, size); }

 private:
  bool brief_;
};

class SizeWriter : public Follower {
 public:
  explicit SizeWriter(bool brief = false) : Follower(brief) {}
  void word(uint64_t) { bytes_ += 8; }
  void bytes(const void* data, size_t size) {
    bytes_ += 8;
    if (__builtin_expect(size > InlineBytes, 0)) {
      record_chunks(data, size);
    } else {
      bytes_ += static_cast<uint32_t>((size + 7) & ~size_t{7});
    }
  }
  uint32_t size() const { return bytes_; }

 private:
  uint32_t bytes_ = 0;
};

class RingWriter : public Follower {
 public:
  explicit RingWriter(uint8_t* at, bool brief = false) : Follower(brief), at_(at) {}
  void word(uint64_t v) {
    std::memcpy(at_, &v, 8);
    at_ += 8;
  }
  void bytes(const void* data, size_t size) {
    if (__builtin_expect(size > InlineBytes, 0)) return word(size | api::External);
    word(size);
    const size_t padded = (size + 7) & ~size_t{7};
    if (padded != size) std::memset(at_ + padded - 8, 0, 8);
    std::memcpy(at_, data, size);
    at_ += padded;
  }

 private:
  uint8_t* at_;
};

}  // namespace gt::tracer
