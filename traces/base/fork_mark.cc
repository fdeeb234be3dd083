#include "optimizer-rt/pool/fork_mark.h"

#include <sys/mman.h>

namespace gt::opt {

void ForkMark::open() noexcept {
  constexpr int WipeOnFork = 18;  // MADV_WIPEONFORK, of newer headers
  x_pid = ::getpid();
  const auto page = static_cast<size_t>(::getpagesize());
  void* p = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  if (::madvise(p, page, WipeOnFork) != 0) {
    ::munmap(p, page);
    return;
  }
  x_word = static_cast<volatile int*>(p);
  *x_word = 1;
}

}  // namespace gt::opt
