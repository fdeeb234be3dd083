// What a program started by a traced one finds in its environment, and what stands in the way of following it.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tracer/interpose/child_environment.h"
#include "tracer/interpose/exec_target.h"
#include "tracer/interpose/real_library.h"

using namespace gt::interpose;

namespace {

using Texts = std::vector<std::string>;

// The environment that a child gets, in order.
Texts child_of(Texts given) {
  std::vector<char*> environment;
  for (std::string& text : given) environment.push_back(text.data());
  environment.push_back(nullptr);
  const size_t bytes = room_for_ours(environment.data());
  if (bytes == 0) return given;
  std::vector<char> room(bytes + 64, '\x55');
  char** made = with_ours(environment.data(), room.data());
  for (size_t i = bytes; i < room.size(); ++i) REQUIRE(room[i] == '\x55');  // asked for enough
  Texts out;
  for (; *made; ++made) out.push_back(*made);
  return out;
}

const std::string own = own_path(), directory = own.substr(0, own.rfind('/'));

// As gtrace run composes it: once, for remember_environment() is for the start of a process.
const bool remembered = [] {
  setenv("RECORDING", "/dev/shm/one", 1);
  setenv("SECOND", "two", 1);
  setenv("LD_PRELOAD", ("/lib/libasan.so:" + own + ":/lib/other.so").c_str(), 1);
  setenv("LD_LIBRARY_PATH", (directory + ":/usr/own").c_str(), 1);
  setenv("OPENCL_LAYERS", ("/lib/layer.so:" + own).c_str(), 1);
  remember_environment({"RECORDING", "SECOND", "THIRD"});
  return true;
}();

}  // namespace

TEST_CASE("an empty environment gets everything that led us here, and nothing else") {
  const Texts ours{"RECORDING=/dev/shm/one", "SECOND=two", "LD_PRELOAD=/lib/libasan.so:" + own,
                   "LD_LIBRARY_PATH=" + directory, "OPENCL_LAYERS=" + own};
  CHECK(child_of({}) == ours);
  Texts after{"PATH=/bin"};
  after.insert(after.end(), ours.begin(), ours.end());
  CHECK(child_of({"PATH=/bin"}) == after);
  CHECK(room_for_ours(nullptr) > 0);
}

TEST_CASE("what the program put into a list stays there") {
  const Texts child = child_of({"OPENCL_LAYERS=/a.so", "A=1", "LD_PRELOAD=/b.so /c.so", "RECORDING=/dev/shm/one",
                                "LD_LIBRARY_PATH=", "SECOND=other"});
  CHECK(child == Texts{"OPENCL_LAYERS=/a.so:" + own, "A=1", "LD_PRELOAD=/lib/libasan.so:" + own + ":/b.so /c.so",
                       "RECORDING=/dev/shm/one", "LD_LIBRARY_PATH=" + directory, "SECOND=other"});
}

TEST_CASE("an environment that has ours stays the same") {
  const Texts whole{"RECORDING=/dev/shm/one", "SECOND=two", "LD_PRELOAD=" + own + ":/x.so",
                    "LD_LIBRARY_PATH=/y:" + directory, "OPENCL_LAYERS=" + own};
  CHECK(child_of(whole) == whole);
}

TEST_CASE("another recording's environment is left alone") {
  const Texts other{"RECORDING=/dev/shm/another"};
  CHECK(child_of(other) == other);
}

TEST_CASE("an environment too large for a stack is left alone") {
  const Texts huge(20'000, "VARIABLE=value");
  CHECK(child_of(huge) == huge);
}

TEST_CASE("files that cannot be followed are told from those that can") {
  CHECK(obstacle_in(AT_FDCWD, "/proc/self/exe") == nullptr);
  CHECK(obstacle_in_path("sh") == nullptr);
  CHECK(obstacle_in(AT_FDCWD, "/no/such/file") == nullptr);
  CHECK(obstacle_in_path("no-such-program-anywhere") == nullptr);
  CHECK(std::string(obstacle_in(AT_FDCWD, GT_STATIC_PROGRAM)) == "a static executable");

  const auto folder = std::filesystem::temp_directory_path() / ("gt-exec-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::current_path(folder);
  std::ofstream("script") << "#!/bin/sh\n";
  CHECK(obstacle_in(AT_FDCWD, "script") == nullptr);
  std::filesystem::copy_file("/proc/self/exe", "other");
  {
    std::fstream file("other", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(18);  // e_machine
    file.write("\x08\x00", 2);  // MIPS
  }
  CHECK(std::string(obstacle_in(AT_FDCWD, "other")) == "for another processor");
  const int fd = open("other", O_RDONLY | O_CLOEXEC);
  CHECK(std::string(obstacle_in(fd, "")) == "for another processor");
  close(fd);
  std::filesystem::copy_file("/proc/self/exe", "setuid");
  if (chown("setuid", 12345, 12345) == 0 && chmod("setuid", S_ISUID | 0755) == 0)
    CHECK(std::string(obstacle_in(AT_FDCWD, "setuid")) == "setuid or setgid");
  setenv("PATH", ("/nowhere:" + folder.string()).c_str(), 1);
  chmod("other", 0755);
  CHECK(std::string(obstacle_in_path("other")) == "for another processor");
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
}
