// The bytes of a fuzzer's input as a little program: numbers and strings taken from its front. At its end: zeros.
#pragma once

#include <algorithm>

#include "traces/base/bytes.h"

namespace gt::fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : left_(data, size) {}

  bool empty() const { return left_.empty(); }
  uint8_t byte() {
    const ByteView one = bytes(1);
    return one.empty() ? uint8_t{0} : one[0];
  }
  ByteView bytes(size_t most) {
    const ByteView taken = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  // Small, or what a careless check of a limit would let pass.
  uint64_t number(uint64_t limit) {
    const uint8_t kind = byte();
    const uint64_t odd[] = {limit, limit + 1, limit - 1, limit / 2, ~uint64_t{0}, ~uint64_t{0} - limit + 1,
                            uint64_t{1} << 63, uint64_t{1} << 32};
    if (kind < 128) return kind;
    if (kind < 192) return uint64_t{kind & 63u} << 8 | byte();
    return odd[kind % std::size(odd)];
  }

 private:
  ByteView left_;
};

}  // namespace gt::fuzz
