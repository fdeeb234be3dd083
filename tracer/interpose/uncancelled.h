// The thread cannot be cancelled for a while.
//
// malloc and free are no cancellation points, and programs (the C library above all) call them under locks; open, read
// and nanosleep are. A hook that comes to those must not end the thread there.
// Cost: two calls of some 2 ns. Thread safety: yes; takes no lock.
#pragma once

#include <pthread.h>

namespace gt::interpose {

class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() {
    if (before_ == PTHREAD_CANCEL_ENABLE) pthread_setcancelstate(before_, nullptr);
  }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_DISABLE;
};

}  // namespace gt::interpose
