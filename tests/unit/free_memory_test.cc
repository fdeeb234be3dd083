// Free memory, by files of systems that are not this one.
#include "microbench/base/free_memory.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using gt::bench::free_memory;

namespace {

struct Root {
  std::filesystem::path path;
  Root() {
    char folder[] = "/tmp/free_memory_test.XXXXXX";
    REQUIRE(::mkdtemp(folder));
    path = folder;
    put("proc/meminfo", "MemTotal: 16000 kB\nMemFree: 1000 kB\nMemAvailable:    8000 kB\n");
  }
  ~Root() { std::filesystem::remove_all(path); }
  void put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  uint64_t free() const { return free_memory(path.string()); }
};

}  // namespace

TEST_CASE("what the system has available") {
  Root root;
  CHECK(root.free() == 8000 << 10);
  CHECK(free_memory() > 1 << 20);
}

TEST_CASE("a cgroup of version 2 leaves less, and so does one above it") {
  Root root;
  root.put("proc/self/cgroup", "0::/user/job\n");
  root.put("sys/fs/cgroup/user/job/memory.max", "max\n");
  root.put("sys/fs/cgroup/user/job/memory.current", "4096\n");
  CHECK(root.free() == 8000 << 10);
  root.put("sys/fs/cgroup/user/memory.max", "3000000\n");
  root.put("sys/fs/cgroup/user/memory.current", "1000000\n");
  CHECK(root.free() == 2000000);
  root.put("sys/fs/cgroup/user/job/memory.max", "5000\n");
  CHECK(root.free() == 904);
  root.put("sys/fs/cgroup/user/job/memory.current", "6000\n");
  CHECK(root.free() == 0);
}

TEST_CASE("a cgroup of version 1, and one that is the root of its container") {
  Root root;
  root.put("proc/self/cgroup", "12:cpu:/x\n4:memory:/box\n0::/\n");
  root.put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "100000\n");
  root.put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "40000\n");
  CHECK(root.free() == 60000);
  root.put("sys/fs/cgroup/memory.max", "50000\n");
  root.put("sys/fs/cgroup/memory.current", "10000\n");
  CHECK(root.free() == 40000);
}

TEST_CASE("files that the kernel caches for a group can be dropped") {
  Root root;
  root.put("proc/self/cgroup", "0::/job\n");
  root.put("sys/fs/cgroup/job/memory.max", "100000\n");
  root.put("sys/fs/cgroup/job/memory.current", "90000\n");
  root.put("sys/fs/cgroup/job/memory.stat", "anon 20000\nfile 70000\ninactive_file 50000\nactive_file 10000\n");
  CHECK(root.free() == 70000);
  root.put("sys/fs/cgroup/job/memory.stat", "inactive_file 50000\nactive_file 90000\n");  // read a moment later
  CHECK(root.free() == 100000);
  root.put("proc/self/cgroup", "4:memory:/box\n");
  root.put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "100000\n");
  root.put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "40000\n");
  root.put("sys/fs/cgroup/memory/box/memory.stat",
           "inactive_file 7\ntotal_inactive_file 5000\ntotal_active_file 1000\n");
  CHECK(root.free() == 66000);
}

TEST_CASE("without any of these files there is nothing to be had") {
  Root root;
  std::filesystem::remove_all(root.path / "proc");
  CHECK(root.free() == 0);
}
