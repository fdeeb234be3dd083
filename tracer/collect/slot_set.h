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
    if (first_word_ >= used_.size() || used_[first_word_] == ~uint64_t{0}) find_word();
    uint64_t& word = used_[first_word_];
    const auto bit = static_cast<size_t>(std::countr_one(word));
    word |= uint64_t{1} << bit;
    if (word == ~uint64_t{0}) full_[first_word_ / 64] |= uint64_t{1} << (first_word_ % 64);
    ++live_;
    return static_cast<uint32_t>(first_word_ * 64 + bit);
  }

  // REQUIRES: slot was taken and not given back.
  void give_back(uint32_t slot) {
    const size_t w = slot / 64;
    if (used_[w] == ~uint64_t{0}) full_[w / 64] &= ~(uint64_t{1} << (w % 64));
    used_[w] &= ~(uint64_t{1} << (slot % 64));
    if (w < first_word_) first_word_ = w;
    --live_;
  }

  uint64_t live() const { return live_; }

 private:
  // The first word with a free slot.
  void find_word() {
    size_t f = first_word_ / 64;
    while (f < full_.size() && full_[f] == ~uint64_t{0}) ++f;
    if (f == full_.size()) full_.push_back(0);
    first_word_ = f * 64 + static_cast<size_t>(std::countr_one(full_[f]));
    if (first_word_ >= used_.size()) used_.resize(first_word_ + 1, 0);
  }

  std::vector<uint64_t> used_;  // bit set: slot taken
  std::vector<uint64_t> full_;  // bit set: that word of used_ is all ones
  size_t first_word_ = 0;       // no free slot in the words before it
  uint64_t live_ = 0;
};

}  // namespace gt::tracer
