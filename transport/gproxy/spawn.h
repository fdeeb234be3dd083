// Starts this program again as one of its hidden commands: a worker, a probe.
//
// The child gets /dev/null, and the descriptors that it is given; no blocked signals, and a process group of its own,
// so that Ctrl-C in the supervisor's terminal is the supervisor's to handle.
// Thread safety: functions from any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "traces/base/fd.h"
#include "traces/base/status.h"

namespace gt::proxy {

// The same descriptor with a number that does not collide with those that children are born with (below 10).
Fd lifted(Fd fd);

struct ChildFd {
  int ours, childs;  // ours: of a lifted descriptor
};
Result<pid_t> spawn_self(const std::string& command, const std::vector<std::string>& arguments,
                         const std::vector<ChildFd>& fds, const std::vector<std::string>& more_environment = {});

}  // namespace gt::proxy
