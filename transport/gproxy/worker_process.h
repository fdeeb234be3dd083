// A worker as the supervisor sees it: a child process, what it counts, and what it writes.
//
//   Spare ──give()──► Greeting ──Accepted──► Serving ──► gone
//     ▲                  │
//     └────Refused───────┘
//
// Thread safety: none; on the loop's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "traces/base/fd.h"
#include "transport/gproxy/acceptor.h"
#include "transport/gproxy/event_loop.h"
#include "transport/gproxy/worker_channel.h"
#include "transport/gproxy/worker_log.h"

namespace gt::proxy {

struct WorkerStart {
  std::vector<std::string> arguments;    // of `gproxy worker`
  std::vector<std::string> environment;  // besides ours
  int build_turns = -1;                  // of build_turns.h, lifted
  std::function<uint64_t()> next_session_number;
  std::function<void(const std::string& caller, const std::string& why)> refused;
  std::function<Fd(const chunks::Owner&)> open_store;  // closed: there is none
  std::function<void()> changed;  // the state has; must not destroy the worker
};

class WorkerProcess {
 public:
  enum class State : uint8_t { Spare, Greeting, Serving };

  static Result<std::unique_ptr<WorkerProcess>> start(EventLoop& loop, const WorkerStart& start);
  ~WorkerProcess();  // kills the process if it has not been reaped

  // A new session for a spare worker. False: it cannot take it. The caller's connection may be closed then or later.
  bool give(const Caller& caller);
  // Another connection of its session, or a peer's.
  void add_connection(const Caller& caller);
  // Asks for fresh counters; they come in a moment, if at all.
  void ask_for_counters();
  // The session ends in a moment, the process then.
  void end();
  void kill();
  // REQUIRES: the process has been reaped. Says in the log how it ended, if that was not as it should.
  void reaped(int wait_status);

  pid_t pid() const { return pid_; }
  State state() const { return state_; }
  bool open() const { return state_ == State::Spare && handover_.open() && !ending_; }
  bool ending() const { return ending_; }
  bool has_served() const { return has_served_; }
  bool is_session(const wire::SessionId& id) const { return state_ != State::Spare && session_ == id; }
  bool has_peer_listener(const wire::SessionId& name) const { return peer_listeners_.contains(name); }
  uint64_t session_number() const { return session_number_; }
  const std::string& caller_name() const { return caller_name_; }
  uint64_t begun_ns() const { return begun_ns_; }
  unsigned refused() const { return refused_; }
  const CounterPage& counters() const { return *page_; }

 private:
  WorkerProcess() = default;
  Status launch(EventLoop& loop, const WorkerStart& start);
  Status make_page(Fd& page);
  void read_report();
  void hear(const Report& report, Fd fd);
  void give_store(const chunks::Owner& owner);
  void add_peer_listener(const wire::SessionId& name, Fd handover);
  std::string name() const;

  EventLoop* loop_ = nullptr;
  WorkerStart start_;
  pid_t pid_ = -1;
  State state_ = State::Spare;
  bool ending_ = false, has_served_ = false, has_asked_for_store_ = false;
  unsigned refused_ = 0;
  wire::SessionId session_{};
  uint64_t session_number_ = 0, begun_ns_ = 0;
  std::string caller_name_;
  CounterPage* page_ = nullptr;
  WorkerLog log_;
  Fd control_, handover_, errors_;
  std::map<wire::SessionId, Fd> peer_listeners_;  // of peers, by what they ask for
  EventLoop::Timer greeting_timeout_;
  EventLoop::Watch control_watch_, errors_watch_;  // go before the descriptors
};

}  // namespace gt::proxy
