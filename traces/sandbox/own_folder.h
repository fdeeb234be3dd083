// A folder for the time of a process, in a place that others may use too: PLACE/NAME-XXXXXX, and beside it
// PLACE/NAME-XXXXXX.lock, which its owner keeps locked.
//
// A process that is killed leaves both. The lock goes with the process, so the next one that makes a folder there
// knows, and removes them. A folder without such a file, or of another user, is nobody's business.
// Invariant: the file is there before its folder, and goes after it. Strangers' code can write in the folder, not
// beside it (sandbox.h).
// Thread safety: functions from any thread; values.
#pragma once

#include <string>

#include "traces/base/fd.h"
#include "traces/base/status.h"

namespace gt {

class OwnFolder {
 public:
  OwnFolder() = default;  // none
  // Made, mode 0700; what owners of folders of this name that are gone left in `place` is removed.
  static Result<OwnFolder> make(const std::string& place, const std::string& name);
  // Where temporary files belong: TMPDIR, or /tmp.
  static Result<OwnFolder> make_temporary(const std::string& name);
  OwnFolder(OwnFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  OwnFolder& operator=(OwnFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~OwnFolder();

  const std::string& path() const { return path_; }  // "": none

 private:
  std::string path_;
  Fd lock_;
};

}  // namespace gt
