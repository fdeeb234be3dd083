// A thread of a link. Thread safety: is_this() from any thread; start() and join() by one.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>

#include "traces/base/status.h"

namespace gt::wire {

class LinkThread {
 public:
  // `name`: at most 15 characters.
  Status start(const char* name, std::function<void()> run);
  bool is_this() const { return runs_.load() && ::pthread_equal(::pthread_self(), id_); }
  void join();

 private:
  static void* enter(void* self);

  std::function<void()> run_;
  pthread_t thread_{}, id_{};  // the same; id_ is set by the thread itself
  std::atomic<bool> runs_{false};
  bool started_ = false;
};

}  // namespace gt::wire
