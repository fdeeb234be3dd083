// a + b * c + ..., of numbers that a stranger chose, or the knowledge that it does not fit into 64 bits.
// Thread safety: a value.
#pragma once

#include <cstdint>

namespace gt {

class CheckedSum {
 public:
  CheckedSum& add(uint64_t a, uint64_t b = 1) {
    uint64_t product = 0;
    x_ok = x_ok && !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(x_value, product, &x_value);
    return *this;
  }
  bool ok() const { return x_ok; }
  uint64_t value() const { return x_value; }  // without meaning where it does not fit
  bool fits(uint64_t room) const { return x_ok && x_value <= room; }

 private:
  uint64_t x_value = 0;
  bool x_ok = true;
};

}  // namespace gt
