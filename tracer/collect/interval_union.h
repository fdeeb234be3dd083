// The length of a union of time intervals, online and in bounded memory.
//
// Intervals arrive nearly in order (commands are harvested queue by queue). At most MaxOpen
// disjoint intervals are kept; the earliest is then closed, and what arrives before it later counts
// in full. Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace gt::tracer {

class IntervalUnion {
 public:
  // REQUIRES: begin <= end.
  void add(uint64_t begin, uint64_t end) {
    auto it = open_.upper_bound(begin);
    if (it != open_.begin()) {
      auto before = std::prev(it);
      if (before->second >= begin) it = before;
    }
    while (it != open_.end() && it->first <= end) {
      if (it->first < begin) begin = it->first;
      if (it->second > end) end = it->second;
      it = open_.erase(it);
    }
    open_.emplace(begin, end);
    if (open_.size() > MaxOpen) {
      closed_ += open_.begin()->second - open_.begin()->first;
      open_.erase(open_.begin());
    }
  }

  uint64_t length() const {
    uint64_t sum = closed_;
    for (const auto& [begin, end] : open_) sum += end - begin;
    return sum;
  }

 private:
  static constexpr size_t MaxOpen = 1024;
  std::map<uint64_t, uint64_t> open_;  // begin -> end, disjoint, not touching
  uint64_t closed_ = 0;
};

}  // namespace gt::tracer
