// The sandbox of gproxy's workers and of replays, entered by a child: what it lets through and what not.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "traces/base/fd.h"
#include "traces/sandbox/driver_sandbox.h"

using namespace gt;

namespace {

struct Folder {
  std::string path = "/tmp/gtrace-sandbox-test-XXXXXX";
  Folder() {
    REQUIRE(::mkdtemp(path.data()));
    for (const char* inner : {"/secret", "/reads", "/writes"}) {
      std::filesystem::create_directory(path + inner);
      std::ofstream(path + inner + "/file") << "text";
    }
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

// Whether it holds inside.
bool inside(const Folder& f, const std::function<bool()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool entered = enter_sandbox({{"/usr", "/lib", f.path + "/reads", "/no/such"}, {f.path + "/writes"}}).ok();
    ::_exit(entered && act() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0;
}

bool opens(const std::string& path, int flags) { return Fd(::open(path.c_str(), flags | O_CLOEXEC, 0600)).open(); }

}  // namespace

TEST_CASE("a sandbox reads and writes where it may, and nowhere else") {
  if (!sandbox_available().ok()) return;
  const Folder f;
  CHECK(inside(f, [&] { return opens(f.path + "/reads/file", O_RDONLY); }));
  CHECK(inside(f, [&] { return !opens(f.path + "/reads/file", O_WRONLY); }));
  CHECK(inside(f, [&] { return !opens(f.path + "/reads/new", O_WRONLY | O_CREAT); }));
  CHECK(inside(f, [&] { return opens(f.path + "/writes/new", O_RDWR | O_CREAT); }));
  CHECK(inside(f, [&] { return !opens(f.path + "/secret/file", O_RDONLY); }));
  CHECK(inside(f, [&] { return !opens(f.path + "/writes/../secret/file", O_RDONLY); }));
  CHECK(inside(f, [&] { return !opens("/etc/passwd", O_RDONLY); }));
  CHECK(inside(f, [&] {
    const std::string link = f.path + "/writes/link";
    return ::symlink((f.path + "/secret/file").c_str(), link.c_str()) == 0 && !opens(link, O_RDONLY);
  }));
  CHECK(inside(f, [&] {
    bool opened = true;
    std::thread([&] { opened = opens(f.path + "/secret/file", O_RDONLY); }).join();
    return !opened;
  }));
}

TEST_CASE("a drivers' sandbox has what drivers name, and never the home folder") {
  ::setenv("HOME", "/users/ann", 1);
  ::setenv("OCL_ICD_VENDORS", "/users/ann/conda/etc/OpenCL/vendors", 1);
  ::setenv("LD_LIBRARY_PATH", "/users:/users/ann/conda/lib:/", 1);
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("POCL_CACHE_DIR");
  const Sandbox s =
      driver_sandbox({"libpocl.so.2", "/users/ann/conda/lib/libpocl.so", "/users/ann/libdriver.so"}, "/tmp/t");
  const auto reads = [&](const char* path) { return std::count(s.reads.begin(), s.reads.end(), path) > 0; };
  const auto writes = [&](const char* path) { return std::count(s.writes.begin(), s.writes.end(), path) > 0; };
  for (const char* path :
       {"/users/ann/conda/etc/OpenCL/vendors", "/users/ann/conda/lib", "/users/ann/conda/share", "/usr"})
    CHECK_MESSAGE(reads(path), path);
  for (const char* path : {"/", "/users", "/users/", "/users/ann", "/users/ann/", "/etc", "/etc/shadow", "/tmp", ""})
    CHECK_MESSAGE(!reads(path), path);
  for (const char* path : {"/tmp/t", "/users/ann/.cache/pocl", "/users/ann/.nv/ComputeCache"})
    CHECK_MESSAGE(writes(path), path);
}
