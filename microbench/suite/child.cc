// Starting programs and waiting for them.
#include "microbench/suite/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "microbench/interrupt.h"
#include "traces/base/fd.h"

extern char** environ;

namespace gt::bench {
namespace {

constexpr int Look_ms = 200;       // between looks whether we were interrupted, or it takes too long
constexpr int Patience_ms = 5000;  // between asking it to end and ending it

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    if (!changes.contains(entry.substr(0, entry.find('=')))) out.push_back(entry);
  }
  for (const auto& [name, value] : changes)
    if (!value.empty()) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

bool ends_within(int pidfd, int ms) {
  pollfd p{pidfd, POLLIN, 0};
  return ::poll(&p, 1, ms) > 0;
}

// Whether the child had to be ended. Where the kernel has no descriptors of processes it is only waited for.
bool limit(pid_t child, double limit_s) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!pidfd.open()) return false;
  for (double waited_s = 0; waited_s < limit_s && !interrupted(); waited_s += Look_ms * 1e-3)
    if (ends_within(pidfd.get(), Look_ms)) return false;
  ::kill(child, SIGTERM);
  if (!ends_within(pidfd.get(), Patience_ms)) ::kill(child, SIGKILL);
  return true;
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<ChildOutcome> run_child(const ChildRequest& request) {
  const std::string out = request.folder + "/stdout", err = request.folder + "/stderr";
  constexpr int Fresh = O_WRONLY | O_CREAT | O_TRUNC;
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, out.c_str(), Fresh, 0600);
  ::posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, err.c_str(), Fresh, 0600);
  ::posix_spawn_file_actions_addchdir_np(actions.get(), request.folder.c_str());
  std::vector<std::string> command = request.command, variables = environment(request.variables);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, command[0].c_str(), actions.get(), nullptr, pointers(command).data(),
                                  pointers(variables).data());
  if (error != 0) return system_error("cannot start " + command[0], error);
  ChildOutcome outcome;
  outcome.too_long = limit(child, request.limit_s);
  outcome.status = status_of(child);
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
