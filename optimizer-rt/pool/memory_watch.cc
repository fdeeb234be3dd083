// Reading /proc.
#include "optimizer-rt/pool/memory_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "tracer/interpose/uncancelled.h"
#include "traces/base/fd.h"

namespace gt::opt {
namespace {

size_t number_at(std::string_view text, size_t otherwise) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  size_t n = 0;
  return std::from_chars(text.data(), text.data() + text.size(), n).ec == std::errc() ? n : otherwise;
}

template <size_t N>
std::string_view read_start(const char* path, char (&buffer)[N]) {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = file.open() ? ::read(file.get(), buffer, N) : 0;
  return {buffer, static_cast<size_t>(std::max<ssize_t>(n, 0))};
}

}  // namespace

size_t available_in(std::string_view meminfo) noexcept {
  constexpr std::string_view Key = "MemAvailable:";
  const size_t at = meminfo.find(Key);
  if (at == std::string_view::npos) return SIZE_MAX;
  const size_t kib = number_at(meminfo.substr(at + Key.size()), SIZE_MAX);
  return kib > SIZE_MAX / 1024 ? SIZE_MAX : kib * 1024;
}

size_t resident_in(std::string_view statm, size_t page_bytes) noexcept {
  const size_t second = statm.find(' ');
  return second == std::string_view::npos ? 0 : number_at(statm.substr(second), 0) * page_bytes;
}

size_t memory_left(size_t limit) noexcept {
  const int saved_errno = errno;
  const interpose::Uncancelled whole;  // malloc and free come here
  char meminfo[256], statm[128];  // MemAvailable is in the third line
  const size_t available = available_in(read_start("/proc/meminfo", meminfo));
  const size_t own = resident_in(read_start("/proc/self/statm", statm), static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
  errno = saved_errno;
  return std::min(available, limit > own ? limit - own : 0);
}

size_t MemoryWatch::missing(uint64_t now_ns, size_t (*left)(size_t limit)) noexcept {
  uint64_t next = next_ns_.load(std::memory_order_relaxed);
  if (limit_ == 0 || now_ns < next) return 0;
  if (!next_ns_.compare_exchange_strong(next, now_ns + Interval_ns, std::memory_order_relaxed)) return 0;
  const size_t keep = limit_ / KeptShare;
  const size_t now = left(limit_);
  return now < keep ? keep - now : 0;
}

}  // namespace gt::opt
