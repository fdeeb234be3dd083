// The length of a union of time intervals, online and in bounded memory.
//
// Intervals arrive nearly in order (commands are harvested queue by queue). At most MaxOpen
// disjoint intervals are kept; the earliest is then closed, and what arrives before it later counts
// in full. Cost: some nanoseconds for an interval that comes last, a search for one that does not. Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace gt::tracer {

class IntervalUnion {
 public:
  // REQUIRES: begin <= end.
  void add(uint64_t begin, uint64_t end) {
    if (open_.empty() || open_.back().end < begin) {
      open_.push_back({begin, end});
    } else if (open_.back().begin <= begin) {
      open_.back().end = std::max(open_.back().end, end);
    } else {
      insert(begin, end);
    }
    if (open_.size() > MaxOpen) {
      closed_ += open_.front().end - open_.front().begin;
      open_.pop_front();
    }
  }

  uint64_t length() const {
    uint64_t sum = closed_;
    for (const Interval& i : open_) sum += i.end - i.begin;
    return sum;
  }

 private:
  static constexpr size_t MaxOpen = 1024;
  struct Interval {
    uint64_t begin, end;
  };

  // In the place of all that it touches.
  void insert(uint64_t begin, uint64_t end) {
    const auto first =
        std::partition_point(open_.begin(), open_.end(), [&](const Interval& i) { return i.end < begin; });
    const auto last = std::partition_point(first, open_.end(), [&](const Interval& i) { return i.begin <= end; });
    if (first == last) {
      open_.insert(first, {begin, end});
      return;
    }
    *first = {std::min(begin, first->begin), std::max(end, std::prev(last)->end)};
    open_.erase(std::next(first), last);
  }

  std::deque<Interval> open_;  // sorted, disjoint, not touching
  uint64_t closed_ = 0;
};

}  // namespace gt::tracer
