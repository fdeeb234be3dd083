#include "tracer/gtrace/save.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "traces/store/trace_db.h"

namespace gt::tracer {

namespace fs = std::filesystem;

Status check_writable(const std::string& path) {
  const fs::path target(path);
  std::error_code error;
  if (fs::is_directory(target, error)) {
    return Status(Kind::Invalid, path + " is a directory: give -o a file name");
  }
  const std::string directory = target.has_parent_path() ? target.parent_path().string() : ".";
  if (!fs::is_directory(directory, error)) {
    return Status(
        Kind::Invalid,
        fmt::format("{}: no such directory (make it, or give -o another file)", directory));
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return Status(Kind::System,
                  fmt::format("cannot write {} in {}: {} (use -o FILE in a directory of yours)",
                              target.filename().string(), directory, std::strerror(errno)),
                  errno);
  }
  return {};
}

namespace {

std::vector<std::string> second_choices(const std::string& path) {
  std::vector<std::string> directories;
  if (const char* data = std::getenv("XDG_DATA_HOME"))
    directories.push_back(std::string(data) + "/gtrace");
  if (const char* home = std::getenv("HOME"))
    directories.push_back(std::string(home) + "/.local/share/gtrace");
  const char* tmp = std::getenv("TMPDIR");
  directories.emplace_back(tmp ? tmp : "/tmp");
  directories.emplace_back("/dev/shm");
  const std::string name = fmt::format("{}-{}{}", fs::path(path).stem().string(), getpid(),
                                       fs::path(path).extension().string());
  for (std::string& d : directories) {
    std::error_code error;
    fs::create_directories(d, error);
    d += "/" + name;
  }
  return directories;
}

}  // namespace

Result<std::string> save_trace(const std::string& path, const model::Trace& trace,
                               Status& trouble) {
  trouble = store::keep_older(path);
  if (trouble.ok()) trouble = store::write_trace(path, trace);
  if (trouble.ok()) return path;
  for (const std::string& other : second_choices(path)) {
    if (store::write_trace(other, trace).ok()) return other;
  }
  return trouble;
}

}  // namespace gt::tracer
