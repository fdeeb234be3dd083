#include "traces/base/high_fd.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace gt {
namespace {

constexpr rlim_t TableEnd = 4096;  // 32 KiB of the kernel's
constexpr int AboveStandard = STDERR_FILENO + 1;

// The last sixteenth of what the program may have.
int lowest_high() {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  const rlim_t end = std::min(known ? limit.rlim_cur : TableEnd, TableEnd);
  return static_cast<int>(end - end / 16);
}

}  // namespace

Fd high_fd(Fd low) noexcept {
  if (!low.open()) return {};
  for (int from = lowest_high(); from > AboveStandard; from /= 2)
    if (Fd high(::fcntl(low.get(), F_DUPFD_CLOEXEC, from)); high.open()) return high;
  Fd any(::fcntl(low.get(), F_DUPFD_CLOEXEC, AboveStandard));
  if (any.open() || low.get() < AboveStandard) return any;
  return low;
}

}  // namespace gt
