#include "traces/base/processors.h"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "traces/base/cgroups.h"

namespace gt {
namespace {

constexpr long UsualPeriod_us = 100'000;

// "QUOTA PERIOD", in microseconds; "max" is no number. 0: no quota.
unsigned whole_processors(const char* text, const char* period_text) {
  char* end = nullptr;
  const long quota = std::strtol(text, &end, 10);
  if (end == text || quota <= 0) return 0;
  const long period = std::strtol(period_text ? period_text : end, nullptr, 10);
  return static_cast<unsigned>(std::clamp(quota / (period > 0 ? period : UsualPeriod_us), 1L, long{INT_MAX}));
}

unsigned quota_of(const Cgroup& group) {
  char text[64], period[32] = "";
  if (group.version == 2) return group.read("cpu.max", text).empty() ? 0 : whole_processors(text, nullptr);
  if (group.read("cpu.cfs_quota_us", text).empty()) return 0;
  group.read("cpu.cfs_period_us", period);
  return whole_processors(text, period);
}

}  // namespace

unsigned processor_quota(const char* root) noexcept {
  unsigned least = 0;
  for_each_cgroup(root, "cpu", [&](const Cgroup& g) {
    const unsigned here = quota_of(g);
    if (here > 0 && (least == 0 || here < least)) least = here;
  });
  return least;
}

unsigned usable_processors() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const auto all = static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  const unsigned quota = processor_quota("");
  return quota > 0 ? std::min(all, quota) : all;
}

}  // namespace gt
