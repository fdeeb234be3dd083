// Waiting for a word that a handler of a link changes: by receiving, then asleep.
// Thread safety: a Latch: any thread. A Waiting belongs to the thread that made it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "transport/link/base/link.h"

namespace gt::virt {

// Waiting for what comes over a link. Made before it is asked for, so that no other thread is woken for it; between
// that and until() the thread must not wait for anything else.
class Waiting {
 public:
  // nullptr: it comes over none.
  explicit Waiting(wire::Link* link) : link_(link) {
    if (link_) link_->prepare_help();
  }
  ~Waiting() {
    if (link_) link_->help([] { return true; });
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // Until `done(word)`. Who changes the word calls word.notify_all().
  template <class T, class Done>
  void until(const std::atomic<T>& word, Done done) {
    if (wire::Link* const link = std::exchange(link_, nullptr))
      link->help([&] { return done(word.load(std::memory_order_acquire)); });
    for (T now = word.load(std::memory_order_acquire); !done(now); now = word.load(std::memory_order_acquire)) {
      word.wait(now, std::memory_order_acquire);
    }
  }

 private:
  wire::Link* link_;
};

// Opens once.
class Latch {
 public:
  void open() {
    open_.store(1, std::memory_order_release);
    open_.notify_all();
  }
  void wait(Waiting& waiting) const {
    waiting.until(open_, [](uint32_t v) { return v != 0; });
  }
  void wait() const {
    Waiting waiting(nullptr);
    wait(waiting);
  }

 private:
  std::atomic<uint32_t> open_{0};
};

}  // namespace gt::virt
