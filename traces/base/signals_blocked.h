// No signal comes to this thread, nor to the threads and children that it starts, for as long as this lives.
// Thread safety: of the calling thread.
#pragma once

#include <pthread.h>

#include <csignal>

namespace gt {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { unblock(); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  void unblock() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }  // sooner: in a child

 private:
  sigset_t before_;
};

}  // namespace gt
