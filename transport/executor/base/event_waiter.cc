// Waiters and the overflow pool: threads that wait for events.
#include "transport/executor/base/event_waiter.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace gt::exec {
namespace {

constexpr size_t StackBytes = size_t{512} << 10;  // drivers' waiting functions are deep
constexpr size_t MostTold = 64;                   // in one message
constexpr size_t MostWaiters = 64;

// Device times, for a queue that takes them.
void add_times(const Awaited& a, wire::Completion& told) {
  const Cl& cl = a.queue->cl;
  cl_ulong queued = 0, start = 0, end = 0;
  const auto ask = [&](cl_profiling_info name, cl_ulong& value) {
    return cl.clGetEventProfilingInfo(a.event, name, sizeof value, &value, nullptr) == CL_SUCCESS;
  };
  if (!ask(CL_PROFILING_COMMAND_QUEUED, queued) || !ask(CL_PROFILING_COMMAND_START, start) ||
      !ask(CL_PROFILING_COMMAND_END, end))
    return;
  const int64_t distance = a.queue->clock.distance(a.enqueued_ns, queued);
  told.start_ns = static_cast<int64_t>(start) + distance;
  told.end_ns = static_cast<int64_t>(std::max(start, end)) + distance;
}

void finish(Session& session, Awaited& a, News& news) {
  const cl_int waited = session.cl.clWaitForEvents(1, &a.event);
  cl_int status = session.cl.status(a.event);
  if (status > CL_COMPLETE) status = waited < 0 ? waited : CL_OUT_OF_RESOURCES;  // it cannot even be waited for
  if (a.then) a.then->over(status, news);
  if (a.told_as) {
    wire::Completion& told = news.completed.events.emplace_back();
    told.event = a.told_as;
    told.status = status;
    if (a.queue && a.queue->profiling && status == CL_COMPLETE) add_times(a, told);
  }
  status < 0 ? session.release_later(a.event) : static_cast<void>(session.cl.clReleaseEvent(a.event));
  a = Awaited();
}

bool is_over(const Session& session, const Awaited& a) { return session.cl.status(a.event) <= CL_COMPLETE; }

}  // namespace

void News::send() {
  if (completed.events.empty()) return;
  session.send_printed();
  session.out.send(completed);
  completed.events.clear();
}

bool QueueWaiter::push(Awaited& awaited) {
  const MutexLock lock(mutex_);
  if (awaited.order < at_ || closed_) return false;
  auto place = waiting_.end();
  while (place != waiting_.begin() && std::prev(place)->order > awaited.order) --place;
  waiting_.insert(place, std::move(awaited));
  changed_.notify_one();
  return true;
}

