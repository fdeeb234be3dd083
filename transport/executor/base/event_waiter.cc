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
  const std::lock_guard lock(x_mutex);
  if (awaited.order < x_at || x_closed) return false;
  auto place = x_waiting.end();
  while (place != x_waiting.begin() && std::prev(place)->order > awaited.order) --place;
  x_waiting.insert(place, std::move(awaited));
  x_changed.notify_one();
  return true;
}

void QueueWaiter::close() {
  const std::lock_guard lock(x_mutex);
  x_closed = true;
  x_changed.notify_all();
}

void QueueWaiter::serve() {
  News news(x_session);
  std::unique_lock lock(x_mutex);
  for (;;) {
    x_at = 0;
    x_changed.wait(lock, [&] { return x_closed || !x_waiting.empty(); });
    if (x_waiting.empty()) return;
    // What is over already goes along with the first.
    do {
      Awaited next = std::move(x_waiting.front());
      x_waiting.pop_front();
      x_at = next.order;
      lock.unlock();
      finish(x_session, next, news);
      lock.lock();
    } while (!x_waiting.empty() && news.completed.events.size() < MostTold && is_over(x_session, x_waiting.front()));
    lock.unlock();
    news.send();
    lock.lock();
  }
}

void OverflowPool::push(std::shared_ptr<OverflowPool> self, std::shared_ptr<Session> session, Awaited awaited) {
  const auto start = [&](void (OverflowPool::*run)()) {
    return session->threads.start("gtrace-wait", StackBytes, [self, session, run] { ((*self).*run)(); });
  };
  const std::lock_guard lock(x_mutex);
  x_waiting.push_back(std::move(awaited));
  if (x_idle >= x_waiting.size()) {
    x_changed.notify_one();
  } else if (x_threads < Most && start(&OverflowPool::serve)) {
    ++x_threads;
  } else if (!x_watched) {
    x_watched = start(&OverflowPool::watch);
  }
}

void OverflowPool::close() {
  const std::lock_guard lock(x_mutex);
  x_closed = true;
  x_changed.notify_all();
}

void OverflowPool::serve() {
  constexpr std::chrono::seconds IdleTime{2};
  News news(x_session);
  std::unique_lock lock(x_mutex);
  for (;;) {
    ++x_idle;
    x_changed.wait_for(lock, IdleTime, [&] { return x_closed || !x_waiting.empty(); });
    --x_idle;
    if (x_waiting.empty()) break;
    Awaited next = std::move(x_waiting.front());
    x_waiting.pop_front();
    lock.unlock();
    finish(x_session, next, news);
    news.send();
    lock.lock();
  }
  --x_threads;
}

void OverflowPool::watch() {
  constexpr std::chrono::microseconds Shortest{50}, Longest{1000};
  News news(x_session);
  auto pause = Shortest;
  std::unique_lock lock(x_mutex);
  while (!x_waiting.empty()) {
    const auto over = std::find_if(x_waiting.begin(), x_waiting.end(),
                                   [this](const Awaited& a) { return is_over(x_session, a); });
    Awaited next = over == x_waiting.end() ? Awaited() : std::move(*over);
    if (next.event) x_waiting.erase(over);
    lock.unlock();
    if (next.event) {
      finish(x_session, next, news);
      news.send();
      pause = Shortest;
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, Longest);
    }
    lock.lock();
  }
  x_watched = false;
}

void EventWaiter::await_here(Awaited awaited) {
  if (!is_over(*x_session, awaited)) {
    awaited.watched_by = std::this_thread::get_id();
    const std::lock_guard lock(x_mutex);
    x_watched.push_back(std::move(awaited));
    ++x_watching;
    return;
  }
  News news(*x_session);
  finish(*x_session, awaited, news);
  news.send();
}

bool EventWaiter::look(wire::Idle how) {
  const auto me = how == wire::Idle::Waits ? std::this_thread::get_id() : std::thread::id();
  std::deque<Awaited> all, over, mine, others;
  {
    const std::lock_guard lock(x_mutex);
    all.swap(x_watched);
  }
  for (Awaited& a : all) {
    const bool is_mine = a.watched_by == me;
    (is_over(*x_session, a) ? over : is_mine ? mine : others).push_back(std::move(a));
  }
  x_watching -= all.size();
  if (how == wire::Idle::Looks)
    watch_again(std::move(others));
  else  // before this thread waits: who asked for them may have found nothing here meanwhile
    for (Awaited& a : others) await(std::move(a));
  News news(*x_session);
  for (std::deque<Awaited>* const list : {&over, &mine}) {
    for (Awaited& a : *list) finish(*x_session, a, news);
    news.send();
  }
  return !over.empty() || !mine.empty();
}

void EventWaiter::watch_again(std::deque<Awaited> list) {
  const std::lock_guard lock(x_mutex);
  x_watching += list.size();
  x_watched.insert(x_watched.begin(), std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
}

void EventWaiter::await(Awaited awaited) {
  const bool ordered = awaited.queue && awaited.queue->in_order && give_waiter(awaited.queue);
  if (ordered && awaited.queue->waiter->push(awaited)) return;
  x_overflow->push(x_overflow, x_session, std::move(awaited));
}

bool EventWaiter::give_waiter(const std::shared_ptr<Queue>& queue) {
  const std::lock_guard lock(x_mutex);
  if (queue->waiter) return true;
  std::erase_if(x_waiters, [](const std::weak_ptr<QueueWaiter>& waiter) { return waiter.expired(); });
  if (x_closed || x_waiters.size() >= MostWaiters) return false;
  const auto waiter = std::make_shared<QueueWaiter>(*x_session);
  if (!x_session->threads.start("gtrace-waiter", StackBytes, [waiter, session = x_session] { waiter->serve(); }))
    return false;
  queue->waiter = waiter;
  x_waiters.push_back(waiter);
  return true;
}

void EventWaiter::leave(Queue& queue) {
  if (queue.waiter) queue.waiter->close();
}

void EventWaiter::close() {
  const std::lock_guard lock(x_mutex);
  x_closed = true;
  for (const std::weak_ptr<QueueWaiter>& waiter : x_waiters)
    if (const auto alive = waiter.lock()) alive->close();
  x_overflow->close();
}

}  // namespace gt::exec
