// Which elements of two sequences of keys belong together: the longest common subsequence, or nearly.
//
// Myers, "An O(ND) difference algorithm and its variations" (1986), up to MostEdits differences; beyond that, each key
// takes its next occurrence nearby. Cost: the sequences' length times the number of differences, bounded as said.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gt::tracer {

constexpr size_t MostEdits = 2000;

// Pairs of indices (into a, into b), ascending in both.
std::vector<std::pair<size_t, size_t>> align(std::span<const uint64_t> a, std::span<const uint64_t> b);

}  // namespace gt::tracer
