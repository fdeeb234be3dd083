// Reading /proc and the cgroups.
#include "microbench/base/free_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "traces/base/cgroups.h"

namespace gt::bench {
namespace {

// The number in a file that holds one; nothing for "max", or when there is no such file.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  uint64_t n = 0;
  return in >> n ? std::optional(n) : std::nullopt;
}

// The number after a word.
std::optional<uint64_t> number_after(const std::string& key, const std::string& path) {
  std::ifstream in(path);
  for (std::string word; in >> word;) {
    uint64_t n = 0;
    if (word == key && in >> n) return n;
  }
  return {};
}

std::optional<uint64_t> bytes_in(const std::string& path, const std::string& key) {
  const auto kib = number_after(key, path);
  return kib ? std::optional(*kib << 10) : std::nullopt;
}

// Where a kind of cgroups says what.
struct GroupFiles {
  const char *limit, *usage, *inactive_file, *active_file;
};
constexpr GroupFiles V2 = {"/memory.max", "/memory.current", "inactive_file", "active_file"};
constexpr GroupFiles V1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
                           "total_active_file"};

// Cached files count as used; the kernel drops them when the memory is wanted.
uint64_t left(const std::string& folder, const GroupFiles& files) {
  const auto most = number_in(folder + files.limit), used = number_in(folder + files.usage);
  if (!most || !used) return UINT64_MAX;
  const std::string stat = folder + "/memory.stat";
  const uint64_t cached = number_after(files.inactive_file, stat).value_or(0) +
                          number_after(files.active_file, stat).value_or(0);
  const uint64_t kept = *used - std::min(*used, cached);
  return *most > kept ? *most - kept : 0;
}

uint64_t cgroup_left(const std::string& root) {
  uint64_t least = UINT64_MAX;
  for_each_cgroup(root.c_str(), "memory",
                  [&](const Cgroup& g) { least = std::min(least, left(g.folder, g.version == 2 ? V2 : V1)); });
  return least;
}

uint64_t address_space_left(const std::string& root) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  const uint64_t used = bytes_in(root + "/proc/self/status", "VmSize:").value_or(0);
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

uint64_t free_memory(const std::string& root) {
  const uint64_t available = bytes_in(root + "/proc/meminfo", "MemAvailable:").value_or(0);
  return std::min({available, cgroup_left(root), address_space_left(root)});
}

}  // namespace gt::bench
