// Waiting for a word to change: a short spin, then the kernel.
#pragma once

#include <atomic>
#include <cstdint>

namespace gt::virt {

// Until `done(word)`. Who changes the word calls word.notify_all().
template <class T, class Done>
void wait_until(const std::atomic<T>& word, Done done) {
  constexpr int Spins = 500;  // some ten microseconds: an answer from inside the node
  for (int i = 0; i < Spins; ++i) {
    if (done(word.load(std::memory_order_acquire))) return;
    __builtin_ia32_pause();
  }
  for (T now = word.load(std::memory_order_acquire); !done(now); now = word.load(std::memory_order_acquire)) {
    word.wait(now, std::memory_order_acquire);
  }
}

// Opens once.
class Gate {
 public:
  void open() {
    open_.store(1, std::memory_order_release);
    open_.notify_all();
  }
  void wait() const {
    wait_until(open_, [](uint32_t v) { return v != 0; });
  }

 private:
  std::atomic<uint32_t> open_{0};
};

}  // namespace gt::virt
