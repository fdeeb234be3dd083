// Catches what kernels print: descriptor 1 of this process becomes a pipe, whose end a thread keeps empty, so that no
// driver ever waits for a reader.
//
// Bounded: beyond MostHeld bytes that nobody has taken, text is dropped, and that is said in its place.
// Thread safety: take() from any thread.
#pragma once

#include <mutex>
#include <string>

#include "traces/base/fd.h"
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
  explicit Printed(Fd pipe) : pipe_(std::move(pipe)) {}
  void keep_empty();
  void drain();  // REQUIRES: mutex_ held

  Fd pipe_;  // not blocking
  std::mutex mutex_;
  std::string held_;
  size_t dropped_ = 0;
};

}  // namespace gt::proxy
