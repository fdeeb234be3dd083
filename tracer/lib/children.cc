#include "tracer/lib/children.h"

#include <cstring>

#include "tracer/interpose/entry_patch.h"
#include "tracer/interpose/exec_hooks.h"
#include "tracer/interpose/real_library.h"
#include "tracer/lib/recorder.h"

namespace gt::tracer {

namespace {

// Between vfork and exec: nothing but stores to shared memory.
void note_not_followed(const char* path, const char* obstacle, bool started) {
  SpoolHeader* header = detail::g_spool;
  if (!recording()) return;
  if (!started) {
    header->not_followed.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  header->not_followed.fetch_add(1, std::memory_order_relaxed);
  if (header->not_followed_named.exchange(1, std::memory_order_relaxed) != 0) return;
  char* at = header->not_followed_first;
  const auto append = [&](const char* text) {
    const char* const end = header->not_followed_first + sizeof header->not_followed_first - 1;
    while (*text && at < end) *at++ = *text++;
  };
  append(path);
  append(" (");
  append(obstacle);
  append(")");
}

}  // namespace

void follow_children() {
  if (!spool()) return;
  interpose::follow_children({SpoolVariable, interpose::RealLibraryVariable, interpose::EntryPlanVariable},
                             &note_not_followed);
}

}  // namespace gt::tracer
