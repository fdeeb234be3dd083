#include "microbench/base/spawn.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "traces/base/fd.h"

extern char** environ;

namespace gt::bench {
namespace {

std::vector<std::string> environment(const VariableChanges& changes) {
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

}  // namespace

Result<pid_t> spawn(const std::vector<std::string>& command, const VariableChanges& variables,
                    const FileActions& actions) {
  std::vector<std::string> words = command, all = environment(variables);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0].c_str(), actions.get(), nullptr, pointers(words).data(),
                                  pointers(all).data());
  if (error != 0) return system_error("cannot start " + words[0], error);
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool ends_within(pid_t child, int ms) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!pidfd.open()) return true;
  pollfd p{pidfd.get(), POLLIN, 0};
  return ::poll(&p, 1, ms) > 0;
}

}  // namespace gt::bench
