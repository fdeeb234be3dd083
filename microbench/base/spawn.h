// Starting a program with other environment variables and descriptors than ours. Thread safety: none.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::bench {

// What a child does with its descriptors before it begins.
class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void open(int fd, const std::string& path, int flags) {
    ::posix_spawn_file_actions_addopen(&actions_, fd, path.c_str(), flags, 0600);
  }
  void take(int ours, int childs) { ::posix_spawn_file_actions_adddup2(&actions_, ours, childs); }
  void enter(const std::string& folder) { ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Set, or, with an empty value, removed.
using VariableChanges = std::map<std::string, std::string>;

// `command`: the program's path first. System when it cannot be started.
Result<pid_t> spawn(const std::vector<std::string>& command, const VariableChanges& variables,
                    const FileActions& actions);

// Waits for its end: the status as a shell gives it, 128 + signal.
int status_of(pid_t child);
// Whether it ends within so many milliseconds. Where the kernel has no descriptors of processes: it does.
bool ends_within(pid_t child, int ms);

}  // namespace gt::bench
