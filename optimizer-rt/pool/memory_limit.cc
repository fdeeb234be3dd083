#include "optimizer-rt/pool/memory_limit.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "traces/base/fd.h"

namespace gt::opt {
namespace {

using Path = char[PATH_MAX];

// The beginning of a file, as text. Empty: it cannot be read.
template <size_t N>
std::string_view read_text(const char* path, char (&buffer)[N]) {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = file.open() ? ::read(file.get(), buffer, N - 1) : 0;
  buffer[std::max<ssize_t>(n, 0)] = 0;
  return {buffer, static_cast<size_t>(std::max<ssize_t>(n, 0))};
}

size_t limit_in(const char* root, const char* mount, std::string_view group, const char* name) {
  Path path;
  char number[32];
  const int length = std::snprintf(path, sizeof path, "%s%s%.*s/%s", root, mount, static_cast<int>(group.size()),
                                   group.data(), name);
  if (length < 0 || static_cast<size_t>(length) >= sizeof path) return SIZE_MAX;
  const std::string_view text = read_text(path, number);
  const bool is_number = !text.empty() && text[0] >= '0' && text[0] <= '9';  // else: "max"
  return is_number ? std::strtoull(number, nullptr, 10) : SIZE_MAX;
}

// Of the group and all above it.
size_t least_limit(const char* root, const char* mount, std::string_view group, const char* name) {
  if (group == "/") group = "";
  size_t least = SIZE_MAX;
  for (;;) {
    least = std::min(least, limit_in(root, mount, group, name));
    if (group.empty()) return least;
    const size_t slash = group.rfind('/');
    group = group.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

bool names_memory(std::string_view controllers) {
  for (;;) {
    const size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "memory") return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
}

// A line of /proc/self/cgroup: NUMBER:CONTROLLERS:GROUP, without controllers for version 2.
size_t limit_of_line(const char* root, std::string_view line) {
  const size_t first = line.find(':');
  const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  if (second == std::string_view::npos) return SIZE_MAX;
  const std::string_view controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
  if (controllers.empty())
    return std::min(least_limit(root, "/sys/fs/cgroup", group, "memory.max"),
                    least_limit(root, "/sys/fs/cgroup", group, "memory.high"));  // above it the kernel slows it down
  if (!names_memory(controllers)) return SIZE_MAX;
  return least_limit(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
}

}  // namespace

size_t cgroup_memory_limit(const char* root) noexcept {
  const int saved_errno = errno;
  Path path;
  char text[8192];
  std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  size_t least = SIZE_MAX;
  for (std::string_view rest = read_text(path, text); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    least = std::min(least, limit_of_line(root, rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  errno = saved_errno;
  return least;
}

size_t memory_limit() noexcept {
  const auto pages = static_cast<size_t>(::sysconf(_SC_PHYS_PAGES));
  return std::min(pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)), cgroup_memory_limit(""));
}

}  // namespace gt::opt
