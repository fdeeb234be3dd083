// At the end of a process that made no OpenCL call that we saw: what it had loaded, for `gtrace run` to look into.
//
// The list that was recorded with the first record is too old: libraries come and go while a program runs.
#include "tracer/interpose/loaded_modules.h"
#include "tracer/lib/recorder.h"
#include "tracer/lib/traced.h"

namespace gt::tracer {

namespace {

// Children that recorded nothing (a compiler, a shell) stay out of the trace.
__attribute__((destructor)) void record_what_was_loaded() {
  if (g_prepared || !recording() || !t_ring || !interpose::modules_changed()) return;
  const Reentry guard;
  record_modules();
}

}  // namespace

}  // namespace gt::tracer
