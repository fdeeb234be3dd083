#include "traces/sandbox/own_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace gt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view Suffix = ".lock";

bool is_ours(const struct stat& about) { return about.st_uid == ::geteuid(); }

// True: the folder is gone, or has never been there.
bool remove_folder(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return errno == ENOENT;
  std::error_code error;
  if (S_ISDIR(about.st_mode) && is_ours(about)) fs::remove_all(path, error);
  return ::lstat(path.c_str(), &about) != 0;
}

// The folder first: should this be cut short, the next one finds the file.
void remove_both(const std::string& folder) {
  if (remove_folder(folder)) ::unlink((folder + std::string(Suffix)).c_str());
}

void remove_if_left(const std::string& lock) {
  const Fd file(::open(lock.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!file.open() || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || !is_ours(about)) return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) remove_both(lock.substr(0, lock.size() - Suffix.size()));
}

void remove_what_was_left(const std::string& place, const std::string& prefix) {
  std::error_code error;
  std::vector<std::string> locks;
  for (auto it = fs::directory_iterator(place, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.starts_with(prefix) && name.ends_with(Suffix)) locks.push_back(it->path());
  }
  for (const std::string& lock : locks) remove_if_left(lock);
}

}  // namespace

Result<OwnFolder> OwnFolder::make(const std::string& place, const std::string& name) {
  constexpr int Attempts = 100;  // another process may take a new file for one that was left
  const std::string prefix = name + "-";
  remove_what_was_left(place, prefix);
  for (int i = 0; i < Attempts; ++i) {
    std::string lock = place + "/" + prefix + "XXXXXX" + std::string(Suffix);
    OwnFolder folder;
    folder.lock_ = Fd(::mkostemps(lock.data(), static_cast<int>(Suffix.size()), O_CLOEXEC));
    struct stat about {};
    if (!folder.lock_.open() || ::flock(folder.lock_.get(), LOCK_EX) != 0 || ::fstat(folder.lock_.get(), &about) != 0)
      return system_error("cannot make a file like " + lock, errno);
    if (about.st_nlink == 0) continue;
    const std::string path = lock.substr(0, lock.size() - Suffix.size());
    if (::mkdir(path.c_str(), S_IRWXU) == 0) {
      folder.path_ = path;
      return folder;
    }
    const int error = errno;
    ::unlink(lock.c_str());
    if (error != EEXIST) return system_error("cannot make the folder " + path, error);
  }
  return Status(Kind::System, "cannot make a folder in " + place, EEXIST);
}

Result<OwnFolder> OwnFolder::make_temporary(const std::string& name) {
  const char* const named = std::getenv("TMPDIR");
  return make(named && *named == '/' ? named : "/tmp", name);
}

OwnFolder::~OwnFolder() {
  if (!path_.empty()) remove_both(path_);
}

}  // namespace gt
