#include "transport/gproxy/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cstring>

namespace gt::proxy {
namespace {

constexpr int AboveChildrens = 10;

struct FileActions {
  FileActions() { ::posix_spawn_file_actions_init(&actions); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions); }
  FileActions(const FileActions&) = delete;
  posix_spawn_file_actions_t actions;
};

struct Attributes {
  Attributes() {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes); }
  Attributes(const Attributes&) = delete;
  posix_spawnattr_t attributes;
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& t : texts) pointers.push_back(const_cast<char*>(t.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Ours, with `more` ("NAME=value") in place of variables of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  for (char** v = environ; *v; ++v) {
    bool replaced = false;
    for (const std::string& m : more) replaced |= std::strncmp(*v, m.c_str(), m.find('=') + 1) == 0;
    if (!replaced) all.emplace_back(*v);
  }
  return all;
}

}  // namespace

Fd lifted(Fd fd) { return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, AboveChildrens)); }

Result<pid_t> spawn_self(const std::string& command, const std::vector<std::string>& arguments,
                         const std::vector<ChildFd>& fds, const std::vector<std::string>& more_environment) {
  std::vector<std::string> words = {"gproxy", command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<std::string> environment = environment_with(more_environment);
  FileActions files;
  const Attributes attributes;
  ::posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&files.actions, STDIN_FILENO, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files.actions, STDIN_FILENO, STDERR_FILENO);
  for (const ChildFd& f : fds) ::posix_spawn_file_actions_adddup2(&files.actions, f.ours, f.childs);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &files.actions, &attributes.attributes,
                                  pointers_to(words).data(), pointers_to(environment).data());
  if (error != 0) return system_error("cannot start gproxy " + command, error);
  return pid;
}

}  // namespace gt::proxy
