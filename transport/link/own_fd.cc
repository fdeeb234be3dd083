#include "transport/link/own_fd.h"

#include <fcntl.h>
#include <unistd.h>

namespace gt::wire {

Wake::Wake() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  in_ = OwnFd(Fd(ends[0]));
  out_ = OwnFd(Fd(ends[1]));
}

void Wake::ring() const {
  if (out_.is_ours()) (void)!::write(out_.get(), "", 1);  // full: it rings already
}

void Wake::drain() const {
  char bytes[64];
  while (in_.is_ours() && ::read(in_.get(), bytes, sizeof bytes) == static_cast<ssize_t>(sizeof bytes)) {
  }
}

}  // namespace gt::wire
