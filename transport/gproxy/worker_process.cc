#include "transport/gproxy/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "traces/base/clock.h"
#include "transport/gproxy/log.h"
#include "transport/gproxy/spawn.h"
#include "transport/link/hello/handover.h"

namespace gt::proxy {
namespace {

constexpr std::chrono::milliseconds GreetingTime{10'000};  // the link's own limits are far shorter
constexpr size_t MostPeerListeners = 64;                   // as executors have peers

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(EventLoop& loop, const WorkerStart& start) {
  auto worker = std::unique_ptr<WorkerProcess>(new WorkerProcess);
  GT_TRY(worker->launch(loop, start));
  return worker;
}

Status WorkerProcess::make_page(Fd& page) {
  page = lifted(Fd(::memfd_create("gproxy counters", MFD_CLOEXEC)));
  if (!page.open() || ::ftruncate(page.get(), CounterPageBytes) != 0) return system_error("memory of a worker", errno);
  void* const p = ::mmap(nullptr, CounterPageBytes, PROT_READ, MAP_SHARED, page.get(), 0);
  if (p == MAP_FAILED) return system_error("memory of a worker", errno);
  page_ = static_cast<CounterPage*>(p);
  return {};
}

Status WorkerProcess::launch(EventLoop& loop, const WorkerStart& start) {
  loop_ = &loop;
  start_ = start;
  Fd page;
  GT_TRY(make_page(page));
  int sockets[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return system_error("socketpair", errno);
  control_ = Fd(sockets[0]);
  const Fd workers_control = lifted(Fd(sockets[1]));
  if (::pipe2(pipe, O_CLOEXEC) != 0) return system_error("pipe", errno);
  errors_ = Fd(pipe[0]);
  const Fd workers_errors = lifted(Fd(pipe[1]));
  if (!workers_control.open() || !workers_errors.open()) return system_error("cannot start a worker", errno);
  ::fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
  std::vector<ChildFd> fds = {{workers_errors.get(), STDERR_FILENO},
                              {workers_control.get(), ControlFd},
                              {page.get(), CounterFd}};
  if (start.build_turns >= 0) fds.push_back({start.build_turns, BuildTurnsFd});
  const Result<pid_t> pid = spawn_self("worker", start.arguments, fds, start.environment);
  if (!pid) return pid.status();
  pid_ = *pid;
  control_watch_ = loop.watch(control_.get(), [this] { read_report(); });
  errors_watch_ = loop.watch(errors_.get(), [this] {
    if (!log_.drain(errors_.get(), name())) errors_watch_ = {};
  });
  return {};
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (page_) ::munmap(page_, CounterPageBytes);
}

std::string WorkerProcess::name() const {
  return state_ == State::Serving ? fmt::format("session {}", session_number_) : fmt::format("worker {}", pid_);
}

bool WorkerProcess::give(const Caller& caller) {
  if (!wire::hand_over(handover_.get(), caller.connection.get(), caller.hello).ok()) return false;
  state_ = State::Greeting;
  session_ = caller.hello.session;
  caller_name_ = caller.name;
  begun_ns_ = monotonic_ns();
  greeting_timeout_ = loop_->after(GreetingTime, [this] { kill(); });
  return true;
}

void WorkerProcess::add_connection(const Caller& caller) {
  const auto listener = peer_listeners_.find(caller.hello.session);
  const int handover = listener == peer_listeners_.end() ? handover_.get() : listener->second.get();
  const Status given = wire::hand_over(handover, caller.connection.get(), caller.hello);
  if (given.ok()) return;
  const bool busy = given.kind() == Kind::Busy;  // otherwise the worker has just died
  wire::refuse(caller.connection.get(), busy ? wire::Refusal::Busy : wire::Refusal::NoSession);
}

void WorkerProcess::ask_for_counters() {
  if (!ending_) ::send(control_.get(), "c", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void WorkerProcess::end() {
  if (std::exchange(ending_, true)) return;
  ::shutdown(control_.get(), SHUT_WR);
}

void WorkerProcess::kill() { ::kill(pid_, SIGKILL); }

void WorkerProcess::read_report() {
  Report report;
  Fd fd;
  bool gone = false;
  if (receive_report(control_.get(), report, fd, gone)) hear(report, std::move(fd));
  if (gone) control_watch_ = {};
}

void WorkerProcess::hear(const Report& report, Fd fd) {
  switch (report.news) {
    case News::Open:
      if (state_ == State::Serving) return;
      handover_ = std::move(fd);
      state_ = State::Spare;
      break;
    case News::Refused:
      start_.refused(caller_name_, report.text);
      ++refused_;
      greeting_timeout_ = {};
      handover_ = {};
      state_ = State::Spare;
      break;
    case News::Accepted:
      if (state_ != State::Greeting) return;
      greeting_timeout_ = {};
      has_served_ = true;
      state_ = State::Serving;
      session_number_ = start_.next_session_number();
      log("session {} begins: {}, worker {}", session_number_, caller_name_, pid_);
      break;
    case News::PeerListener:
      if (fd.open()) add_peer_listener(report.name, std::move(fd));
      return;
    case News::StoreWanted: return give_store(report.owner);
    default: return;
  }
  start_.changed();
}

// One, of whom the worker serves: what its client makes of it later, it gets no other.
void WorkerProcess::give_store(const chunks::Owner& owner) {
  if (state_ != State::Serving || std::exchange(has_asked_for_store_, true)) return;
  const Fd store = start_.open_store(owner);
  Report report;
  report.news = News::Store;
  send_report(control_.get(), report, store.get());
}

// Those whose peer has gone, or never came, make room.
void WorkerProcess::add_peer_listener(const wire::SessionId& name, Fd handover) {
  std::erase_if(peer_listeners_, [](const auto& e) {
    pollfd end{e.second.get(), 0, 0};
    return ::poll(&end, 1, 0) > 0;
  });
  if (peer_listeners_.size() < MostPeerListeners) peer_listeners_.emplace(name, std::move(handover));
}

void WorkerProcess::reaped(int wait_status) {
  if (errors_.open()) log_.drain(errors_.get(), name());
  log_.finish(name());
  const bool killed = WIFSIGNALED(wait_status);
  if (killed && !ending_) {
    const int signal = WTERMSIG(wait_status);
    log("{}: its worker {} was ended by signal {} ({})", name(), pid_, signal, ::strsignal(signal));
  } else if (!killed && WEXITSTATUS(wait_status) != 0) {
    log("{}: its worker {} ended with status {}", name(), pid_, WEXITSTATUS(wait_status));
  }
  if (state_ == State::Serving) {
    const exec::LiveCounters& count = page_->counters;
    log("session {} ends after {} s: {} launches, {} bytes in, {} bytes out", session_number_,
        (monotonic_ns() - begun_ns_) / 1'000'000'000, count.launches.load(), count.bytes_in.load(),
        count.bytes_out.load());
  }
  pid_ = -1;
}

}  // namespace gt::proxy
