// A descriptor that lives in somebody else's program, who may close it and open something of his own under its number:
// daemons close all descriptors that they do not know. So it is compared with what was opened before it is used, and
// not closed when it is no longer that.
//
// Sockets and pipes have an inode of their own each. Event, timer and process descriptors share one: they are only as
// certain as the socket or pipe that is asked beside them.
// Thread safety: a value; is_ours() from any thread. Cost: a system call, some 0.1 us.
#pragma once

#include <sys/stat.h>

#include <utility>

#include "traces/base/fd.h"
#include "traces/base/status.h"

namespace gt::wire {

class OwnFd {
 public:
  OwnFd() = default;
  explicit OwnFd(Fd fd) : fd_(std::move(fd)) {
    struct stat about {};
    if (fd_.open() && ::fstat(fd_.get(), &about) == 0) device_ = about.st_dev, inode_ = about.st_ino;
  }
  OwnFd(OwnFd&&) = default;
  OwnFd& operator=(OwnFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    return *this;
  }
  ~OwnFd() {
    if (fd_.open() && !is_ours()) fd_.release();
  }

  int get() const { return fd_.get(); }
  bool open() const { return fd_.open(); }  // it was made
  bool is_ours() const {
    struct stat about {};
    return fd_.open() && ::fstat(fd_.get(), &about) == 0 && about.st_dev == device_ && about.st_ino == inode_;
  }
  Fd release() { return std::move(fd_); }

 private:
  Fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Why a link ends whose descriptors are gone.
inline Status descriptors_closed() {
  return {Kind::Disconnected, "the program closed the connection's descriptors"};
}

// Wakes a thread that polls fd(): a pipe with ourselves. Thread safety: any thread.
class Wake {
 public:
  Wake();
  bool open() const { return out_.open(); }
  bool is_ours() const { return in_.is_ours(); }
  int fd() const { return in_.get(); }
  void ring() const;   // readable until drained
  void drain() const;

 private:
  OwnFd in_, out_;
};

}  // namespace gt::wire
