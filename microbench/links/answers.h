// What an echo (echo.h) sends back: counted, the last one kept.
// Thread safety: all functions; greeting() before anything else can be answered. Both wait for 30 s at most, then for
// Disconnected.
#pragma once

#include <atomic>
#include <condition_variable>

#include "microbench/links/echo.h"
#include "traces/base/bytes.h"
#include "traces/base/mutex.h"
#include "transport/link/base/link.h"

namespace gt::bench {

class Answers final : public wire::LinkHandler {
 public:
  void on_frame(ByteView frame) override;
  void on_put(wire::Notice, size_t) override {}
  void on_closed(const Status& why) override;
  // Until so many have come, as a program does that waits for an answer of `link`.
  Status wait(uint64_t count, wire::Link& link);
  // The first answer of all.
  Result<EchoGreeting> greeting(wire::Link& link);

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint64_t> count_{0};
  Bytes last_ GT_GUARDED_BY(mutex_);
  Status closed_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::bench
