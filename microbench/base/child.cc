// Starting programs and waiting for them.
#include "microbench/base/child.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "microbench/base/interrupt.h"

namespace gt::bench {
namespace {

constexpr int Look_ms = 200;       // between looks whether we were interrupted, or it takes too long
constexpr int Timeout_ms = 5000;   // between asking it to end and ending it

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Whether the child had to be ended.
bool limit(pid_t child, double limit_s) {
  for (double waited_s = 0; waited_s < limit_s && !interrupted(); waited_s += Look_ms * 1e-3)
    if (ends_within(child, Look_ms)) return false;
  ::kill(child, SIGTERM);
  if (!ends_within(child, Timeout_ms)) ::kill(child, SIGKILL);
  return true;
}

}  // namespace

Result<ChildOutcome> run_child(const ChildRequest& request) {
  const std::string out = request.folder + "/stdout", err = request.folder + "/stderr";
  constexpr int Fresh = O_WRONLY | O_CREAT | O_TRUNC;
  FileActions actions;
  actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  actions.open(STDOUT_FILENO, out, Fresh);
  actions.open(STDERR_FILENO, err, Fresh);
  actions.enter(request.folder);
  const Result<pid_t> child = spawn(request.command, request.variables, actions);
  if (!child) return child.status();
  ChildOutcome outcome;
  outcome.too_long = limit(*child, request.limit_s);
  outcome.status = status_of(*child);
  outcome.out = content(out);
  outcome.err = content(err);
  return outcome;
}

Result<TemporaryFolder> TemporaryFolder::make(const char* prefix) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / (std::string(prefix) + ".XXXXXX")).string();
  if (error) path = std::string("/tmp/") + prefix + ".XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return system_error("cannot make a folder " + path, errno);
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace gt::bench
