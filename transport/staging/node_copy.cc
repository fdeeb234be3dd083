#include "transport/staging/node_copy.h"

#include <pthread.h>

#include <algorithm>

#include "traces/base/clock.h"
#include "traces/base/processors.h"
#include "transport/staging/copy_threads.h"
#include "transport/staging/machine_load.h"

namespace gt::staging {
namespace {

constexpr unsigned MostHelpers = 7;  // 8 threads saturate a PCIe 5 link

// Its threads end with the process: a destructor would wait for them, in a forked child for ever.
union CopyThreadsForEver {
  constexpr CopyThreadsForEver() : copy_threads() {}
  ~CopyThreadsForEver() {}
  CopyThreads copy_threads;
};
constinit CopyThreadsForEver g_for_ever;
constinit CopyThreads& g_copy_threads = g_for_ever.copy_threads;
constinit MachineLoad g_load;
pthread_once_t g_once = PTHREAD_ONCE_INIT;

unsigned idle_processors(unsigned ours) { return g_load.idle(ours, monotonic_ns(), running_threads); }

void start() {
  const unsigned processors = usable_processors();
  g_load.open(processors);
  g_copy_threads.start(std::min(MostHelpers, processors / 2), idle_processors);
}

}  // namespace

void copy_in_node(void* to, const void* from, size_t bytes) noexcept {
  ::pthread_once(&g_once, start);
  Copy what;
  what.to = static_cast<char*>(to);
  what.from = static_cast<const char*>(from);
  what.row_bytes = bytes;
  what.programs = Programs::Both;  // as far as anybody knows here
  g_copy_threads.copy(what);
}

}  // namespace gt::staging
