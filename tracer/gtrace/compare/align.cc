// The greedy algorithm of the paper, remembering the furthest points of every round.
#include "tracer/gtrace/compare/align.h"

#include <algorithm>
#include <unordered_map>

namespace gt::tracer {
namespace {

using Keys = std::span<const uint64_t>;
using Pairs = std::vector<std::pair<size_t, size_t>>;

class Myers {
 public:
  Myers(Keys a, Keys b) : a_(a), b_(b), n_(static_cast<int64_t>(a.size())), m_(static_cast<int64_t>(b.size())) {}

  // False: more than MostEdits differences.
  bool solve(Pairs& pairs) {
    std::vector<int64_t> furthest(2 * MostEdits + 3, 0);  // x by diagonal k, at k + MostEdits + 1
    for (int64_t d = 0; d <= static_cast<int64_t>(std::min<size_t>(MostEdits, a_.size() + b_.size())); ++d) {
      for (int64_t k = -d; k <= d; k += 2) {
        int64_t& x = furthest[at(k)];
        const bool down = k == -d || (k != d && furthest[at(k - 1)] < furthest[at(k + 1)]);
        x = down ? furthest[at(k + 1)] : furthest[at(k - 1)] + 1;
        while (x < n_ && x - k >= 0 && x - k < m_ && a_[size_t(x)] == b_[size_t(x - k)]) ++x;
        if (x >= n_ && x - k >= m_) {
          rounds_.emplace_back(furthest.begin() + static_cast<std::ptrdiff_t>(at(-d)),
                               furthest.begin() + static_cast<std::ptrdiff_t>(at(d)) + 1);
          walk_back(d, pairs);
          return true;
        }
      }
      rounds_.emplace_back(furthest.begin() + static_cast<std::ptrdiff_t>(at(-d)),
                           furthest.begin() + static_cast<std::ptrdiff_t>(at(d)) + 1);
    }
    return false;
  }

 private:
  static size_t at(int64_t k) { return static_cast<size_t>(k + static_cast<int64_t>(MostEdits) + 1); }
  int64_t of_(int64_t d, int64_t k) const { return k < -d || k > d ? -1 : rounds_[size_t(d)][size_t(k + d)]; }

  void walk_back(int64_t d, Pairs& pairs) const {
    int64_t x = n_, y = m_;
    for (; d > 0; --d) {
      const int64_t k = x - y;
      const bool down = k == -d || (k != d && of_(d - 1, k - 1) < of_(d - 1, k + 1));
      const int64_t from_k = down ? k + 1 : k - 1;
      const int64_t from_x = of_(d - 1, from_k), from_y = from_x - from_k;
      const int64_t start_x = down ? from_x : from_x + 1;
      for (; x > start_x; --x, --y) pairs.emplace_back(size_t(x - 1), size_t(y - 1));
      x = from_x;
      y = from_y;
    }
    for (; x > 0 && y > 0; --x, --y) pairs.emplace_back(size_t(x - 1), size_t(y - 1));
    std::reverse(pairs.begin(), pairs.end());
  }

  Keys a_, b_;
  int64_t n_, m_;
  std::vector<std::vector<int64_t>> rounds_;
};

// For sequences that have little in common: the next same key, if it is not far.
void pair_greedily(Keys a, Keys b, Pairs& pairs) {
  constexpr size_t Near = 256;
  std::unordered_map<uint64_t, std::vector<size_t>> places;
  for (size_t j = 0; j < b.size(); ++j) places[b[j]].push_back(j);
  size_t next = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto found = places.find(a[i]);
    if (found == places.end()) continue;
    const auto j = std::lower_bound(found->second.begin(), found->second.end(), next);
    if (j == found->second.end() || *j > next + Near) continue;
    pairs.emplace_back(i, *j);
    next = *j + 1;
  }
}

}  // namespace

Pairs align(Keys a, Keys b) {
  Pairs pairs;
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) {
    pairs.emplace_back(head, head);
    ++head;
  }
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const Keys middle_a = a.subspan(head, a.size() - head - tail), middle_b = b.subspan(head, b.size() - head - tail);
  Pairs middle;
  if (!middle_a.empty() && !middle_b.empty() && !Myers(middle_a, middle_b).solve(middle)) {
    middle.clear();
    pair_greedily(middle_a, middle_b, middle);
  }
  for (const auto& [i, j] : middle) pairs.emplace_back(i + head, j + head);
  for (size_t t = tail; t > 0; --t) pairs.emplace_back(a.size() - t, b.size() - t);
  return pairs;
}

}  // namespace gt::tracer
