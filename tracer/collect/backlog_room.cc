#include "tracer/collect/backlog_room.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>

#include "traces/base/cgroups.h"

namespace gt::tracer {

namespace {

constexpr uint64_t Unlimited = std::numeric_limits<uint64_t>::max();

uint64_t number(std::string_view text, uint64_t otherwise) {
  uint64_t value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() ? value : otherwise;
}

uint64_t free_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, rest; file >> name && std::getline(file, rest);) {
    if (name == "MemAvailable:") return number(rest.substr(rest.find_first_not_of(' ')), 0) * 1024;
  }
  return Unlimited;
}

uint64_t left_by_cgroups() {
  uint64_t least = Unlimited;
  for_each_cgroup("", "memory", [&](const Cgroup& group) {
    char limit[32], used[32];
    const bool two = group.version == 2;
    const uint64_t most = number(group.read(two ? "memory.max" : "memory.limit_in_bytes", limit), Unlimited);
    const uint64_t now = number(group.read(two ? "memory.current" : "memory.usage_in_bytes", used), 0);
    if (most != Unlimited) least = std::min(least, most > now ? most - now : 0);
  });
  return least;
}

uint64_t free_in(const std::string& folder) {
  struct statvfs fs {};
  return statvfs(folder.c_str(), &fs) == 0 ? uint64_t{fs.f_bavail} * fs.f_frsize : Unlimited;
}

}  // namespace

uint64_t backlog_room(const std::string& folder) {
  return std::min(std::min({free_memory(), left_by_cgroups(), free_in(folder)}) / 8, MostBacklog);
}

}  // namespace gt::tracer
