// The rare half: when to count, and rows that are not where they are looked for first.
#include "tracer/lib/call_counter.h"

#include <dlfcn.h>

#include <cstdlib>

#include "traces/base/reentry.h"

namespace gt::tracer {

__thread ResizedBlock t_resized __attribute__((tls_model("initial-exec"))) = {};

namespace detail {
uint64_t g_listed_from = 0;
}

namespace {

void* module_of(void* function) {
  Dl_info info;
  return dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

// Does malloc_usable_size belong to the allocator whose malloc is called? Another one's would read what is not there.
// A function whose entry was patched is called through a trampoline, which is in no module: then it is the program's
// own allocator, and its function has taken the place of libc's.
bool sizes_are_known() {
  void* const sizes = interpose::libc.usable_size.address();
  void* const allocator = module_of(interpose::libc.malloc.address());
  if (allocator) return module_of(sizes) == allocator;
  return sizes != interpose::next_symbol("malloc_usable_size");
}

CallCount& find_count(CallCounts& counts, uint64_t key) {
  for (uint32_t i = 0, at = first_row(key); i < CallCounts::MostProbes; ++i, ++at) {
    CallCount& row = counts.rows[at % CallCounts::Rows];
    const uint64_t there = row.key.load(std::memory_order_relaxed);
    if (there == 0) row.key.store(key, std::memory_order_release);
    if (there == 0 || there == key) return row;
  }
  return counts.others;
}

}  // namespace

void begin_counting() {
  const char* const path = std::getenv(SpoolVariable);
  if (!recording_memory() || spool()->listed_from == 0 || !path) return;
  const Reentry guard;
  interpose::resolve_libc();
  if (!sizes_are_known() || !map_count_tables(*spool(), path)) {
    detail::g_spool->uncounted_processes.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  detail::g_listed_from = spool()->listed_from;
  if (const Ring* const ring = this_ring()) take_counts(*ring);
}

bool count_slowly(uint64_t key, uint64_t bytes) {
  if (!t_counts) this_ring();
  CallCounts* const counts = t_counts;
  if (!counts) return false;
  find_count(*counts, key).add(bytes);
  return true;
}

}  // namespace gt::tracer
