// What the program's own calls left in errno stays there.
#pragma once

#include <cerrno>

namespace gt::opt {

class KeepsErrno {
 public:
  KeepsErrno() : errno_(errno) {}
  ~KeepsErrno() { errno = errno_; }
  KeepsErrno(const KeepsErrno&) = delete;
  KeepsErrno& operator=(const KeepsErrno&) = delete;

 private:
  const int errno_;
};

}  // namespace gt::opt
