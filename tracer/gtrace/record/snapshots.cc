#include "tracer/gtrace/record/snapshots.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "traces/base/wait_child.h"

namespace gt::tracer {

namespace {

// In the copy. It must not run the destructors of what belongs to the original.
[[noreturn]] void write_and_end(Session& session, const TraceFile& file, uint64_t cpu_ns) {
  setpriority(PRIO_PROCESS, 0, 10);  // the program comes first
  bool written = false;
  try {
    written = file.stage(session.snapshot(cpu_ns)).ok();
  } catch (const std::exception&) {  // no memory: as if there were no room on the disk
  }
  _exit(written ? 0 : 1);
}

std::chrono::nanoseconds cpu_time(const rusage& used) {
  const auto time = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return time(used.ru_utime) + time(used.ru_stime);
}

}  // namespace

void grant_snapshots(SpoolHeader& header, uint32_t wishes, const std::string& path) {
  std::error_code error;
  const std::string full = path.empty() ? path : std::filesystem::absolute(path, error).string();
  if (!full.empty()) {
    const size_t length = std::min(full.size(), sizeof header.trace_path - 1);
    std::memcpy(header.trace_path, full.data(), length);
    header.trace_path[length] = 0;
  }
  header.snapshot_failed.store(path.empty());
  header.snapshots_done.store(wishes);
}

Snapshots::Snapshots(Session& session, TraceFile& file) : session_(session), file_(file), next_(Clock::now() + First) {}

Snapshots::~Snapshots() {
  if (writer_ == 0) return;
  kill(writer_, SIGKILL);
  wait_child(writer_);
  file_.discard_staged_by(writer_);
}

bool Snapshots::due() const {
  return Clock::now() >= next_ && session_.collector().calls() > calls_;
}

void Snapshots::tick() {
  if (writer_ != 0) return collect(WNOHANG);
  const SpoolHeader& header = session_.header();
  const bool wanted = header.snapshots_wanted.load() != header.snapshots_done.load();
  if (wanted || due()) begin(wanted ? Backlog::All : Session::Portion);
}

void Snapshots::take_now() {
  if (writer_ != 0) collect(0);
  begin(Backlog::All);
  if (writer_ != 0) collect(0);
}

void Snapshots::begin(uint64_t most) {
  const Clock::time_point begun = Clock::now();
  granting_ = session_.header().snapshots_wanted.load();
  session_.pump(most);  // what was recorded before the wish
  calls_ = session_.collector().calls();
  const uint64_t cpu_ns = session_.cpu_ns();
  session_.stop_threads();
  writer_ = fork();
  if (writer_ == 0) write_and_end(session_, file_, cpu_ns);
  fork_cost_ = Clock::now() - begun;
  if (writer_ > 0) return;
  writer_ = 0;
  put(false, fork_cost_);
}

void Snapshots::collect(int options) {
  int state = 0;
  rusage used{};
  pid_t got;
  do {
    got = wait4(writer_, &state, options, &used);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return;
  const bool written = got == writer_ && WIFEXITED(state) && WEXITSTATUS(state) == 0;
  if (!written) file_.discard_staged_by(writer_);
  writer_ = 0;
  put(written, fork_cost_ + cpu_time(used));
}

void Snapshots::put(bool written, std::chrono::nanoseconds cost) {
  const bool placed = written && file_.place().ok();
  grant_snapshots(session_.header(), granting_, placed ? file_.path() : "");
  interval_ = std::max<std::chrono::nanoseconds>(
      {std::min<std::chrono::nanoseconds>(2 * interval_, Longest), CostShare * cost});
  next_ = Clock::now() + interval_;
}

}  // namespace gt::tracer
