// Folders at names that others can guess: which are used.
#include "optimizer-rt/goptimize/private_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace gt;
using opt::private_folder;

namespace {

struct Place {
  std::string path;
  Place() {
    char name[] = "/tmp/private_folder_test.XXXXXX";
    REQUIRE(::mkdtemp(name));
    path = name;
  }
  ~Place() { std::filesystem::remove_all(path); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::string operator/(const char* name) const { return path + "/" + name; }
};

bool refused(const std::string& path, const char* why) {
  const Status s = private_folder(path);
  const std::string text = s.text();
  return s.kind() == Kind::System && text.find(why) != text.npos && text.find(path) != text.npos;
}

}  // namespace

TEST_CASE("it is made closed to others, and found again") {
  const Place place;
  const mode_t before = ::umask(0);
  CHECK(private_folder(place / "own").ok());
  ::umask(before);
  struct stat st {};
  REQUIRE(::stat((place / "own").c_str(), &st) == 0);
  CHECK((st.st_mode & 07777) == 0700);
  CHECK(private_folder(place / "own").ok());
}

TEST_CASE("what others may have made is refused") {
  const Place place;
  for (const mode_t mode : {0755, 0710, 0701, 0702, 0777}) {
    REQUIRE(::mkdir((place / "open").c_str(), 0700) == 0);
    REQUIRE(::chmod((place / "open").c_str(), mode) == 0);
    CHECK(refused(place / "open", "open to other users"));
    ::rmdir((place / "open").c_str());
  }
  REQUIRE(private_folder(place / "own").ok());
  std::filesystem::create_symlink(place / "own", place / "link");
  CHECK(refused(place / "link", "is not a folder"));
  std::filesystem::create_symlink(place / "nowhere", place / "loose");
  CHECK(refused(place / "loose", "is not a folder"));
  CHECK_FALSE(std::filesystem::exists(place / "nowhere"));
  std::ofstream(place / "file") << "x";
  CHECK(refused(place / "file", "is not a folder"));
  CHECK(refused(place / "none/below", "cannot make"));
  if (::geteuid() != 0) return;  // only root can make another's
  REQUIRE(::chown((place / "own").c_str(), 1, 1) == 0);
  CHECK(refused(place / "own", "belongs to another user"));
}
