// The functions by which a program becomes another one, or starts one: with what leads us there in its environment.
//
// GT_DEFINE_EXEC_HOOKS() expands to the exported exec family and posix_spawn. The program's own environment, arguments
// and errors stay what they are; the new program's environment gets what child_environment.h says, on the caller's
// stack. What the driver starts (compilers, linkers) is left alone. Works between vfork and exec.
// Thread safety: all functions, after follow_children().
#pragma once

#include <spawn.h>
#include <unistd.h>

#include <cstdarg>
#include <initializer_list>

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// Told of a program that cannot be followed, before it starts: its path and a few words; and again, with `started`
// false, if it was not started after all. Called between vfork and exec.
using NotFollowed = void (*)(const char* path, const char* obstacle, bool started);

// From now on. The first of `variables`, the program's environment, names the recording (child_environment.h).
void follow_children(std::initializer_list<const char*> variables, NotFollowed tell);

// The C library's functions, for programs that are to be followed.
int exec_path(const char* path, char* const argv[], char* const envp[]);
int exec_name(const char* name, char* const argv[], char* const envp[]);  // looked for in PATH
int exec_at(int directory, const char* path, char* const argv[], char* const envp[], int flags);
int exec_fd(int fd, char* const argv[], char* const envp[]);
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[],
                  char* const[]);
Spawn spawn_path, spawn_name;

enum class ListEnds { AtNull, AtEnvironment };
// execl and its like: the arguments from `first` on; `exec` is one of the above.
int exec_list(const char* file, const char* first, va_list rest, ListEnds ends,
              int (*exec)(const char*, char* const[], char* const[]));

}  // namespace gt::interpose

#pragma GCC visibility pop

#define GT_EXEC_HOOK(NAME) extern "C" __attribute__((visibility("default"))) int NAME
#define GT_EXEC_LIST(NAME, ENDS, EXEC)                                                                             \
  GT_EXEC_HOOK(NAME)(const char* file, const char* first, ...) noexcept {                                          \
    va_list rest;                                                                                                  \
    va_start(rest, first);                                                                                         \
    const int error = ::gt::interpose::exec_list(file, first, rest, ::gt::interpose::ListEnds::ENDS,               \
                                                 &::gt::interpose::EXEC);                                          \
    va_end(rest);                                                                                                  \
    return error;                                                                                                  \
  }

#define GT_DEFINE_EXEC_HOOKS()                                                                                     \
  GT_EXEC_HOOK(execve)(const char* path, char* const argv[], char* const envp[]) noexcept {                        \
    return ::gt::interpose::exec_path(path, argv, envp);                                                           \
  }                                                                                                                \
  GT_EXEC_HOOK(execv)(const char* path, char* const argv[]) noexcept {                                             \
    return ::gt::interpose::exec_path(path, argv, environ);                                                        \
  }                                                                                                                \
  GT_EXEC_HOOK(execvp)(const char* file, char* const argv[]) noexcept {                                            \
    return ::gt::interpose::exec_name(file, argv, environ);                                                        \
  }                                                                                                                \
  GT_EXEC_HOOK(execvpe)(const char* file, char* const argv[], char* const envp[]) noexcept {                       \
    return ::gt::interpose::exec_name(file, argv, envp);                                                           \
  }                                                                                                                \
  GT_EXEC_HOOK(execveat)(int at, const char* path, char* const argv[], char* const envp[], int flags) noexcept {   \
    return ::gt::interpose::exec_at(at, path, argv, envp, flags);                                                  \
  }                                                                                                                \
  GT_EXEC_HOOK(fexecve)(int fd, char* const argv[], char* const envp[]) noexcept {                                 \
    return ::gt::interpose::exec_fd(fd, argv, envp);                                                               \
  }                                                                                                                \
  GT_EXEC_LIST(execl, AtNull, exec_path)                                                                           \
  GT_EXEC_LIST(execle, AtEnvironment, exec_path)                                                                   \
  GT_EXEC_LIST(execlp, AtNull, exec_name)                                                                          \
  GT_EXEC_HOOK(posix_spawn)(pid_t * pid, const char* path, const posix_spawn_file_actions_t* actions,              \
                            const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {         \
    return ::gt::interpose::spawn_path(pid, path, actions, attributes, argv, envp);                                \
  }                                                                                                                \
  GT_EXEC_HOOK(posix_spawnp)(pid_t * pid, const char* file, const posix_spawn_file_actions_t* actions,             \
                             const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {        \
    return ::gt::interpose::spawn_name(pid, file, actions, attributes, argv, envp);                                \
  }
