// Reading /proc/loadavg: "0.20 0.18 0.12 1/80 11206", of which the 1 is what we want.
#include "transport/staging/machine_load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <new>

#include "traces/base/mutex.h"
#include "traces/base/own_fd.h"

namespace gt::staging {

unsigned running_in(std::string_view loadavg) noexcept {
  const size_t slash = std::min(loadavg.find('/'), loadavg.size());
  const size_t space = loadavg.rfind(' ', slash);
  unsigned n = 0;
  if (slash == loadavg.size() || space == std::string_view::npos) return 0;
  const char* const end = loadavg.data() + slash;
  const auto parsed = std::from_chars(loadavg.data() + space + 1, end, n);
  return parsed.ec == std::errc() && parsed.ptr == end ? n : 0;
}

namespace {

// Kept open: a thread of ours must not take, even for a moment, the number that what the program opens would have.
constinit Mutex mutex;
OwnFd& kept() GT_REQUIRES(mutex) {
  alignas(OwnFd) static char place[sizeof(OwnFd)];  // never taken apart
  static OwnFd* const file = new (place) OwnFd;
  return *file;
}
bool reopen() GT_REQUIRES(mutex) {
  kept() = OwnFd(high_fd(Fd(::open("/proc/loadavg", O_RDONLY | O_CLOEXEC))));
  return kept().open();
}

}  // namespace

unsigned running_threads() noexcept {
  const int saved_errno = errno;
  char text[128];
  ssize_t n = 0;
  if (const MutexLock lock(mutex); kept().is_ours() || reopen()) n = ::pread(kept().get(), text, sizeof text, 0);
  errno = saved_errno;
  return running_in({text, static_cast<size_t>(std::max<ssize_t>(n, 0))});
}

unsigned MachineLoad::idle(unsigned ours, uint64_t now_ns, unsigned (*running)()) noexcept {
  uint64_t next = next_ns_.load(std::memory_order_relaxed);
  if (now_ns >= next && next_ns_.compare_exchange_strong(next, now_ns + Interval_ns, std::memory_order_relaxed)) {
    const unsigned all = running();
    others_.store(all > ours ? all - ours : 0, std::memory_order_relaxed);
  }
  const unsigned others = others_.load(std::memory_order_relaxed);
  return processors_ > others ? processors_ - others : 0;
}

}  // namespace gt::staging
