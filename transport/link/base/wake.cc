#include "transport/link/base/wake.h"

#include <fcntl.h>
#include <unistd.h>

namespace gt::wire {

bool Wake::renew() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  Fd in(ends[0]), out(ends[1]);
  std::unique_ptr<Pipe> pipe(new Pipe{OwnFd(high_fd(std::move(in))), OwnFd(high_fd(std::move(out)))});
  if (!pipe->in.open() || !pipe->out.open()) return false;
  pipe_.store(pipe.get(), std::memory_order_release);
  all_.push_back(std::move(pipe));
  return true;
}

void Wake::ring() const {
  const Pipe* const pipe = now();
  if (pipe && pipe->out.is_ours()) (void)!::write(pipe->out.get(), "", 1);  // full: it rings already
}

void Wake::drain() const {
  char bytes[64];
  const Pipe* const pipe = now();
  while (pipe && pipe->in.is_ours() && ::read(pipe->in.get(), bytes, sizeof bytes) == ssize_t{sizeof bytes}) {
  }
}

}  // namespace gt::wire
