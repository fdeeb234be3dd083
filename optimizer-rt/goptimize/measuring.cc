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

#include "traces/base/command.h"
#include "traces/base/fd.h"

namespace gt::opt {
namespace {

constexpr std::chrono::milliseconds Look{50};     // between looks whether it has ended
constexpr std::chrono::seconds Patience{2};       // between asking it to end and ending it
constexpr const char* GivenUp = "first measurement";  // in the place of a device's name

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
  bool succeeded() const { return WIFEXITED(state_) && WEXITSTATUS(state_) == ExitOk; }
  bool found_nothing() const { return WIFEXITED(state_) && WEXITSTATUS(state_) == ExitEnvironment; }

 private:
  explicit Measurement(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  int state_ = 0;
};

Result<Measurement> Measurement::start(const std::string& path) {
  std::string arguments[] = {sibling_program("gmicrobench"), "platform", "--quick", "-o", path};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), arguments[4].data(), nullptr};
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

void remember_given_up(const std::string& path, const std::string& why) {
  model::Platform platform;
  platform.machine = model::this_machine();
  platform.quick = true;
  platform.failed.push_back({"", GivenUp, "", why});
  if (const Status s = model::write_platform(platform, path); !s.ok())
    fmt::print(stderr, "goptimize: {}\n", s.text());
}

}  // namespace

Status measure(const std::string& path, std::chrono::seconds limit) {
  if (limit.count() == 0) return Status(Kind::Unsupported, "this machine was never measured (gmicrobench platform)");
  fmt::print(stderr, "goptimize: measuring this machine once, for about 10 s (gmicrobench platform --quick)\n");
  Result<Measurement> measurement = Measurement::start(path);
  if (!measurement) return measurement.status();
  if (measurement->ended_within(limit)) {
    if (measurement->succeeded()) return {};
    if (measurement->found_nothing()) remember_given_up(path, "it has no OpenCL device of its own");
    return Status(Kind::Unsupported, "the platform could not be measured");
  }
  measurement->end();
  const std::string why = fmt::format("a driver did not come back within {} s", limit.count());
  remember_given_up(path, why);
  return Status(Kind::Unsupported, "measuring this machine was given up: " + why);
}

bool was_given_up(const model::Platform& platform) {
  return std::ranges::any_of(platform.failed, [](const model::FailedDevice& f) { return f.name == GivenUp; });
}

}  // namespace gt::opt
