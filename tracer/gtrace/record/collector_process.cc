#include "tracer/gtrace/record/collector_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "tracer/lib/process_state.h"
#include "traces/base/command.h"
#include "traces/base/signals_blocked.h"
#include "traces/base/wait_child.h"

namespace gt::tracer {

namespace {

// Nothing that the user waits for to be closed may stay open here: a pipe of the program's, a terminal. The channel
// moves out of the way when it has a standard stream's number (we may have been started without one).
Fd leave_the_users_files(Fd theirs) {
  if (theirs.get() <= STDERR_FILENO) theirs = Fd(fcntl(theirs.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const int channel = theirs.get();
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  if (fcntl(STDERR_FILENO, F_GETFD) < 0) dup2(null, STDERR_FILENO);  // or a trace would get that number
  if (channel > 3) close_range(3, static_cast<unsigned>(channel) - 1, 0);
  close_range(static_cast<unsigned>(channel) + 1, ~0u, 0);
  return theirs;
}

// Ends with the program, not when somebody who wants to end the program meets us first.
void ignore_signals() {
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2}) signal(number, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
}

void set_title(std::span<char> title, pid_t parent) {
  prctl(PR_SET_NAME, "gtrace-collect");
  const std::string text = fmt::format("collector of {}", parent);
  if (title.empty()) return;
  std::memset(title.data(), 0, title.size());
  std::memcpy(title.data(), text.data(), std::min(text.size(), title.size() - 1));
}

int live(SpoolReader& spool, Fd channel, const CollectorJob& job) {
  try {
    return collect(std::move(spool), std::move(channel), job);
  } catch (const std::exception& e) {
    fmt::print(stderr, "gtrace: internal error of the collector: {}\n", e.what());
    return ExitInternal;
  }
}

}  // namespace

Result<CollectorProcess> CollectorProcess::start(SpoolReader& spool, const CollectorJob& job, std::span<char> title) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("cannot start the collector", errno);
  Fd ours(ends[0]), theirs(ends[1]);
  const pid_t parent = getpid();
  const SignalsBlocked blocked;
  const pid_t pid = fork();
  if (pid < 0) return system_error("cannot start the collector", errno);
  if (pid == 0) {
    setsid();
    ignore_signals();
    blocked.unblock();
    ours = Fd();
    Fd channel = leave_the_users_files(std::move(theirs));
    set_title(title, parent);
    _exit(live(spool, std::move(channel), job));
  }
  spool.header().collector_pid = pid;
  spool.header().collector_start = process_state(pid).start_time;
  return CollectorProcess(pid, std::move(ours));
}

CollectorProcess::CollectorProcess(CollectorProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), channel_(std::move(other.channel_)) {}

CollectorProcess::~CollectorProcess() {
  channel_ = Fd();
  reap();
}

int CollectorProcess::reap() {
  const pid_t child = std::exchange(pid_, 0);
  return child > 0 ? wait_child(child) : 0;
}

void CollectorProcess::tell(const ProgramNews& news) {
  while (send(channel_.get(), &news, sizeof news, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

bool CollectorProcess::answers(std::chrono::milliseconds timeout) const {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    pollfd watched{channel_.get(), POLLIN, 0};
    const int n = poll(&watched, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
    if (n >= 0 || errno != EINTR) return n != 0;
  }
}

std::optional<Closing> CollectorProcess::closing() {
  Closing closing;
  ssize_t n;
  do {
    n = recv(channel_.get(), &closing, sizeof closing, 0);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof closing) return {};
  if (closing.detached) pid_ = 0;
  return closing;
}

std::string CollectorProcess::cause_of_death() {
  const int state = reap();
  return WIFSIGNALED(state) ? fmt::format("signal {}", WTERMSIG(state))
                            : fmt::format("exit status {}", WEXITSTATUS(state));
}

}  // namespace gt::tracer
