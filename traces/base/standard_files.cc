#include "traces/base/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

namespace gt {

void reserve_standard_files() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Not open for writing: writing must fail, not vanish.
    if (::open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0) return;
  }
}

}  // namespace gt
