// a + b * c + ..., of numbers that a stranger chose, or the knowledge that it does not fit into 64 bits.
// Thread safety: a value.
#pragma once

#include <cstdint>

namespace gt {

class CheckedSum {
 public:
  CheckedSum& add(uint64_t a, uint64_t b = 1) {
    uint64_t product = 0;
    ok_ = ok_ && !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(value_, product, &value_);
    return *this;
  }
  bool ok() const { return ok_; }
  uint64_t value() const { return value_; }  // without meaning where it does not fit
  bool fits(uint64_t room) const { return ok_ && value_ <= room; }

 private:
  uint64_t value_ = 0;
  bool ok_ = true;
};

}  // namespace gt
