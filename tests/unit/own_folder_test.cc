// Folders of processes that may be killed: the next one removes what was left, and nothing else.
#include "traces/sandbox/own_folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace gt {
namespace {

namespace fs = std::filesystem;

struct Place {
  std::string path = (fs::temp_directory_path() / "own_folder_test-XXXXXX").string();
  Place() { REQUIRE(::mkdtemp(path.data())); }
  ~Place() { fs::remove_all(path); }
  std::string in(const std::string& name) const { return path + "/" + name; }
  long count() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

void fill(const std::string& folder) {
  fs::create_directories(folder + "/inner");
  std::ofstream(folder + "/inner/file") << "text";
}

// The folder that a child made before it was killed.
std::string left_by_a_child(const Place& place) {
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Result<OwnFolder> folder = OwnFolder::make(place.path, "gproxy");
    if (folder) fill(folder->path());
    const std::string path = folder ? folder->path() : "";
    (void)!::write(pipe[1], path.data(), path.size());
    ::raise(SIGKILL);
  }
  ::close(pipe[1]);
  char path[4096] = "";
  const ssize_t n = ::read(pipe[0], path, sizeof path - 1);
  ::close(pipe[0]);
  CHECK(n > 0);
  ::waitpid(child, nullptr, 0);
  return path;
}

TEST_CASE("a folder goes with its owner, and with all that is in it") {
  const Place place;
  {
    const Result<OwnFolder> folder = OwnFolder::make(place.path, "gproxy");
    REQUIRE(folder);
    CHECK(fs::status(folder->path()).permissions() == fs::perms::owner_all);
    fill(folder->path());
  }
  CHECK(place.count() == 0);
}

TEST_CASE("what an owner left that was killed is removed by the next one") {
  const Place place;
  const std::string left = left_by_a_child(place);
  REQUIRE(fs::exists(left + "/inner/file"));
  const Result<OwnFolder> next = OwnFolder::make(place.path, "gproxy");
  REQUIRE(next);
  CHECK_FALSE(fs::exists(left));
  CHECK(place.count() == 2);  // its own folder, and the lock
}

TEST_CASE("what belongs to others stays") {
  const Place place;
  fill(place.in("gproxy-abcdef"));  // no lock
  fill(place.in("elsewhere"));
  fs::create_directory_symlink("elsewhere", place.in("gproxy-linked"));
  std::ofstream(place.in("gproxy-linked.lock")) << "";
  std::ofstream(place.in("real.lock")) << "";
  fs::create_symlink("real.lock", place.in("gproxy-follow.lock"));
  fill(place.in("gproxy-follow"));
  const Result<OwnFolder> first = OwnFolder::make(place.path, "gproxy"), second = OwnFolder::make(place.path, "gproxy");
  REQUIRE((first && second));
  CHECK(fs::exists(first->path()));  // its owner lives: we
  for (const char* stays :
       {"gproxy-abcdef/inner/file", "elsewhere/inner/file", "gproxy-follow/inner/file", "real.lock"})
    CHECK(fs::exists(place.in(stays)));
}

TEST_CASE("a place that is not there is an error") {
  CHECK_FALSE(OwnFolder::make("/nonexistent/place", "gproxy"));
}

}  // namespace
}  // namespace gt
