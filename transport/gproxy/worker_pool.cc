#include "transport/gproxy/worker_pool.h"

#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "transport/gproxy/build_turns.h"
#include "transport/gproxy/log.h"
#include "transport/gproxy/spawn.h"

namespace gt::proxy {
namespace {

using State = WorkerProcess::State;
constexpr unsigned MostRefused = 32;  // callers that a worker refuses before a fresh one takes its place
constexpr size_t MostSpare = 2;

void add_counters(Totals& totals, const CounterPage& page) {
  for (const exec::CounterRow& row : exec::CounterRows)
    if (row.shown != exec::Shown::Now) totals.counters.*row.value += page.counters.*row.live;
}

}  // namespace

WorkerPool::WorkerPool(EventLoop& loop, std::vector<std::string> arguments, std::vector<std::string> environment,
                       size_t most_sessions, std::function<Fd(const chunks::Owner&)> open_store,
                       std::function<void()> emptied)
    : loop_(loop), build_turns_(lifted(build_turns())), most_sessions_(most_sessions), emptied_(std::move(emptied)) {
  start_.arguments = std::move(arguments);
  start_.environment = std::move(environment);
  start_.build_turns = build_turns_.get();
  start_.open_store = std::move(open_store);
  start_.changed = [this] { later_advance(); };
  start_.next_session_number = [this] { return ++over_.sessions; };
  start_.refused = [this](const std::string& caller, const std::string& why) {
    ++over_.refused;
    if (!refusals_.take()) return;
    const uint64_t left_out = refusals_.take_left_out();
    if (left_out > 0) log("{} more callers were refused", left_out);
    log("{} was refused: {}", caller, why);
  };
}

Status WorkerPool::start() {
  Result<std::unique_ptr<WorkerProcess>> worker = WorkerProcess::start(loop_, start_);
  if (!worker) return worker.status();
  const pid_t pid = (*worker)->pid();
  workers_[pid] = std::move(*worker);
  return {};
}

size_t WorkerPool::in_state(State state) const {
  return static_cast<size_t>(
      std::count_if(workers_.begin(), workers_.end(), [=](const auto& w) { return w.second->state() == state; }));
}

size_t WorkerPool::busy() const { return in_state(State::Greeting) + in_state(State::Serving); }

Totals WorkerPool::totals() const {
  Totals totals = over_;
  for (const auto& [pid, worker] : workers_) add_counters(totals, worker->counters());
  return totals;
}

void WorkerPool::welcome(Caller caller) {
  const int connection = caller.connection.get();
  if (caller.hello.purpose != wire::Hello::Purpose::Session) return add_connection(caller);
  if (draining_) return wire::refuse(connection, wire::Refusal::Draining);
  // Names of sessions can be read on the way: nobody may pass for one that is here.
  if (find(caller.hello.session)) return wire::refuse(connection, wire::Refusal::Unauthorized);
  if (serving() >= most_sessions_ || queue_.size() >= MostQueued) return wire::refuse(connection, wire::Refusal::Busy);
  const uint64_t id = next_queued_++;
  Queued& queued = queue_[id];
  queued.caller = std::move(caller);
  queued.deadline = loop_.after(QueueTime, [this, id] {
    wire::refuse(queue_.at(id).caller.connection.get(), wire::Refusal::Busy);
    queue_.erase(id);
  });
  advance();
}

WorkerProcess* WorkerPool::find(const wire::SessionId& session) const {
  for (const auto& [pid, worker] : workers_) {
    if (worker->is_session(session) || worker->has_peer_listener(session)) return worker.get();
  }
  return nullptr;
}

void WorkerPool::add_connection(const Caller& caller) {
  if (WorkerProcess* const worker = find(caller.hello.session)) return worker->add_connection(caller);
  wire::refuse(caller.connection.get(), wire::Refusal::NoSession);
}

// Not from within a worker's own handler.
void WorkerPool::later_advance() {
  advance_ = loop_.after(std::chrono::milliseconds(0), [this] { advance(); });
}

void WorkerPool::advance() {
  serve_queue();
  keep_spares();
  if (draining_ && idle()) emptied_();
}

void WorkerPool::serve_queue() {
  for (const auto& [pid, worker] : workers_) {
    if (queue_.empty()) return;
    if (in_state(State::Greeting) >= MostGreeting || busy() >= most_sessions_) break;
    if (!worker->open()) continue;
    if (worker->give(queue_.begin()->second.caller)) {
      queue_.erase(queue_.begin());
    } else {
      worker->end();
    }
  }
  if (serving() < most_sessions_) return;
  for (const auto& [id, queued] : queue_) wire::refuse(queued.caller.connection.get(), wire::Refusal::Busy);
  queue_.clear();
}

// One waits, and as many more as there are callers in the queue that will be greeted.
void WorkerPool::keep_spares() {
  size_t spare = 0;
  for (const auto& [pid, worker] : workers_) {
    if (worker->state() != State::Spare || worker->ending()) continue;
    if (draining_ || worker->refused() >= MostRefused || spare >= std::max(MostSpare, queue_.size())) {
      worker->end();
    } else {
      ++spare;
    }
  }
  if (draining_ || retry_.set()) return;
  const size_t wanted = std::max<size_t>(1, std::min(queue_.size(), MostGreeting - in_state(State::Greeting)));
  for (; spare < wanted; ++spare) {
    const Status started = start();
    if (started.ok()) continue;
    log("{}", started.text());
    ++failures_;
    return retry_later();
  }
}

void WorkerPool::retry_later() {
  const auto wait = std::chrono::milliseconds(100 << std::min(failures_, 7u));
  retry_ = loop_.after(wait, [this] {
    retry_ = {};
    advance();
  });
}

void WorkerPool::renew() {
  for (const auto& [pid, worker] : workers_) {
    if (worker->state() == State::Spare) worker->end();
  }
  advance();
}

void WorkerPool::drain() {
  draining_ = true;
  for (const auto& [id, queued] : queue_) wire::refuse(queued.caller.connection.get(), wire::Refusal::Draining);
  queue_.clear();
  advance();
}

void WorkerPool::end_all() {
  for (const auto& [pid, worker] : workers_) worker->end();
}

void WorkerPool::kill_all() {
  for (const auto& [pid, worker] : workers_) worker->kill();
}

void WorkerPool::ask_for_counters() {
  for (const auto& [pid, worker] : workers_) {
    if (worker->state() == State::Serving) worker->ask_for_counters();
  }
}

void WorkerPool::bury(WorkerProcess& worker, int wait_status) {
  add_counters(over_, worker.counters());
  worker.reaped(wait_status);
  const bool as_told = worker.ending() || (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0);
  if (!as_told) ++over_.died;
  if (as_told || worker.has_served()) {
    failures_ = 0;
  } else {
    ++failures_;
    retry_later();
  }
}

void WorkerPool::reap() {
  int wait_status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    const auto it = workers_.find(pid);
    if (it == workers_.end()) continue;
    bury(*it->second, wait_status);
    workers_.erase(it);
  }
  advance();
  if (workers_.empty()) emptied_();
}

}  // namespace gt::proxy
