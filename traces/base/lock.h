// A pthread mutex held for a scope. (std::mutex may throw.)
#pragma once

#include <pthread.h>

namespace gt {

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) noexcept : x_mutex(mutex) { ::pthread_mutex_lock(&x_mutex); }
  ~Lock() { ::pthread_mutex_unlock(&x_mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& x_mutex;
};

}  // namespace gt
