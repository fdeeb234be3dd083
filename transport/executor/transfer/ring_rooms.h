// Which parts of a ring are taken.
//
//   taken in turn, given back in any order:   |  free  | taken, given back, taken, taken |  free  |
//
// What is given back behind a part that is not becomes free with it.
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

namespace gt::exec {

class RingRooms {
 public:
  // `line`: no two parts share a line of so many bytes. REQUIRES: it divides `size`.
  RingRooms(size_t size, size_t line) : size_(size), line_(line) {}

  // Where so many bytes are free now; nothing: there is no room.
  std::optional<size_t> take(size_t bytes) {
    const size_t room = (std::max<size_t>(bytes, 1) + line_ - 1) / line_ * line_;
    const size_t oldest = parts_.empty() ? 0 : parts_.front().begin;
    size_t begin = parts_.empty() ? 0 : parts_.back().end;
    const bool wrapped = !parts_.empty() && begin <= oldest;
    if (!wrapped && size_ - begin < room) {
      if (oldest < room) return {};
      begin = 0;
    } else if (wrapped && oldest - begin < room) {
      return {};
    }
    parts_.push_back({begin, begin + room});
    return begin;
  }

  // REQUIRES: take() gave it, and it was not given back since.
  void give_back(size_t begin) {
    const auto is_it = [begin](const Part& p) { return p.taken && p.begin == begin; };
    std::find_if(parts_.begin(), parts_.end(), is_it)->taken = false;
    while (!parts_.empty() && !parts_.front().taken) parts_.pop_front();
  }

 private:
  struct Part {
    size_t begin, end;
    bool taken = true;
  };
  const size_t size_, line_;
  std::deque<Part> parts_;  // by their turn
};

}  // namespace gt::exec
