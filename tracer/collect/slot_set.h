// The slots of one class of objects: take() gives the lowest free number, give_back() frees one.
//
// Lowest-first makes names a function of the order of creations and releases alone, so a loop that
// creates and releases the same objects names them the same each time. A bitmap with one summary
// level: a bit of `full_` says that the word below has no free slot. Thread safety: none.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gt::tracer {

class SlotSet {
 public:
  uint32_t take() {
    size_t f = first_group_;
    while (f < full_.size() && full_[f] == ~uint64_t{0}) ++f;
    first_group_ = f;
    if (f == full_.size()) full_.push_back(0);
    const size_t w = f * 64 + static_cast<size_t>(std::countr_one(full_[f]));
    if (w >= used_.size()) used_.resize(w + 1, 0);
    const auto bit = static_cast<size_t>(std::countr_one(used_[w]));
    used_[w] |= uint64_t{1} << bit;
    if (used_[w] == ~uint64_t{0}) full_[f] |= uint64_t{1} << (w % 64);
    ++live_;
    return static_cast<uint32_t>(w * 64 + bit);
  }

  // REQUIRES: slot was taken and not given back.
  void give_back(uint32_t slot) {
    const size_t w = slot / 64;
    used_[w] &= ~(uint64_t{1} << (slot % 64));
    full_[w / 64] &= ~(uint64_t{1} << (w % 64));
    if (w / 64 < first_group_) first_group_ = w / 64;
    --live_;
  }

  uint64_t live() const { return live_; }

 private:
  std::vector<uint64_t> used_;  // bit set: slot taken
  std::vector<uint64_t> full_;  // bit set: that word of used_ is all ones
  size_t first_group_ = 0;      // no free slot in the groups before it
  uint64_t live_ = 0;
};

}  // namespace gt::tracer
