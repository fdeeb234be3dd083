#include "traces/base/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

namespace gt {

void reserve_standard_files() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Output must fail, not vanish; what is said on the way fails nothing.
    if (::open("/dev/null", (fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0) return;
  }
}

}  // namespace gt
