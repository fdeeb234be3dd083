// An OpenMP program that transfers from parallel regions: blocks of the threads' own, and parts of one that they share.
#include <cstdio>
#include <vector>

#include "tests/e2e/optimizer/link.h"

namespace {

constexpr int Threads = 4, Rounds = 20;
constexpr size_t Part = MiB;
char g_common[Threads * Part];

}  // namespace

int main() {
  Link link(Threads * Part);
  unsigned good = 0;
  auto* shared = static_cast<char*>(std::malloc(Threads * Part));
  const auto part = [&](void* p, unsigned i, unsigned seed) {  // to this thread's part of the buffer and back
    fill(p, Part, seed);
    cl_int err = clEnqueueWriteBuffer(link.queue, link.mem, CL_TRUE, i * Part, Part, p, 0, nullptr, nullptr);
    std::memset(p, 0, Part);
    err |= clEnqueueReadBuffer(link.queue, link.mem, CL_TRUE, i * Part, Part, p, 0, nullptr, nullptr);
    return err == CL_SUCCESS && filled(p, Part, seed) ? 1u : 0u;
  };
#pragma omp parallel for num_threads(Threads) reduction(+ : good)
  for (unsigned i = 0; i < Threads; ++i)
    for (unsigned round = 0; round < Rounds; ++round) {
      void* own = std::malloc(Part);
      good += part(own, i, round) + part(shared + i * Part, i, round + 100) + part(g_common + i * Part, i, round + 200);
      std::free(own);
    }
  std::printf("%u good\n", good);
  std::free(shared);
  return good == 3 * Threads * Rounds ? 0 : 1;
}
