#include "transport/link/base/link_thread.h"

#include "transport/staging/thread.h"

namespace gt::wire {

Status LinkThread::start(const char* name, std::function<void()> run) {
  run_ = std::move(run);
  started_ = staging::start_thread(name, enter, this, &thread_);
  return started_ ? Status() : Status(Kind::System, "a thread cannot be had");
}

void* LinkThread::enter(void* self) {
  auto* const thread = static_cast<LinkThread*>(self);
  thread->id_ = ::pthread_self();
  thread->runs_ = true;
  if (staging::thread_begins) staging::thread_begins();
  thread->run_();
  return nullptr;
}

void LinkThread::join() {
  if (started_) ::pthread_join(thread_, nullptr);
  started_ = false;
}

}  // namespace gt::wire
