// Calling the program back: right here, or on a thread of the driver's own, which it waits for. So the order of what
// the program sees is the same in both.
// Thread safety: yes.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace gt::fake {

void call_back(std::function<void()> callback);

// Callbacks that wait for something, and for nothing any more once that has happened.
class Waiting {
 public:
  // True: too late, it has happened.
  bool add(std::function<void()> callback);
  void happened(bool newest_first);

 private:
  std::mutex mutex_;
  bool over_ = false;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace gt::fake
