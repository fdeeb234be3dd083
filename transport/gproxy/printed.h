// Catches what kernels print: descriptor 1 of this process becomes a file in memory, which a thread keeps empty, so
// that no driver ever waits for a reader. A file, not a pipe: a write to it is whole, however long it is, and what
// threads of a driver print at the same time stays lines.
//
// Bounded: beyond MostHeld bytes that nobody has taken, text is dropped, and that is said in its place.
// Thread safety: take() from any thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "traces/base/fd.h"
#include "traces/base/mutex.h"
#include "traces/base/status.h"

namespace gt::proxy {

class Printed {
 public:
  static constexpr size_t MostHeld = size_t{4} << 20;

  // The one of this process; lives for ever.
  static Result<Printed*> capture();
  // All that was printed before this call, and not taken yet.
  std::string take();

 private:
  Printed(Fd file, Fd changes) : file_(std::move(file)), changes_(std::move(changes)) {}
  void keep_empty();
  void drain() GT_REQUIRES(mutex_);

  Fd file_;     // appended to
  Fd changes_;  // readable when it has been
  Mutex mutex_;
  off_t read_ GT_GUARDED_BY(mutex_) = 0;  // where in the file what has not been read begins
  std::string held_ GT_GUARDED_BY(mutex_);
  size_t dropped_ GT_GUARDED_BY(mutex_) = 0;
};

}  // namespace gt::proxy
