// The memory that folding takes: resident bytes of this process while a stream grows a thousandfold and more.
//
// Usage: fold_memory [EVENTS]      10^8 when not given. One table: events, resident KiB, what the Folder says it holds.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "traces/model/fold/fold.h"

namespace {

using gt::model::Folder;
using gt::model::ShapeId;

size_t resident_kib() {
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

// A program of two loops in one: constant, affine and periodic values, ping-pong, trip counts that alternate.
class Program {
 public:
  template <class Push>
  void iteration(const Push& push) {
    push(1, {i_ % 2, 1 - i_ % 2, 4096});
    for (int64_t j = 0; j < 4 + i_ % 2; ++j) push(2, {j, i_ * 4, 7, 1024});
    push(3, {i_, i_ % 3});
    ++i_;
  }

 private:
  int64_t i_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const uint64_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000'000;
  Folder folder;
  Program program;
  std::printf("%12s %14s %14s\n", "events", "resident KiB", "folder bytes");
  for (uint64_t wanted = 1000; wanted <= most; wanted *= 10) {
    while (folder.events() < wanted) {
      program.iteration([&](ShapeId shape, std::initializer_list<int64_t> row) { folder.push(shape, row); });
    }
    std::printf("%12llu %14zu %14zu\n", static_cast<unsigned long long>(folder.events()), resident_kib(),
                folder.memory_bytes());
  }
  return 0;
}
