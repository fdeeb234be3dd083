// A fake CUDA driver: memory of devices is a memfd that each side maps, and a copy between addresses that the current
// context may not reach fails. Its functions are exported by CUDA's names; a test that links it has them as a table.
// Thread safety: the functions; what a test sets, while no other thread calls them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>

#include "transport/moves/cuda.h"

namespace gt::fake {

struct Cuda {
  // Told.
  std::atomic<int> live{0};    // what was made and not let go of
  std::atomic<int> copies{0};
  std::atomic<int> allocated{0}, released{0};
  std::atomic<int> calls{0};   // that may be refused

  // Set.
  std::atomic<int> refuse_at{-1};  // the number of the call that fails
  bool mixes_up = false;           // a byte of each copy arrives as another
  std::chrono::microseconds copy_time{0};
  size_t free = 100;               // of 100

  // Its own.
  struct Mapped {
    size_t bytes;
    std::set<moves::cuda::Device> may;
  };
  std::mutex mutex;
  std::map<moves::cuda::Address, Mapped> mapped;
};
Cuda& cuda();
void start_cuda_anew();  // REQUIRES: nothing is live

const moves::cuda::Functions* cuda_table();

}  // namespace gt::fake
