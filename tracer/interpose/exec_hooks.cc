#include "tracer/interpose/exec_hooks.h"

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "tracer/interpose/child_environment.h"
#include "tracer/interpose/exec_target.h"
#include "tracer/interpose/libc_alloc.h"
#include "traces/base/reentry.h"

namespace gt::interpose {

namespace {

// The functions behind ours. Looked up before they are needed: between vfork and exec is no time to do so.
struct Real {
  int (*execve)(const char*, char* const[], char* const[]) = nullptr;
  int (*execvpe)(const char*, char* const[], char* const[]) = nullptr;
  int (*fexecve)(int, char* const[], char* const[]) = nullptr;
  Spawn *posix_spawn = nullptr, *posix_spawnp = nullptr;
};
constinit Real g_real;
constinit NotFollowed g_tell = nullptr;

template <class Function>
void find(Function*& function, const char* name) {
  if (!function) function = reinterpret_cast<Function*>(next_symbol(name));
}

void find_real() {
  if (g_real.posix_spawnp) return;
  const Reentry guard;
  find(g_real.execve, "execve");
  find(g_real.execvpe, "execvpe");
  find(g_real.fexecve, "fexecve");
  find(g_real.posix_spawn, "posix_spawn");
  find(g_real.posix_spawnp, "posix_spawnp");
}

__attribute__((constructor(102))) void find_early() { find_real(); }

// Runs `start(environment)`, which returns when the program could not be started (exec) or was (spawn: `returns_zero`).
template <class Start>
__attribute__((noinline)) int start_followed(const char* path, const char* obstacle, char* const* environment,
                                             Start start) {
  if (obstacle) {
    g_tell(path, obstacle, true);
    const int result = start(environment);
    if (result != 0) {
      const int saved_errno = errno;
      g_tell(path, obstacle, false);
      errno = saved_errno;
    }
    return result;
  }
  const size_t bytes = room_for_ours(environment);
  return start(bytes == 0 ? environment : with_ours(environment, alloca(bytes)));
}

bool follows() { return g_tell && program_runs(); }

}  // namespace

void follow_children(std::initializer_list<const char*> variables, NotFollowed tell) {
  find_real();
  remember_environment(variables);
  g_tell = tell;
}

int exec_path(const char* path, char* const argv[], char* const envp[]) {
  find_real();
  const auto start = [&](char* const* environment) { return g_real.execve(path, argv, environment); };
  return follows() ? start_followed(path, obstacle_in(AT_FDCWD, path), envp, start) : start(envp);
}

int exec_name(const char* name, char* const argv[], char* const envp[]) {
  find_real();
  const auto start = [&](char* const* environment) { return g_real.execvpe(name, argv, environment); };
  return follows() ? start_followed(name, obstacle_in_path(name), envp, start) : start(envp);
}

// Not every C library that we run with has this one.
int exec_at(int directory, const char* path, char* const argv[], char* const envp[], int flags) {
  const auto start = [&](char* const* environment) {
    return static_cast<int>(syscall(SYS_execveat, directory, path, argv, environment, flags));
  };
  return follows() ? start_followed(path, obstacle_in(directory, path), envp, start) : start(envp);
}

int exec_fd(int fd, char* const argv[], char* const envp[]) {
  find_real();
  const auto start = [&](char* const* environment) { return g_real.fexecve(fd, argv, environment); };
  return follows() ? start_followed("(a descriptor)", obstacle_in(fd, ""), envp, start) : start(envp);
}

int spawn_path(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
               const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  find_real();
  const auto start = [&](char* const* environment) {
    return g_real.posix_spawn(pid, path, actions, attributes, argv, environment);
  };
  return follows() ? start_followed(path, obstacle_in(AT_FDCWD, path), envp, start) : start(envp);
}

int spawn_name(pid_t* pid, const char* name, const posix_spawn_file_actions_t* actions,
               const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  find_real();
  const auto start = [&](char* const* environment) {
    return g_real.posix_spawnp(pid, name, actions, attributes, argv, environment);
  };
  return follows() ? start_followed(name, obstacle_in_path(name), envp, start) : start(envp);
}

int exec_list(const char* file, const char* first, va_list rest, ListEnds ends,
              int (*exec)(const char*, char* const[], char* const[])) {
  va_list counting;
  va_copy(counting, rest);
  size_t count = 0;
  for (const char* argument = first; argument; argument = va_arg(counting, const char*)) ++count;
  va_end(counting);
  auto** argv = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
  size_t n = 0;
  for (const char* argument = first; argument; argument = va_arg(rest, const char*))
    argv[n++] = const_cast<char*>(argument);
  argv[n] = nullptr;
  return exec(file, argv, ends == ListEnds::AtEnvironment ? va_arg(rest, char**) : environ);
}

}  // namespace gt::interpose
