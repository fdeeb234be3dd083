#include "optimizer-rt/pool/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "traces/base/cgroups.h"

namespace gt::opt {
namespace {

size_t limit_in(const Cgroup& group, const char* name) {
  char text[32];
  const bool is_number = !group.read(name, text).empty() && text[0] >= '0' && text[0] <= '9';  // else: "max"
  return is_number ? std::strtoull(text, nullptr, 10) : SIZE_MAX;
}

}  // namespace

size_t cgroup_memory_limit(const char* root) noexcept {
  size_t least = SIZE_MAX;
  for_each_cgroup(root, "memory", [&](const Cgroup& g) {
    if (g.version == 1)
      least = std::min(least, limit_in(g, "memory.limit_in_bytes"));
    else  // above memory.high the kernel slows it down
      least = std::min({least, limit_in(g, "memory.max"), limit_in(g, "memory.high")});
  });
  return least;
}

size_t address_space_limit() noexcept {
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : SIZE_MAX;
}

size_t memory_limit() noexcept {
  const auto pages = static_cast<size_t>(::sysconf(_SC_PHYS_PAGES));
  return std::min(pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)), cgroup_memory_limit(""));
}

}  // namespace gt::opt
