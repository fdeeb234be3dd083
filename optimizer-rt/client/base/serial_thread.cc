#include "optimizer-rt/client/base/serial_thread.h"

#include <utility>

#include "transport/staging/thread.h"

namespace gt::virt {

void SerialThread::post(std::function<void()> task) {
  if (forgotten_) return;
  const MutexLock lock(mutex_);
  tasks_.push_back(std::move(task));
  const size_t stack = stack_bytes_ ? stack_bytes_ : staging::SmallStack;
  if (!started_) started_ = staging::start_detached(name_, &SerialThread::run, this, stack);
  more_.notify_one();
}

void* SerialThread::run(void* self) {
  static_cast<SerialThread*>(self)->loop();
  return nullptr;
}

void SerialThread::loop() {
  UniqueLock lock(mutex_);
  for (;;) {
    more_.wait(lock, [this]() GT_REQUIRES(mutex_) { return !tasks_.empty(); });
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }  // what the task holds ends without the lock
    lock.lock();
  }
}

SerialThread& work() {
  static SerialThread* const thread = new SerialThread("gt-virtual");
  return *thread;
}
SerialThread& callbacks() {
  static SerialThread* const thread = new SerialThread("gt-callbacks", ProgramsStack);
  return *thread;
}

namespace {
constexpr size_t Movers = 8;
SerialThread* const* movers() {
  static SerialThread* const threads[Movers] = {
      new SerialThread("gt-mover-0"), new SerialThread("gt-mover-1"), new SerialThread("gt-mover-2"),
      new SerialThread("gt-mover-3"), new SerialThread("gt-mover-4"), new SerialThread("gt-mover-5"),
      new SerialThread("gt-mover-6"), new SerialThread("gt-mover-7")};
  return threads;
}
}  // namespace

SerialThread& mover(size_t number) { return *movers()[number % Movers]; }

void forget_threads() {
  work().forget();
  callbacks().forget();
  for (size_t i = 0; i < Movers; ++i) mover(i).forget();
}

}  // namespace gt::virt
