// Running gmicrobench with a limit.
#include "optimizer-rt/goptimize/measuring.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>
#include <thread>

#include "optimizer-rt/goptimize/failures.h"
#include "optimizer-rt/goptimize/file_limit.h"
#include "traces/base/command.h"
#include "traces/base/fd.h"

namespace gt::opt {
namespace {

constexpr std::chrono::milliseconds Look{50};     // between looks whether it has ended
constexpr std::chrono::seconds Patience{2};       // between asking it to end and ending it

std::string sibling_program(const char* name) {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n == sizeof path) return name;
  return (std::filesystem::path(std::string(path, static_cast<size_t>(n))).parent_path() / name)
      .string();
}

// In the child. Its progress and errors go to our stderr; nothing is its input.
[[noreturn]] void become(char* const* argv, pid_t parent, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::execv(argv[0], argv);
  const int error = errno;
  if (::write(failure, &error, sizeof error) < 0) ::_exit(2);
  ::_exit(1);
}

class Measurement {
 public:
  static Result<Measurement> start(const std::string& path);
  bool ended_within(std::chrono::milliseconds limit);
  // Ends it if it has not ended.
  void end();
  // Somebody ended it, not a driver.
  bool was_asked_to_end() const {
    return WIFSIGNALED(state_) && (WTERMSIG(state_) == SIGINT || WTERMSIG(state_) == SIGTERM);
  }
  std::string ending() const {
    const bool by_signal = WIFSIGNALED(state_);
    return fmt::format("gmicrobench ended {} {}", by_signal ? "by signal" : "with status",
                       by_signal ? WTERMSIG(state_) : WEXITSTATUS(state_));
  }

 private:
  explicit Measurement(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  int state_ = 0;
};

Result<Measurement> Measurement::start(const std::string& path) {
  std::string arguments[] = {sibling_program("gmicrobench"), "platform", "--quick", "--missing", "-o", path};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), arguments[3].data(),
                  arguments[4].data(), arguments[5].data(), nullptr};
  int ends[2];  // tells why the program could not be executed; closed by its execution
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t self = ::getpid(), child = ::fork();
  if (child < 0) return system_error("cannot start " + arguments[0], errno);
  if (child == 0) become(argv, self, writer.get());
  writer = Fd();
  int error = 0;
  Measurement measurement(child);
  if (::read(reader.get(), &error, sizeof error) != sizeof error) return measurement;
  measurement.end();
  return system_error("cannot start " + arguments[0], error);
}

bool Measurement::ended_within(std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const pid_t got = ::waitpid(pid_, &state_, WNOHANG);
    if (got == pid_ || (got < 0 && errno != EINTR)) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(Look);
  }
}

void Measurement::end() {
  ::kill(pid_, SIGTERM);  // it leaves no temporary files behind
  if (ended_within(Patience)) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &state_, 0) < 0 && errno == EINTR) continue;
}

Status remember(const std::string& path, const char* what, const std::string& why) {
  const Result<model::Platform> before = model::read_platform_of_here(path);
  model::Platform platform = before ? *before : model::Platform();
  platform.machine = model::this_machine();
  platform.quick = platform.quick || platform.devices.empty();
  platform.failed.push_back({"", what, "", why, model::seconds_now()});
  return write_within_limit(platform, path);
}

}  // namespace

Status write_within_limit(const model::Platform& platform, const std::string& path) {
  const FileLimitIsAnError limit;
  return model::write_platform(platform, path);
}

Status measure(const std::string& path, std::chrono::seconds limit) {
  Result<Measurement> measurement = Measurement::start(path);
  if (!measurement) return measurement.status();
  if (!measurement->ended_within(limit)) {
    measurement->end();
    return remember(path, GivenUp, fmt::format("a driver did not come back within {} s", limit.count()));
  }
  if (measurement->was_asked_to_end()) return Status(Kind::Unsupported, "measuring this machine was interrupted");
  return model::read_platform_of_here(path) ? Status() : remember(path, "", measurement->ending());
}

}  // namespace gt::opt
