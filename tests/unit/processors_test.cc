// How many processors the control groups leave, from planted folders.
#include "traces/base/processors.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <cerrno>

#include "tests/unit/planted_system.h"

namespace gt::staging {
namespace {

unsigned quota(const PlantedSystem& s) { return processor_quota(s.root.c_str()); }

TEST_CASE("version 2: the least quota of the group and all above it") {
  PlantedSystem s("0::/user.slice/job\n");
  CHECK(quota(s) == 0);
  s.put("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
  CHECK(quota(s) == 0);
  s.put("/sys/fs/cgroup/user.slice/cpu.max", "800000 100000\n");
  CHECK(quota(s) == 8);
  s.put("/sys/fs/cgroup/user.slice/job/cpu.max", "150000 50000\n");
  CHECK(quota(s) == 3);
  s.put("/sys/fs/cgroup/user.slice/job/cpu.max", "250000\n");
  CHECK(quota(s) == 2);
  s.put("/sys/fs/cgroup/user.slice/job/cpu.max", "10000 100000\n");  // a tenth of one is one thread that is held up
  CHECK(quota(s) == 1);
}

TEST_CASE("version 1, as containers mount it") {
  PlantedSystem s("12:cpu,cpuacct:/docker/x\n5:memory:/docker/x\n");
  s.put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n").put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(quota(s) == 0);
  s.put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  CHECK(quota(s) == 4);
}

TEST_CASE("what is no number is no quota, and errno stays") {
  for (const char* text : {"", "\n", "max", "-5 100000", "0 100000", "many 7"}) {
    PlantedSystem s("0::/\n");
    s.put("/sys/fs/cgroup/cpu.max", text);
    errno = 77;
    CHECK(quota(s) == 0);
    CHECK(errno == 77);
  }
  PlantedSystem huge("0::/\n");
  huge.put("/sys/fs/cgroup/cpu.max", "9223372036854775807 1\n");
  CHECK(quota(huge) == 2147483647u);
  CHECK(processor_quota("/nonexistent") == 0);
}

TEST_CASE("here there are some, and no more than the mask has") {
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  CHECK(usable_processors() >= 1);
  CHECK(usable_processors() <= static_cast<unsigned>(CPU_COUNT(&set)));
}

}  // namespace
}  // namespace gt::staging
