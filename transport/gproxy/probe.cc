#include "transport/gproxy/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "traces/base/clock.h"
#include "traces/base/command.h"
#include "traces/base/fd.h"
#include "traces/sandbox/driver_sandbox.h"
#include "transport/gproxy/opencl.h"
#include "transport/gproxy/spawn.h"
#include "transport/gproxy/worker_channel.h"

namespace gt::proxy {
namespace {

namespace fs = std::filesystem;

constexpr size_t LongestList = size_t{4} << 20;

// One child that lists devices.
class Probe {
 public:
  static Result<Probe> start(const std::vector<std::string>& environment) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) return system_error("pipe", errno);
    Probe probe;
    probe.answer_ = Fd(pipe[0]);
    const Fd childs = lifted(Fd(pipe[1]));
    const Result<pid_t> pid = spawn_self("probe", {}, {{childs.get(), ControlFd}}, environment);
    if (!pid) return pid.status();
    probe.pid_ = *pid;
    return probe;
  }

  // The list; or how the child ended, as words.
  Result<Inventory> finish(uint64_t until_ns) {
    std::string text;
    const bool ended = read(text, until_ns);
    if (!ended) ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    if (!ended) return Status(Kind::Busy, "does not answer");
    if (WIFSIGNALED(status)) return Status(Kind::Corrupt, fmt::format("crashes ({})", ::strsignal(WTERMSIG(status))));
    if (WEXITSTATUS(status) != 0) return Status(Kind::Unsupported, text);
    return inventory_from_json(text);
  }

 private:
  // False: not to its end in time. What is there already is read even when the time is over.
  bool read(std::string& text, uint64_t until_ns) {
    std::array<char, 4096> part;
    while (text.size() < LongestList) {
      const uint64_t now = monotonic_ns();
      const int wait_ms = now < until_ns ? static_cast<int>((until_ns - now) / 1'000'000 + 1) : 0;
      pollfd ready{answer_.get(), POLLIN, 0};
      const int n_ready = ::poll(&ready, 1, wait_ms);
      if (n_ready == 0 && wait_ms == 0) return false;
      if (n_ready <= 0) continue;
      const ssize_t n = ::read(answer_.get(), part.data(), part.size());
      if (n == 0) return true;
      if (n > 0) text.append(part.data(), static_cast<size_t>(n));
    }
    return false;
  }

  pid_t pid_ = -1;
  Fd answer_;
};

// A folder of drivers, for loaders of every make.
class VendorsFolder {
 public:
  Status make() {
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    Result<OwnFolder> made = OwnFolder::make(runtime && *runtime ? runtime : "/tmp", "gproxy");
    if (!made) return made.status();
    folder_ = std::move(*made);
    return {};
  }
  Status add(const Driver& driver) {
    const std::string file = fmt::format("{}/{:03}.icd", folder_.path(), count_++);
    std::ofstream out(file);
    out << driver.library << "\n";
    return out.flush() ? Status() : system_error("cannot write " + file, errno);
  }
  std::vector<std::string> environment() const { return {"OCL_ICD_VENDORS=" + folder_.path(), "OCL_ICD_FILENAMES="}; }
  OwnFolder take() { return std::move(folder_); }

 private:
  OwnFolder folder_;
  unsigned count_ = 0;
};

// A driver tried alone.
struct Trial {
  Driver driver;
  VendorsFolder folder;
  Result<Probe> probe = Status();

  void begin() {
    Status ready = folder.make();
    if (ready.ok()) ready = folder.add(driver);
    probe = ready.ok() ? Probe::start(folder.environment()) : Result<Probe>(ready);
  }
  // Empty: it works.
  std::string end(uint64_t until_ns) {
    const Status status = probe ? probe->finish(until_ns).status() : probe.status();
    folder = {};
    return status.text();
  }
};

Result<Probed> probe_one_by_one(unsigned seconds) {
  const uint64_t time_ns = seconds * 1'000'000'000ull;
  std::vector<Trial> trials;
  for (Driver& driver : installed_drivers()) trials.push_back({std::move(driver), {}, Status()});
  for (Trial& trial : trials) trial.begin();
  const uint64_t until_ns = monotonic_ns() + time_ns;
  VendorsFolder sound;
  GT_TRY(sound.make());
  Probed probed{{}, {}, sound.environment(), {}};
  for (Trial& trial : trials) {
    const std::string why = trial.end(until_ns);
    if (!why.empty()) probed.left_out.push_back(fmt::format("{} {}", trial.driver.name, why));
    if (why.empty()) GT_TRY(sound.add(trial.driver));
  }
  Result<Probe> together = Probe::start(probed.environment);
  Result<Inventory> found = together ? together->finish(monotonic_ns() + time_ns) : together.status();
  if (!found) return found.status().at("the drivers that work alone, together");
  probed.inventory = std::move(*found);
  probed.folder = sound.take();
  return probed;
}

}  // namespace

Result<Probed> probe_devices(unsigned seconds) {
  Result<Probe> all = Probe::start({});
  if (!all) return all.status();
  Result<Inventory> found = all->finish(monotonic_ns() + seconds * 1'000'000'000ull);
  if (found) return Probed{std::move(*found), {}, {}, {}};
  if (found.status().kind() == Kind::Unsupported) return found.status();  // no loader: nothing to try one by one
  return probe_one_by_one(seconds);
}

int probe_command(int, char**) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::fcntl(ControlFd, F_SETFD, FD_CLOEXEC);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const Result<std::unique_ptr<OpenCl>> cl = OpenCl::load();
  Inventory inventory;
  if (cl) (*cl)->list(&inventory);
  const std::string text = cl ? to_json(inventory) : cl.status().text();
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = ::write(ControlFd, text.data() + sent, text.size() - sent);
    if (n <= 0 && errno != EINTR) break;
    sent += static_cast<size_t>(std::max<ssize_t>(n, 0));
  }
  ::_exit(cl ? ExitOk : ExitEnvironment);  // drivers' exit handlers are not needed
}

}  // namespace gt::proxy
