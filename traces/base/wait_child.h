// Waiting for a child of ours until it has ended, whatever signals come meanwhile. Thread safety: yes.
#pragma once

#include <sys/wait.h>

#include <cerrno>

namespace gt {

// What waitpid() says of it.
inline int wait_child(pid_t child) {
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  return state;
}

}  // namespace gt
