// A server that we start for as long as we measure: it has said where it is before start() returns.
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "microbench/base/spawn.h"

namespace gt::bench {

class ServerProcess {
 public:
  // Starts `command` (a path first) with changed environment variables and waits until it has printed a line that
  // begins with `last`, on standard output. `log`: a file for its standard error. An error: it ended without that line,
  // or took longer than 30 s.
  static Result<ServerProcess> start(const std::vector<std::string>& command,
                                     const VariableChanges& variables, const std::string& log,
                                     const std::string& last);
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess();  // asks it to end, and waits

  pid_t pid() const { return pid_; }
  // The rest of the first line that begins with `key`, without blanks around it; "" without such a line.
  std::string said(const std::string& key) const;

 private:
  ServerProcess() = default;
  Status listen(int out, const std::string& last);

  pid_t pid_ = -1;
  std::string text_;
};

// The processor time, in ns, of a process and of its children that live.
uint64_t cpu_ns(pid_t process);

}  // namespace gt::bench
