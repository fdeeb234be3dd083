#include "tracer/collect/spool_users.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tracer/lib/process_state.h"
#include "tracer/lib/spool.h"
#include "traces/base/fd.h"

namespace gt::tracer {

namespace {

// A file of /proc, searched in pieces that overlap so that no occurrence is cut in two.
bool file_contains(const std::string& file, const std::string& text) {
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return false;
  std::string piece(64 << 10, '\0');
  size_t kept = 0;
  for (;;) {
    const ssize_t n = read(fd.get(), piece.data() + kept, piece.size() - kept);
    if (n <= 0) return false;
    const size_t have = kept + static_cast<size_t>(n);
    if (std::string_view(piece.data(), have).find(text) != std::string_view::npos) return true;
    kept = std::min(have, text.size() - 1);
    piece.replace(0, kept, piece, have - kept, kept);
  }
}

// A gtrace looks at recordings, as the collector, its copy that writes a snapshot, or `gtrace ctl`. (One that is itself
// recorded has the spool's name in its environment.)
bool is_gtrace(const std::string& process) {
  struct stat ours {
  }, its{};
  return stat("/proc/self/exe", &ours) == 0 && stat((process + "exe").c_str(), &its) == 0 &&
         ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

bool lives(const ProcessId& p) { return process_lives(p.pid, p.start_time); }

}  // namespace

bool uses_spool(int pid, const std::string& spool_path) {
  const std::string process = fmt::format("/proc/{}/", pid);
  return file_contains(process + "environ", fmt::format("{}={}", SpoolVariable, spool_path)) ||
         (file_contains(process + "maps", spool_path) && !is_gtrace(process));
}

SpoolUsers::SpoolUsers(std::string spool_path, uint64_t since) : path_(std::move(spool_path)), since_(since) {}

std::vector<ProcessId> SpoolUsers::search() const {
  std::vector<ProcessId> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), &closedir);
  while (const dirent* entry = proc ? readdir(proc.get()) : nullptr) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const ProcessId process{pid, process_state(pid).start_time};
    if (process.start_time >= since_ && lives(process) && uses_spool(pid, path_)) found.push_back(process);
  }
  return found;
}

bool SpoolUsers::any() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < LookEvery) return !known_.empty();
  looked_ = now;
  std::erase_if(known_, [](const ProcessId& p) { return !lives(p); });
  // Twice: a process may fork and end while the list is being read, its child before the place that was reached.
  for (int i = 0; i < 2 && known_.empty(); ++i) known_ = search();
  return !known_.empty();
}

}  // namespace gt::tracer
