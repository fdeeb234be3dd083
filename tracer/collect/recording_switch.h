// Switching a recording off and on while it runs, from whichever process: gtrace, gtrace ctl, a signal handler.
//
// Thread safety: yes. Async-signal-safe.
#pragma once

#include "tracer/lib/spool.h"

namespace gt::tracer {

// False: it was not recording (any more). Calls that are under way are still recorded to their end.
inline bool pause_recording(SpoolHeader& spool) {
  uint32_t expected = RecordingOn;
  if (!spool.off.compare_exchange_strong(expected, RecordingPaused)) return false;
  spool.pauses.fetch_add(1);
  return true;
}

// False: it was not paused.
inline bool resume_recording(SpoolHeader& spool) {
  uint32_t expected = RecordingPaused;
  return spool.off.compare_exchange_strong(expected, RecordingOn);
}

}  // namespace gt::tracer
