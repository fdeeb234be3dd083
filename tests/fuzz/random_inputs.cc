// Runs a fuzz target without libFuzzer: on random mixtures of its seeds, the same ones every time.
//
// Usage: TARGET [-runs=N] [-seed=S] [FILE...]      FILE: only these inputs
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>

#include "tests/fuzz/seeds.h"

namespace {

using gt::Bytes;
using Random = std::mt19937_64;

size_t pick(Random& random, size_t n) { return static_cast<size_t>(random() % n); }

void damage(Bytes& input, Random& random) {
  constexpr uint8_t Odd[] = {0, 1, 0x7f, 0x80, 0xff};
  const size_t at = pick(random, input.size());
  const auto where = input.begin() + static_cast<std::ptrdiff_t>(at);
  switch (pick(random, 5)) {
    case 0: *where = static_cast<uint8_t>(random()); break;
    case 1: *where = Odd[pick(random, std::size(Odd))]; break;
    case 2: *where ^= static_cast<uint8_t>(1 << pick(random, 8)); break;
    case 3: input.insert(where, 1 + pick(random, 8), Odd[pick(random, std::size(Odd))]); break;
    default: {
      const size_t n = 1 + pick(random, std::min<size_t>(8, input.size() - at));
      input.erase(where, where + static_cast<std::ptrdiff_t>(n));
    }
  }
}

Bytes make_input(const std::vector<Bytes>& seeds, Random& random) {
  Bytes input;
  for (size_t i = 0, n = 1 + pick(random, 6); i < n; ++i) {
    const Bytes& seed = seeds[pick(random, seeds.size())];
    input.insert(input.end(), seed.begin(), seed.end());
  }
  for (size_t i = 0, n = pick(random, 12); i < n && !input.empty(); ++i) damage(input, random);
  return input;
}

int run_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s cannot be read\n", path);
    return 2;
  }
  const Bytes input{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(input.data(), input.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned long long runs = 1000, seed = 1;
  bool files = false;
  for (int i = 1; i < argc; ++i) {
    if (std::sscanf(argv[i], "-runs=%llu", &runs) == 1 || std::sscanf(argv[i], "-seed=%llu", &seed) == 1) continue;
    files = true;
    if (const int code = run_file(argv[i]); code != 0) return code;
  }
  if (files) return 0;
  const std::vector<Bytes> seeds = fuzz_seeds();
  Random random(seed);
  for (const Bytes& s : seeds) LLVMFuzzerTestOneInput(s.data(), s.size());
  for (unsigned long long i = 0; i < runs; ++i) {
    const Bytes input = make_input(seeds, random);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%llu inputs\n", runs + seeds.size());
  return 0;
}
