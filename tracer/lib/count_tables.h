// The memory of the tables in which threads count calls (call_counts.h), as a traced process sees it.
//
// Thread safety: all functions; a thread's own table.
#pragma once

#include "tracer/lib/call_counts.h"
#include "tracer/lib/ring.h"

namespace gt::tracer {

extern __thread CallCounts* t_counts __attribute__((tls_model("initial-exec")));  // nullptr: the thread has none

// Once, while the process has one thread. False: there is no room for them.
bool map_count_tables(const SpoolHeader& spool, const char* path);
// The thread has this ring from here on, and its table, if tables are mapped and there is memory for it; or none.
void take_counts(const Ring& ring);
inline void leave_counts() { t_counts = nullptr; }

}  // namespace gt::tracer
