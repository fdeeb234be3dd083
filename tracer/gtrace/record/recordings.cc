#include "tracer/gtrace/record/recordings.h"

#include <time.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include <fmt/format.h>

#include "tracer/collect/spool_users.h"
#include "tracer/lib/process_state.h"

namespace gt::tracer {

namespace fs = std::filesystem;

namespace {

// Where SpoolReader::create() makes them.
std::set<std::string> directories() {
  const char* tmp = std::getenv("TMPDIR");
  return {"/dev/shm", tmp ? tmp : "/tmp", "/tmp"};
}

bool is_spool_name(const fs::path& path) { return path.filename().string().rfind("gtrace-", 0) == 0; }

}  // namespace

std::vector<SpoolReader> find_recordings(bool orphans) {
  std::vector<SpoolReader> found;
  for (const std::string& directory : directories()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (!is_spool_name(entry.path()) || !entry.is_regular_file(error)) continue;
      Result<SpoolReader> spool = SpoolReader::open(entry.path().string());
      if (!spool) continue;
      const SpoolHeader& header = spool->header();
      if (process_lives(header.collector_pid, header.collector_start) != orphans) found.push_back(std::move(*spool));
    }
  }
  return found;
}

std::vector<SpoolReader*> chosen_recordings(std::vector<SpoolReader>& running, std::optional<uint64_t> pid) {
  std::vector<SpoolReader*> chosen;
  for (SpoolReader& r : running) {
    if (!pid || belongs_to(static_cast<int>(*pid), r)) chosen.push_back(&r);
  }
  return chosen;
}

bool await_snapshot(SpoolHeader& spool) {
  const uint32_t wish = spool.snapshots_wanted.fetch_add(1) + 1;
  const auto granted = [&] { return static_cast<int32_t>(spool.snapshots_done.load() - wish) >= 0; };
  const timespec nap{0, 5'000'000};
  while (!granted()) {
    if (!process_lives(spool.collector_pid, spool.collector_start) && !granted()) return false;
    nanosleep(&nap, nullptr);
  }
  return true;
}

Status exactly_one(const std::vector<SpoolReader*>& recordings) {
  if (recordings.size() == 1) return {};
  if (recordings.empty()) return {Kind::Invalid, "no such recording is running"};
  std::string pids;
  for (SpoolReader* r : recordings) pids += fmt::format(" {}", r->header().gtrace_pid);
  return {Kind::Invalid, fmt::format("{} recordings are running; choose with --pid:{}", recordings.size(), pids)};
}

bool belongs_to(int pid, SpoolReader& recording) {
  const SpoolHeader& header = recording.header();
  return pid == header.gtrace_pid || pid == header.collector_pid || uses_spool(pid, recording.path());
}

}  // namespace gt::tracer
