// Waiting for events, and saying that they are over.
//
// What the client waits for is often over within microseconds, and then no thread is woken for it: it is watched, that
// is looked at by the thread that receives, while the client sends nothing else and the link looks for more
// (on_idle()). Inside a process the client's own thread waits for it, where it would wait for us.
//
// A waiter belongs to one in-order queue: its thread waits for the queue's events in their order, so one thread does
// for any number of them. Events of out-of-order queues, user events, and those asked for after a later one go to the
// overflow pool: as many threads as there are such events, up to a number; beyond that one thread looks at the rest
// again and again, since nothing says which of them is over next and none may hold up another.
//
// Drivers' callbacks are not used: they can be 50 ms late.
// Thread safety: all functions.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "traces/base/mutex.h"
#include "transport/executor/base/queue.h"
#include "transport/executor/base/session.h"

namespace gt::exec {

// What is to be told about events that are over; sent together.
struct News {
  explicit News(Session& s) : session(s) {}
  Session& session;
  wire::Completed completed;
  // Completed goes to the client, after what its kernels printed.
  void send();
};

// What else is to be done when an event is over. `status`: as clGetEventInfo tells.
class Then {
 public:
  virtual ~Then() = default;
  virtual void over(cl_int status, News& news) = 0;
};
// Of a function, which may hold what can only be moved.
template <class Over>
std::unique_ptr<Then> make_then(Over over) {
  struct Function final : Then {
    explicit Function(Over o) : call(std::move(o)) {}
    void over(cl_int status, News& news) override { call(status, news); }
    Over call;
  };
  return std::make_unique<Function>(std::move(over));
}

struct Awaited {
  cl_event event = nullptr;    // a reference of its own
  wire::ObjectId told_as = 0;  // 0: not told
  uint64_t order = 0;          // in its queue
  int64_t enqueued_ns = 0;
  std::shared_ptr<Queue> queue;  // nullptr: of none
  std::unique_ptr<Then> then;
  std::thread::id watched_by{};
};

class QueueWaiter {
 public:
  explicit QueueWaiter(Session& session) : session_(session) {}

  // False: a later event is being waited for already.
  bool push(Awaited& awaited);
  // No more is pushed: the thread ends when everything is over.
  void close();
  void serve();

 private:
  Session& session_;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Awaited> waiting_ GT_GUARDED_BY(mutex_);  // by their order
  uint64_t at_ GT_GUARDED_BY(mutex_) = 0;              // the order of what is waited for
  bool closed_ GT_GUARDED_BY(mutex_) = false;
};

class OverflowPool {
 public:
  explicit OverflowPool(Session& session) : session_(session) {}

  void push(std::shared_ptr<OverflowPool> self, std::shared_ptr<Session> session, Awaited awaited);
  void close();

 private:
  static constexpr uint32_t Most = 16;

  void serve();
  void watch();

  Session& session_;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Awaited> waiting_ GT_GUARDED_BY(mutex_);
  uint32_t threads_ GT_GUARDED_BY(mutex_) = 0, idle_ GT_GUARDED_BY(mutex_) = 0;
  bool watched_ GT_GUARDED_BY(mutex_) = false, closed_ GT_GUARDED_BY(mutex_) = false;
};

// All waiting of one executor.
class EventWaiter {
 public:
  explicit EventWaiter(std::shared_ptr<Session> session)
      : session_(std::move(session)), overflow_(std::make_shared<OverflowPool>(*session_)) {}

  // Takes over the reference to the event. The queue must have been flushed, or be soon.
  void await(Awaited awaited);
  // The same; what is over already is told, and its Then called, by this thread. It must hold no lock. The rest is
  // watched.
  void await_here(Awaited awaited);
  bool any_watched() const { return watching_.load(std::memory_order_acquire) != 0; }
  // Tells what is over of the watched. Sleeps: the others get threads. Waits: what was watched by this thread is waited
  // for, here. True: something was told. By a thread without locks.
  bool look(wire::Idle how);
  // The queue is not the client's any more.
  static void leave(Queue& queue);
  void close();

 private:
  void watch_again(std::deque<Awaited> list);
  bool give_waiter(const std::shared_ptr<Queue>& queue);

  std::shared_ptr<Session> session_;
  Mutex mutex_;
  std::vector<std::weak_ptr<QueueWaiter>> waiters_ GT_GUARDED_BY(mutex_);
  std::deque<Awaited> watched_ GT_GUARDED_BY(mutex_);  // but those that a thread is looking at
  std::atomic<size_t> watching_{0};  // how many those are
  std::shared_ptr<OverflowPool> overflow_;
  bool closed_ GT_GUARDED_BY(mutex_) = false;
};

}  // namespace gt::exec
