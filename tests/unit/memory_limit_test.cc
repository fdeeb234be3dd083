// The limit of the control groups, from planted folders.
#include "optimizer-rt/pool/memory_limit.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "tests/unit/planted_system.h"

using namespace gt::opt;

namespace {

struct System : PlantedSystem {
  using PlantedSystem::PlantedSystem;
  size_t limit() const { return cgroup_memory_limit(root.c_str()); }
};

const std::string Groups = "/sys/fs/cgroup";

}  // namespace

TEST_CASE("version 2: the least of the group and all above it") {
  System s("0::/user.slice/job\n");
  CHECK(s.limit() == SIZE_MAX);
  s.put(Groups + "/user.slice/job/memory.max", "max\n").put(Groups + "/memory.max", "900000\n");
  CHECK(s.limit() == 900000);
  s.put(Groups + "/user.slice/memory.max", "700000\n");
  CHECK(s.limit() == 700000);
  s.put(Groups + "/user.slice/job/memory.high", "600000\n");
  CHECK(s.limit() == 600000);
  s.put(Groups + "/user.slice/job/memory.max", "500000");
  CHECK(s.limit() == 500000);
  s.put(Groups + "/user.slice/other/memory.max", "1\n");
  CHECK(s.limit() == 500000);
}

TEST_CASE("version 1, beside other controllers and an empty version 2") {
  System s("12:cpu,cpuacct:/a\n5:memory:/docker/x\n4:memory_not:/b\n0::/\n");
  CHECK(s.limit() == SIZE_MAX);
  s.put(Groups + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(s.limit() == 9223372036854771712u);
  s.put(Groups + "/memory/docker/x/memory.limit_in_bytes", "12345678\n");
  s.put(Groups + "/memory/a/memory.limit_in_bytes", "1\n").put(Groups + "/memory/b/memory.limit_in_bytes", "2\n");
  CHECK(s.limit() == 12345678);
  System among("3:hugetlb,memory,rdma:/\n");
  among.put(Groups + "/memory/memory.limit_in_bytes", "77\n");
  CHECK(among.limit() == 77);
}

TEST_CASE("in a container: the group's own folder is the root") {
  System s("5:memory:/docker/x\n0::/\n");
  s.put(Groups + "/memory/memory.limit_in_bytes", "1000\n");
  CHECK(s.limit() == 1000);
  System two("0::/");
  two.put(Groups + "/memory.max", "2000");
  CHECK(two.limit() == 2000);
}

TEST_CASE("what cannot be read is no limit, and errno stays") {
  errno = 77;
  for (const char* text : {"", "\n", "0", "0:", "0::", ":::\n::\n", "0::no slash\n", "x:memory"}) {
    System s(text);
    errno = 77;
    CHECK(s.limit() == SIZE_MAX);
    CHECK(errno == 77);
  }
  System s("0::/" + std::string(7000, 'x') + "\n");
  s.put(Groups + "/memory.max", "5\n");
  CHECK(s.limit() == 5);
  CHECK(cgroup_memory_limit("/nonexistent") == SIZE_MAX);
  CHECK(cgroup_memory_limit(std::string(5000, 'x').c_str()) == SIZE_MAX);
}

TEST_CASE("here there is some memory") {
  CHECK(memory_limit() > size_t{16} << 20);
  CHECK(memory_limit() <= static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(::getpagesize()));
}
