// While one exists, writing beyond RLIMIT_FSIZE is an error (EFBIG) and no signal that ends us: the program that we are
// about to run may have no use for files at all. The disposition is put back, for the program to inherit.
// Thread safety: none; it changes the process.
#pragma once

#include <csignal>

namespace gt::opt {

class FileLimitIsAnError {
 public:
  FileLimitIsAnError() : before_(std::signal(SIGXFSZ, SIG_IGN)) {}
  ~FileLimitIsAnError() { std::signal(SIGXFSZ, before_); }
  FileLimitIsAnError(const FileLimitIsAnError&) = delete;
  FileLimitIsAnError& operator=(const FileLimitIsAnError&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace gt::opt
