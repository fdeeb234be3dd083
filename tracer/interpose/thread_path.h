// Which thread is this, in terms that do not depend on who ran first?
//
// A thread is its creator's path and one number more: its thread slot among the threads that its creator started
// (thread_slots.h). Threads of which one ended before the other began may have the same path: to the trace they are
// one. The threads of a driver (muted: threads.h) have thread slots of their own, with the bit Driver set, so that they
// come after the program's and do not shift them. A child after fork() goes on with its creator's path: processes tell
// them apart.
// Cost: one TLS block of some 80 bytes, written when a thread starts.
// Thread safety: thread-local; another thread's path is copied before that thread runs.
#pragma once

#include <cstdint>

namespace gt::interpose {

struct ThreadPath {
  static constexpr uint32_t MostDepth = 16;  // threads below share the path of their ancestor at this depth
  static constexpr uint32_t Driver = 1u << 31;

  uint32_t depth = 0;  // of a process's first thread
  uint32_t step[MostDepth] = {};

  ThreadPath child(uint32_t thread_slot) const {
    ThreadPath path = *this;
    if (depth < MostDepth) path.step[path.depth++] = thread_slot;
    return path;
  }
};

extern __thread ThreadPath t_path __attribute__((tls_model("initial-exec")));

}  // namespace gt::interpose