void QueueWaiter::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void QueueWaiter::serve() {
  News news(session_);
  UniqueLock lock(mutex_);
  for (;;) {
    at_ = 0;
    changed_.wait(lock, [&]() GT_REQUIRES(mutex_) { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    // What is over already goes along with the first.
    do {
      Awaited next = std::move(waiting_.front());
      waiting_.pop_front();
      at_ = next.order;
      lock.unlock();
      finish(session_, next, news);
      lock.lock();
    } while (!waiting_.empty() && news.completed.events.size() < MostTold && is_over(session_, waiting_.front()));
    lock.unlock();
    news.send();
    lock.lock();
  }
}

void OverflowPool::push(std::shared_ptr<OverflowPool> self, std::shared_ptr<Session> session, Awaited awaited) {
  const auto start = [&](void (OverflowPool::*run)()) {
    return session->threads.start("gtrace-wait", StackBytes, [self, session, run] { ((*self).*run)(); });
  };
  const MutexLock lock(mutex_);
  waiting_.push_back(std::move(awaited));
  if (idle_ >= waiting_.size()) {
    changed_.notify_one();
  } else if (threads_ < Most && start(&OverflowPool::serve)) {
    ++threads_;
  } else if (!watched_) {
    watched_ = start(&OverflowPool::watch);
  }
}

void OverflowPool::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void OverflowPool::serve() {
  constexpr std::chrono::seconds IdleTime{2};
  News news(session_);
  UniqueLock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait_for(lock, IdleTime, [&]() GT_REQUIRES(mutex_) { return closed_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) break;
    Awaited next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    finish(session_, next, news);
    news.send();
    lock.lock();
  }
  --threads_;
}

void OverflowPool::watch() {
  constexpr std::chrono::microseconds Shortest{50}, Longest{1000};
  News news(session_);
  auto pause = Shortest;
  UniqueLock lock(mutex_);
  while (!waiting_.empty()) {
    const auto over = std::find_if(waiting_.begin(), waiting_.end(),
                                   [this](const Awaited& a) { return is_over(session_, a); });
    Awaited next = over == waiting_.end() ? Awaited() : std::move(*over);
    if (next.event) waiting_.erase(over);
    lock.unlock();
    if (next.event) {
      finish(session_, next, news);
      news.send();
      pause = Shortest;
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, Longest);
    }
    lock.lock();
  }
  watched_ = false;
}

void EventWaiter::await_here(Awaited awaited) {
  if (!is_over(*session_, awaited)) {
    awaited.watched_by = std::this_thread::get_id();
    const MutexLock lock(mutex_);
    watched_.push_back(std::move(awaited));
    ++watching_;
    return;
  }
  News news(*session_);
  finish(*session_, awaited, news);
  news.send();
}

bool EventWaiter::look(wire::Idle how) {
  const auto me = how == wire::Idle::Waits ? std::this_thread::get_id() : std::thread::id();
  std::deque<Awaited> all, over, mine, others;
  {
    const MutexLock lock(mutex_);
    all.swap(watched_);
  }
  for (Awaited& a : all) {
    const bool is_mine = a.watched_by == me;
    (is_over(*session_, a) ? over : is_mine ? mine : others).push_back(std::move(a));
  }
  watching_ -= all.size();
  if (how == wire::Idle::Looks)
    watch_again(std::move(others));
  else  // before this thread waits: who asked for them may have found nothing here meanwhile
    for (Awaited& a : others) await(std::move(a));
  News news(*session_);
  for (std::deque<Awaited>* const list : {&over, &mine}) {
    for (Awaited& a : *list) finish(*session_, a, news);
    news.send();
  }
  return !over.empty() || !mine.empty();
}

void EventWaiter::watch_again(std::deque<Awaited> list) {
  const MutexLock lock(mutex_);
  watching_ += list.size();
  watched_.insert(watched_.begin(), std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
}

void EventWaiter::await(Awaited awaited) {
  const bool ordered = awaited.queue && awaited.queue->in_order && give_waiter(awaited.queue);
  if (ordered && awaited.queue->waiter->push(awaited)) return;
  overflow_->push(overflow_, session_, std::move(awaited));
}

bool EventWaiter::give_waiter(const std::shared_ptr<Queue>& queue) {
  const MutexLock lock(mutex_);
  if (queue->waiter) return true;
  std::erase_if(waiters_, [](const std::weak_ptr<QueueWaiter>& waiter) { return waiter.expired(); });
  if (closed_ || waiters_.size() >= MostWaiters) return false;
  const auto waiter = std::make_shared<QueueWaiter>(*session_);
  if (!session_->threads.start("gtrace-waiter", StackBytes, [waiter, session = session_] { waiter->serve(); }))
    return false;
  queue->waiter = waiter;
  waiters_.push_back(waiter);
  return true;
}

void EventWaiter::leave(Queue& queue) {
  if (queue.waiter) queue.waiter->close();
}

void EventWaiter::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  for (const std::weak_ptr<QueueWaiter>& waiter : waiters_)
    if (const auto alive = waiter.lock()) alive->close();
  overflow_->close();
}

}  // namespace gt::exec
