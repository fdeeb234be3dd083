// What the user wants of compression: as it pays, always at a level of zstd's (1 to 19), or never. As a number of a
// message.
// Thread safety: values.
#pragma once

#include <cstdint>

namespace gt::chunks {

class Packing {
 public:
  static constexpr uint8_t Largest = 19;

  constexpr Packing() = default;
  constexpr explicit Packing(uint8_t number) : number_(number > Largest && number != AutoNumber ? 0 : number) {}
  static constexpr Packing automatic() { return Packing(AutoNumber); }
  static constexpr Packing always(uint8_t level) { return Packing(level); }

  constexpr uint8_t number() const { return number_; }
  constexpr bool is_never() const { return number_ == 0; }
  constexpr bool is_auto() const { return number_ == AutoNumber; }
  constexpr int level() const { return number_; }  // REQUIRES: neither

 private:
  static constexpr uint8_t AutoNumber = 255;
  uint8_t number_ = 0;
};

}  // namespace gt::chunks
