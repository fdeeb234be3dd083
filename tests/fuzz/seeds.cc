// libFuzzer's mutator, with the target's seeds: now and then an input is one of them, or goes on with one.
#include "tests/fuzz/seeds.h"

#include <algorithm>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned random) {
  static const std::vector<gt::Bytes> seeds = fuzz_seeds();
  const unsigned turn = random % 16;
  if (turn > 1) return LLVMFuzzerMutate(data, size, max_size);
  const gt::Bytes& seed = seeds[random / 16 % seeds.size()];
  const size_t at = turn == 0 ? 0 : size, n = std::min(seed.size(), max_size - at);
  std::copy_n(seed.begin(), n, data + at);
  return std::max<size_t>(at + n, 1);
}
