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
  RingRooms(size_t size, size_t line) : x_size(size), x_line(line) {}

  // Where so many bytes are free now; nothing: there is no room.
  std::optional<size_t> take(size_t bytes) {
    const size_t room = (std::max<size_t>(bytes, 1) + x_line - 1) / x_line * x_line;
    const size_t oldest = x_parts.empty() ? 0 : x_parts.front().begin;
    size_t begin = x_parts.empty() ? 0 : x_parts.back().end;
    const bool wrapped = !x_parts.empty() && begin <= oldest;
    if (!wrapped && x_size - begin < room) {
      if (oldest < room) return {};
      begin = 0;
    } else if (wrapped && oldest - begin < room) {
      return {};
    }
    x_parts.push_back({begin, begin + room});
    return begin;
  }

  // REQUIRES: take() gave it, and it was not given back since.
  void give_back(size_t begin) {
    const auto is_it = [begin](const Part& p) { return p.taken && p.begin == begin; };
    std::find_if(x_parts.begin(), x_parts.end(), is_it)->taken = false;
    while (!x_parts.empty() && !x_parts.front().taken) x_parts.pop_front();
  }

 private:
  struct Part {
    size_t begin, end;
    bool taken = true;
  };
  const size_t x_size, x_line;
  std::deque<Part> x_parts;  // by their turn
};

}  // namespace gt::exec
