// All workers: one that waits with its drivers loaded, those that greet a caller, and those that serve a session.
//
// A caller is given to a worker at once when one waits and fewer than MostGreeting others are being greeted; else it
// queues for up to QueueTime. Strangers can hold up newcomers for that long, and nobody who is in.
// Invariant: serving + greeting <= most_sessions. Thread safety: none; on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/executor/base/counters.h"
#include "transport/gproxy/acceptor.h"
#include "transport/gproxy/allowance.h"
#include "transport/gproxy/event_loop.h"
#include "transport/gproxy/worker_process.h"

namespace gt::proxy {

// Since the start; sessions that are over included.
struct Totals {
  uint64_t sessions = 0, refused = 0, died = 0;
  exec::Counters counters;  // but for those that are Now
};

class WorkerPool {
 public:
  static constexpr size_t MostGreeting = 8, MostQueued = 64;
  static constexpr std::chrono::milliseconds QueueTime{2000};

  // `open_store`: of WorkerStart. `emptied`: the last session is over, or the last worker gone.
  WorkerPool(EventLoop& loop, std::vector<std::string> arguments, std::vector<std::string> environment,
             size_t most_sessions, std::function<Fd(const chunks::Owner&)> open_store, std::function<void()> emptied);

  Status start();         // the first worker
  void welcome(Caller caller);
  void renew();           // waiting workers go, others come: they read the token and the certificates again
  void drain();           // no new sessions
  void end_all();
  void kill_all();
  void reap();            // after SIGCHLD
  void ask_for_counters();

  bool idle() const { return busy() == 0 && queue_.empty(); }
  bool gone() const { return workers_.empty(); }
  Totals totals() const;
  size_t serving() const { return in_state(WorkerProcess::State::Serving); }
  const std::map<pid_t, std::unique_ptr<WorkerProcess>>& workers() const { return workers_; }

 private:
  struct Queued {
    Caller caller;
    EventLoop::Timer deadline;
  };

  size_t in_state(WorkerProcess::State state) const;
  size_t busy() const;
  WorkerProcess* find(const wire::SessionId& session) const;
  void add_connection(const Caller& caller);
  void later_advance();
  void advance();
  void serve_queue();
  void keep_spares();
  void retry_later();
  void bury(WorkerProcess& worker, int wait_status);

  EventLoop& loop_;
  const Fd build_turns_;
  WorkerStart start_;
  size_t most_sessions_;
  std::function<void()> emptied_;
  bool draining_ = false;
  unsigned failures_ = 0;  // workers in a row that ended before they served
  uint64_t next_queued_ = 1;
  Totals over_;  // of the sessions that are over
  Allowance refusals_;
  std::map<uint64_t, Queued> queue_;
  std::map<pid_t, std::unique_ptr<WorkerProcess>> workers_;
  EventLoop::Timer advance_, retry_;
};

}  // namespace gt::proxy
