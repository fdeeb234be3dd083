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
#include <vector>

#include "optimizer-rt/goptimize/failures.h"
#include "optimizer-rt/goptimize/file_limit.h"
#include "traces/base/command.h"
#include "traces/base/fd.h"
#include "traces/base/own_path.h"
#include "traces/base/settings.h"
#include "traces/base/wait_child.h"
#include "traces/model/platform/platform_merge.h"

namespace gt::opt {
namespace {

constexpr std::chrono::milliseconds Look{20};    // between looks whether it has ended
constexpr std::chrono::seconds KillTimeout{2};   // between asking it to end and ending it
constexpr std::chrono::milliseconds Slack{500};  // of the limit, for what comes before and after
constexpr std::chrono::milliseconds Least{500};  // with less nothing is begun
constexpr std::chrono::seconds Usual{8};         // that a device is measured for

bool is_old_variable(std::string_view assignment) {
  const std::string_view name = assignment.substr(0, assignment.find('='));
  return std::ranges::any_of(Settings, [&](const Setting& s) {
    return s.command == "gmicrobench platform" && old_variable(s) == name;
  });
}

// Ours, without what gmicrobench would tell its user about: the user started goptimize.
std::vector<char*> its_environment() {
  std::vector<char*> out;
  for (char** v = environ; *v; ++v)
    if (!is_old_variable(*v)) out.push_back(*v);
  out.push_back(nullptr);
  return out;
}

// In the child. Its progress and errors go to our stderr; nothing is its input.
[[noreturn]] void become(char* const* argv, char* const* environment, pid_t parent, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::execve(argv[0], argv, environment);
  const int error = errno;
  if (::write(failure, &error, sizeof error) < 0) ::_exit(2);
  ::_exit(1);
}

// gmicrobench at work.
class Measurement {
 public:
  static Result<Measurement> start(const std::string& path, const model::DeviceName& device,
                                   std::chrono::seconds about);
  enum class Ending { ByItself, TooLate, Unwanted };
  Ending wait(Measuring::Clock::time_point until, const Measuring::GoesOn& goes_on);
  // It is about to end.
  void reap() { state_ = wait_child(pid_); }
  // Ends it: it is asked to, and after `timeout` made to. REQUIRES: it was executed. Until then it has our handlers,
  // which would pass the signal on to the program.
  void end(Measuring::Clock::duration timeout, const Measuring::GoesOn& goes_on);
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
  bool has_ended() {
    const pid_t got = ::waitpid(pid_, &state_, WNOHANG);
    return got == pid_ || (got < 0 && errno != EINTR);
  }
  pid_t pid_;
  int state_ = 0;
};

Result<Measurement> Measurement::start(const std::string& path, const model::DeviceName& device,
                                       std::chrono::seconds about) {
  std::string arguments[] = {program_beside("gmicrobench"), "platform", "--quick", "--missing",
                             "--seconds", std::to_string(about.count()),
                             "--only", device.platform + "/" + device.name, "-o", path};
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const std::vector<char*> environment = its_environment();
  int ends[2];  // tells why the program could not be executed; closed by its execution
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t self = ::getpid(), child = ::fork();
  if (child < 0) return system_error("cannot start " + arguments[0], errno);
  if (child == 0) become(argv.data(), environment.data(), self, writer.get());
  writer = Fd();
  int error = 0;
  Measurement measurement(child);
  if (::read(reader.get(), &error, sizeof error) != sizeof error) return measurement;
  measurement.reap();
  return system_error("cannot start " + arguments[0], error);
}

Measurement::Ending Measurement::wait(Measuring::Clock::time_point until, const Measuring::GoesOn& goes_on) {
  for (;;) {
    if (has_ended()) return Ending::ByItself;
    if (!goes_on()) return Ending::Unwanted;
    if (Measuring::Clock::now() >= until) return Ending::TooLate;
    std::this_thread::sleep_for(Look);
  }
}

void Measurement::end(Measuring::Clock::duration timeout, const Measuring::GoesOn& goes_on) {
  ::kill(pid_, SIGTERM);  // it leaves no temporary files behind
  const auto until = Measuring::Clock::now() + timeout;
  while (Measuring::Clock::now() < until) {
    if (has_ended()) return;
    if (!goes_on()) break;
    std::this_thread::sleep_for(Look);
  }
  ::kill(pid_, SIGKILL);
  reap();
}

size_t steps_of(const model::Platform& platform, const model::DeviceName& device) {
  const model::UnfinishedDevice* const u = unfinished_of(platform, device);
  return u ? u->steps.size() : 0;
}

// RLIMIT_FSIZE is an error like a full disk, and does not end us.
Status write_within_limit(const model::Platform& platform, const std::string& path) {
  const FileLimitIsAnError limit;
  return model::write_platform(platform, path);
}

void announce(const model::Platform& before, const model::DeviceName& device) {
  std::string what = "measuring " + device.name + " once, for about 10 s";
  if (steps_of(before, device)) what = "going on with measuring " + device.name;
  if (failure_of(before, device)) what = failure_text(before) + "; trying it again";
  fmt::print(stderr, "goptimize: {} (gmicrobench platform --quick)\n", what);
}

}  // namespace

model::Platform Measuring::known() const {
  Result<model::Platform> platform = model::read_platform_of_here(path_);
  if (platform) return std::move(*platform);
  model::Platform none;
  none.machine = model::this_machine();
  none.quick = true;
  none.unlisted = true;
  return none;
}

Status Measuring::remember(const model::FailedDevice& failed) const {
  model::Platform platform = known();
  std::erase_if(platform.failed, [&](const model::FailedDevice& f) {
    return f.platform == failed.platform && f.name == failed.name && f.driver == failed.driver;
  });
  platform.failed.push_back(failed);
  std::erase(platform.unused, model::DeviceName{failed.platform, failed.name, failed.driver});
  return write_within_limit(platform, path_);
}

Status Measuring::measure(const model::DeviceName& device, const GoesOn& goes_on) {
  const model::Platform before = known();
  if (has_costs(before, device)) return {};
  if (!may_be_measured(before, device, model::seconds_now())) return {};
  if (left_ < Least) return Status(Kind::Unsupported, device.name + " was not measured: no time is left for it");
  announce(before, device);
  // That it is tried is written down first: however that ends, it is not tried with every run.
  if (const model::FailedDevice* failed = failure_of(before, device)) {
    model::FailedDevice tried = *failed;
    tried.time_s = model::seconds_now();
    GT_TRY(remember(tried));
  }
  const Clock::time_point start = Clock::now();
  const Status status = measure_within(device, before, goes_on);
  left_ -= std::min<Clock::duration>(Clock::now() - start, left_);
  return status;
}

Status Measuring::measure_within(const model::DeviceName& device, const model::Platform& before,
                                 const GoesOn& goes_on) {
  const bool had_all = left_ == limit_;
  const Clock::time_point start = Clock::now();
  const auto usable = std::max<Clock::duration>(left_ - KillTimeout - Slack, left_ / 2);  // then it is asked to end
  const auto about = std::min(Usual, std::chrono::duration_cast<std::chrono::seconds>(usable * 3 / 4));
  Result<Measurement> measurement = Measurement::start(path_, device, about);
  if (!measurement) return measurement.status();
  switch (measurement->wait(start + usable, goes_on)) {
    case Measurement::Ending::Unwanted:
      measurement->end(KillTimeout, [] { return true; });
      return {};
    case Measurement::Ending::TooLate:
      measurement->end(left_ - usable - Slack, goes_on);
      return ended_by_limit(device, before, had_all);
    case Measurement::Ending::ByItself:
      break;
  }
  if (measurement->was_asked_to_end())
    return Status(Kind::Unsupported, "measuring " + device.name + " was interrupted");
  const model::Platform now = known();
  if (has_costs(now, device)) return {};
  const model::FailedDevice* const failed = failure_of(now, device);
  const model::FailedDevice* const failed_before = failure_of(before, device);
  if (failed && (!failed_before || failed->error != failed_before->error || failed->time_s > failed_before->time_s))
    return {};
  return remember({device.platform, device.name, device.driver, measurement->ending(), model::seconds_now()});
}

Status Measuring::ended_by_limit(const model::DeviceName& device, const model::Platform& before, bool had_all) {
  const model::Platform now = known();
  if (has_costs(now, device)) return {};  // it was done with it, and other drivers took their time
  if (steps_of(now, device) > steps_of(before, device) || !had_all)
    return Status(Kind::Unsupported, fmt::format("{} is not measured within {} s: the next run goes on with it",
                                                 device.name, limit_.count()));
  const std::string why = fmt::format("a driver did not come back within {} s", limit_.count());
  return remember({device.platform, device.name, device.driver, why, model::seconds_now(), true});
}

}  // namespace gt::opt
