#include "tracer/gtrace/replay/confined.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "traces/contents/content_file.h"
#include "traces/sandbox/driver_sandbox.h"

namespace gt::tracer {

namespace fs = std::filesystem;

namespace {

// Proxies' devices are reached from inside: the library that does it, the token and the certificates.
void add_remote(std::vector<std::string>& reads) {
  constexpr const char* Ours[] = {"GTRACE_"};
  add_named_paths(reads, Ours);
  const char *const config = std::getenv("XDG_CONFIG_HOME"), *const home = std::getenv("HOME");
  if (!std::getenv("GTRACE_REMOTE")) return;
  if (config && *config) reads.push_back(std::string(config) + "/gtrace/token");
  if (home && *home) reads.push_back(std::string(home) + "/.config/gtrace/token");
}

}  // namespace

Result<Confinement> Confinement::prepare(const std::string& trace_path, const std::vector<std::string>& writes) {
  GT_TRY(sandbox_available());
  Result<OwnFolder> temporary = OwnFolder::make_temporary("gtrace-replay");
  if (!temporary) return temporary.status();
  Confinement c;
  c.temporary_ = std::move(*temporary);
  const std::vector<std::string> drivers = driver_libraries();
  make_cache_folders(drivers);
  c.sandbox_ = driver_sandbox(drivers, c.temporary_.path());
  add_remote(c.sandbox_.reads);
  std::error_code ignored;
  c.sandbox_.reads.push_back(fs::absolute(contents::path_beside(trace_path), ignored).string());
  c.sandbox_.writes.insert(c.sandbox_.writes.end(), writes.begin(), writes.end());
  return c;
}

Status Confinement::enter() const {
  if (::setenv("TMPDIR", temporary_.path().c_str(), 1) != 0) return system_error("sandbox", errno);
  return enter_sandbox(sandbox_);
}

}  // namespace gt::tracer
