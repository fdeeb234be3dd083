// The threads that fill pages: what a thread of the program waits for in a signal handler is done here, where anything
// may be called. One thread waits for work; where it finds some, it first starts the next, as fetches wait for devices.
// Thread safety: post() from anywhere, also signal handlers that block all signals; a thread that holds no lock that
// tasks take. Cost: waking a thread, some 5 us.
#pragma once

namespace gt::virt {

// Stays where it is until `run` has been called.
struct PageTask {
  void (*run)(PageTask* self) = nullptr;
  PageTask* next = nullptr;  // the service's
};

class PageService {
 public:
  static bool start();  // once a process at least; before the first post. False: the system refused the thread
  static void post(PageTask* task);
  static void lock_for_fork();
  static void unlock_after_fork(bool in_child);  // a child has no such threads, and begins anew
};

}  // namespace gt::virt
