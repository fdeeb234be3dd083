// Random bytes, eight at a time from one number: a generator's number for each byte takes longer than what is tested.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gt::testing {

// `out`: a vector of bytes or chars.
template <class Random, class Out>
void randomize(Random& random, Out& out) {
  uint64_t state = random();
  for (size_t i = 0; i < out.size(); i += sizeof state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t mixed = state ^ state >> 29;
    std::memcpy(out.data() + i, &mixed, std::min(sizeof mixed, out.size() - i));
  }
}

}  // namespace gt::testing
