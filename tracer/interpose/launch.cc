#include "tracer/interpose/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace gt::interpose {

namespace {

constexpr int Forwarded[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr size_t ForwardedCount = std::size(Forwarded);

std::atomic<pid_t> g_child{0};
std::atomic<unsigned> g_interrupts{0};
struct sigaction g_before[ForwardedCount];
bool g_taken[ForwardedCount];
struct sigaction g_child_ended_before;

// The terminal signals the whole foreground group, so the program has it already; a process signals
// us alone.
void forward(int number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  if (number != SIGUSR1 && number != SIGUSR2) g_interrupts.fetch_add(1, std::memory_order_relaxed);
  const pid_t child = g_child.load(std::memory_order_relaxed);
  if (child > 0 && info->si_code <= 0 && info->si_pid != child) kill(child, number);
  errno = saved_errno;
}

// A signal that is ignored (nohup) stays so, for us and for the program.
void take_signals(const std::vector<int>& not_these) {
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (size_t i = 0; i < ForwardedCount; ++i) {
    g_taken[i] = std::count(not_these.begin(), not_these.end(), Forwarded[i]) == 0;
    if (!g_taken[i]) continue;
    sigaction(Forwarded[i], nullptr, &g_before[i]);
    if (g_before[i].sa_handler != SIG_IGN) sigaction(Forwarded[i], &action, nullptr);
  }
  struct sigaction waited {};  // whoever ignores SIGCHLD cannot wait for a child
  waited.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &waited, &g_child_ended_before);
}

void give_signals_back() {
  for (size_t i = 0; i < ForwardedCount; ++i) {
    if (g_taken[i]) sigaction(Forwarded[i], &g_before[i], nullptr);
  }
  sigaction(SIGCHLD, &g_child_ended_before, nullptr);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

struct Image {
  const char* program;
  std::vector<char*> arguments, environment;
  std::vector<char*>
      as_script;  // /bin/sh program arguments...: for a text file without "#!", as execvp does
};

// In the child: nothing here allocates or locks. Never returns; reports errno through the pipe when
// it cannot run.
[[noreturn]] void become(const Image& image, const sigset_t& mask, int report) {
  give_signals_back();
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execve(image.program, image.arguments.data(), image.environment.data());
  if (errno == ENOEXEC && !image.as_script.empty())
    execve("/bin/sh", image.as_script.data(), image.environment.data());
  const int err = errno;
  if (write(report, &err, sizeof err) < 0) _exit(126);
  _exit(127);
}

// What stopped the child from becoming the program; 0 when it did.
int exec_error(int report) {
  int err = 0;
  ssize_t n;
  do {
    n = read(report, &err, sizeof err);
  } while (n < 0 && errno == EINTR);
  return n == sizeof err ? err : 0;
}

}  // namespace

Result<Launched> Launched::start(const LaunchPlan& plan) {
  Image image{plan.program.c_str(), pointers(plan.arguments), pointers(plan.environment), {}};
  if (plan.binary != plan.program) {
    image.as_script = image.arguments;
    image.as_script[0] = const_cast<char*>(plan.program.c_str());
    image.as_script.insert(image.as_script.begin(), const_cast<char*>("/bin/sh"));
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot start " + plan.program, errno);
  Fd report_in(ends[0]), report_out(ends[1]);
  // No signal is delivered between fork and the moment at which both sides are ready for it.
  sigset_t all, mask;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &mask);
  take_signals(plan.own_signals);
  const pid_t pid = fork();
  if (pid == 0) become(image, mask, report_out.get());
  const int fork_error = errno;
  if (pid > 0) g_child.store(pid, std::memory_order_relaxed);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (pid < 0) {
    give_signals_back();
    return system_error("cannot start " + plan.program, fork_error);
  }
  Launched launched(pid);
  report_out = Fd();
  if (const int err = exec_error(report_in.get())) {
    launched.wait(std::chrono::milliseconds(-1));
    return Status(Kind::Invalid, "cannot run " + plan.program + ": " + std::strerror(err), err);
  }
  return launched;
}

Launched::Launched(pid_t pid)
    : pid_(pid), handle_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}

Launched::Launched(Launched&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      handle_(std::move(other.handle_)),
      state_(other.state_),
      usage_(other.usage_),
      ended_(other.ended_) {}

Launched::~Launched() {
  if (pid_ <= 0) return;
  g_child.store(0, std::memory_order_relaxed);
  give_signals_back();
}

bool Launched::reap(int options) {
  pid_t got;
  do {
    got = wait4(pid_, &state_, options, &usage_);
  } while (got < 0 && errno == EINTR);
  if (got == pid_) {
    ended_ = true;
    g_child.store(0, std::memory_order_relaxed);  // the number may soon be another process's
  }
  return ended_;
}

bool Launched::wait(std::chrono::milliseconds timeout) {
  if (ended_ || timeout.count() < 0) return ended_ || reap(0);
  if (reap(WNOHANG) || timeout.count() == 0) return ended_;
  if (handle_.open()) {
    pollfd watched{handle_.get(), POLLIN, 0};
    poll(&watched, 1, static_cast<int>(timeout.count()));
    return reap(WNOHANG);
  }
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!reap(WNOHANG) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ended_;
}

unsigned Launched::interrupts() { return g_interrupts.load(std::memory_order_relaxed); }
int Launched::signal() const { return WIFSIGNALED(state_) ? WTERMSIG(state_) : 0; }
int Launched::exit_status() const { return signal() ? 128 + signal() : WEXITSTATUS(state_); }

}  // namespace gt::interpose
