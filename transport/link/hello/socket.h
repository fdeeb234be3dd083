// A connected stream socket, plain or with TLS on it: reads and writes that never block.
//
// Thread safety: one reader and one writer at a time; they may be two threads.
#pragma once

#include <sys/uio.h>

#include <memory>
#include <span>

#include "traces/base/bytes.h"
#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/link/base/wake.h"
#include "transport/link/hello/tls.h"
#include "transport/link/base/waiting.h"

namespace gt::wire {

class Socket {
 public:
  Socket() = default;
  explicit Socket(Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  const OwnFd& own_fd() const { return fd_; }
  bool open() const { return fd_.open(); }
  // From here on everything goes through it.
  void protect(std::unique_ptr<Tls> tls) { tls_ = std::move(tls); }
  // A read may give less than there is.
  bool is_protected() const { return tls_ != nullptr; }

  // Bytes moved (> 0); 0: it would have to wait; -1: the connection is over, or its descriptor is no longer ours;
  // Untouchable: the system cannot read (write) the first byte of this memory, but the process perhaps can: the program
  // has memory that its own handler makes present.
  static constexpr ssize_t Untouchable = -2;
  ssize_t read(std::span<const iovec> to);
  ssize_t write(std::span<const iovec> from);

  // Who polls it for what can be read sleeps until so many bytes are there; 1: as usual. Reading does not change.
  void wake_from(int bytes);

  Status read_all(std::span<uint8_t> to, Deadline deadline, int wake = -1);
  Status write_all(ByteView from, Deadline deadline, int wake = -1);
  // Gives the descriptor up. REQUIRES: not protected.
  Fd release() { return fd_.release(); }
  // Both directions end; descriptors stay valid.
  void shut_down();

 private:
  OwnFd fd_;
  std::unique_ptr<Tls> tls_;
};

}  // namespace gt::wire
