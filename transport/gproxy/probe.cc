#include "transport/gproxy/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "traces/base/clock.h"
#include "traces/base/command.h"
#include "traces/base/fd.h"
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

std::vector<fs::path> icd_files() {
  const char* const said = std::getenv("OCL_ICD_VENDORS");
  const fs::path place = said && *said ? said : "/etc/OpenCL/vendors";
  std::error_code error;
  if (!fs::is_directory(place, error)) return {place};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(place, error)) {
    if (entry.path().extension() == ".icd") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> make_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string folder = fmt::format("{}/gproxy-drivers-XXXXXX", runtime && *runtime ? runtime : "/tmp");
  if (!::mkdtemp(folder.data())) return system_error("cannot make a folder like " + folder, errno);
  return folder;
}

Status add_link(const fs::path& folder, const fs::path& icd) {
  std::error_code error;
  fs::create_symlink(fs::absolute(icd), folder / icd.filename(), error);
  return error ? system_error("cannot make a link in " + folder.string(), error.value()) : Status();
}

// A folder with this file alone: a form that every loader understands.
struct OneDriver {
  fs::path icd;
  std::string folder;
  Result<Probe> probe = Status();
};

OneDriver try_alone(const fs::path& icd) {
  OneDriver one{icd, {}, Status()};
  const Result<std::string> folder = make_folder();
  if (!folder) return {icd, {}, folder.status()};
  one.folder = *folder;
  const Status linked = add_link(one.folder, icd);
  one.probe = linked.ok() ? Probe::start({"OCL_ICD_VENDORS=" + one.folder}) : Result<Probe>(linked);
  return one;
}

std::string reason(OneDriver& one, uint64_t until_ns) {
  if (!one.probe) return one.probe.status().text();
  return one.probe->finish(until_ns).status().text();
}

Result<Probed> probe_one_by_one(unsigned seconds) {
  Probed probed;
  std::vector<OneDriver> drivers;
  for (const fs::path& icd : icd_files()) drivers.push_back(try_alone(icd));
  const Result<std::string> folder = make_folder();
  if (!folder) return folder.status();
  probed.folder = *folder;
  probed.environment = {"OCL_ICD_VENDORS=" + *folder};
  const uint64_t until_ns = monotonic_ns() + seconds * 1'000'000'000ull;
  for (OneDriver& one : drivers) {
    const std::string why = reason(one, until_ns);
    remove_vendors_folder(one.folder);
    if (!why.empty()) probed.left_out.push_back(fmt::format("{} {}", one.icd.string(), why));
    if (why.empty()) GT_TRY(add_link(*folder, one.icd));
  }
  Result<Probe> rest = Probe::start(probed.environment);
  Result<Inventory> found = rest ? rest->finish(until_ns + seconds * 1'000'000'000ull) : rest.status();
  if (!found) return found.status();
  probed.inventory = std::move(*found);
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

void remove_vendors_folder(const std::string& folder) {
  std::error_code ignored;
  if (!folder.empty()) fs::remove_all(folder, ignored);
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
