#include "tests/fake_cl/callbacks.h"

#include <algorithm>
#include <thread>

#include "tests/fake_cl/behaviour.h"

namespace gt::fake {

void call_back(std::function<void()> callback) {
  if (behaviour().calls_back_on_threads) return std::thread(std::move(callback)).join();
  callback();
}

bool Waiting::add(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  if (!over_) callbacks_.push_back(std::move(callback));
  return over_;
}

void Waiting::happened(bool newest_first) {
  std::vector<std::function<void()>> now;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    now.swap(callbacks_);
  }
  if (newest_first) std::reverse(now.begin(), now.end());
  for (std::function<void()>& callback : now) call_back(std::move(callback));
}

}  // namespace gt::fake
