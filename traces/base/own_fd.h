// A descriptor that lives in somebody else's program, who may close it and open something of his own under its number:
// daemons close all descriptors that they do not know. So it is compared with what was opened before it is used, and
// not closed when it is no longer that.
//
// It has a high number (high_fd.h), so that this happens to who closes everything, and hardly to who opens something.
// Sockets and pipes have an inode of their own each. Event, timer and process descriptors share one: they are only as
// certain as the socket or pipe that is asked beside them.
// Thread safety: a value; is_ours() from any thread. Cost: a system call, some 0.1 us.
#pragma once

#include <sys/stat.h>

#include <utility>

#include "traces/base/high_fd.h"

namespace gt {

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
  void forget() { fd_.release(); }  // without closing it: nobody knows whose it is by now

 private:
  Fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace gt
