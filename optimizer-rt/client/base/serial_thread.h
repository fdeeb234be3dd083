// A thread of ours that runs tasks one after the other. Started by the first task; never joined: it ends with the
// process. `work` continues what waited for an event and must not block for long, `callbacks` runs functions of the
// program, which may do anything.
// Thread safety: post() from any thread; takes a lock that no task holds. A task must not throw; what it holds goes on
// that thread, after it. Where the system refuses the thread, tasks wait for the next post(), which asks for it again.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>

#include "traces/base/mutex.h"

namespace gt::virt {

class SerialThread {
 public:
  // `name`: at most 15 characters. `stack_bytes`: 0 for what our own code needs.
  explicit SerialThread(const char* name, size_t stack_bytes = 0) : name_(name), stack_bytes_(stack_bytes) {}
  void post(std::function<void()> task);
  // A child of fork() has no such thread: its tasks are dropped.
  void forget() { forgotten_ = true; }

 private:
  static void* run(void* self);
  void loop();

  const char* name_;
  const size_t stack_bytes_;
  Mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> tasks_ GT_GUARDED_BY(mutex_);
  bool started_ GT_GUARDED_BY(mutex_) = false;
  std::atomic<bool> forgotten_{false};
};

constexpr size_t ProgramsStack = size_t{8} << 20;  // of threads that run functions of the program
SerialThread& work();
SerialThread& callbacks();
// For moves between devices of this process, each of which may take milliseconds; any number stands for one of a few,
// and eight in a row for eight.
SerialThread& mover(size_t number);
void forget_threads();  // in a child of fork()

}  // namespace gt::virt
