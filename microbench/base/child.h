// A program that is started, waited for, and asked what it said.
// Thread safety: from one thread at a time.
#pragma once

#include <string>
#include <vector>

#include "microbench/base/spawn.h"

namespace gt::bench {

struct ChildRequest {
  std::vector<std::string> command;  // the program's path first
  std::string folder;                // where it runs, and where its output is kept meanwhile
  VariableChanges variables;
  double limit_s = 900;  // then it is ended
};

struct ChildOutcome {
  int status = 0;  // as a shell gives it: 128 + signal
  bool too_long = false;  // or this process was interrupted: the child was ended
  std::string out, err;
};

// System when it cannot be started. When this process is interrupted (interrupt.h), so is the child.
Result<ChildOutcome> run_child(const ChildRequest& request);

// A new empty folder for temporary files, gone with this object.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make(const char* prefix);
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace gt::bench
