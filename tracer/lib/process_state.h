// Does a process live, and is it still the same one?
//
// From /proc/PID/stat: a zombie's memory and descriptors are gone although its number is not, and a number may belong
// to another process by now (its start time tells).
// Thread safety: yes. Allocates nothing; async-signal-safe.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gt::tracer {

struct ProcessState {
  char state = 0;           // 'R', 'S', 'Z', ...; 0: no such process
  uint64_t start_time = 0;  // in the kernel's ticks since boot
};

inline ProcessState process_state(int pid) {
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return {};
  text[n] = 0;
  // "pid (name) state ...": the name may hold anything, so the last parenthesis counts. Field 22 is the start time.
  const char* at = std::strrchr(text, ')');
  if (!at || at[1] != ' ') return {};
  ProcessState state{at[2], 0};
  at += 2;
  for (int field = 3; field < 22 && at; ++field) {
    at = std::strchr(at, ' ');
    if (at) ++at;
  }
  if (at) state.start_time = std::strtoull(at, nullptr, 10);
  return state;
}

// Without a /proc only the number can be asked for.
inline bool process_lives(int pid, uint64_t start_time) {
  const ProcessState state = process_state(pid);
  if (state.state == 0 && process_state(getpid()).state == 0) return kill(pid, 0) == 0 || errno != ESRCH;
  return state.state != 0 && state.state != 'Z' && state.state != 'X' && state.start_time == start_time;
}

}  // namespace gt::tracer
