// --capture-range, --capture-kernel: is this call one of those whose data is kept?
//
// Range: the calls from the A-th to the B-th of the thread whose OpenCL calls began first, as gtrace expand numbers
// them (those that it makes in callbacks are another stream's), and what other threads call between these two. Kernel:
// one launch. Without either, every call is.
// Thread safety: any thread; no lock. Cost: a comparison for each call where nothing is chosen.
#pragma once

#include <CL/cl.h>

#include <cstdint>

#include "tracer/lib/recorder.h"

namespace gt::tracer {

// Of the call under way. Whoever lets the program run within it (a callback) puts it back.
struct CallChoice {
  bool chosen = false;
  bool in_callback = false;  // of the driver's: whoever waits there for a command may wait for ever
};
extern __thread CallChoice t_choice __attribute__((tls_model("initial-exec")));

inline bool capture_on() { return spool()->capture != Capture::None; }
inline bool chooses() { return spool()->choice.part != CapturePart::All; }
// Is the data of the call under way kept? REQUIRES: choose() was asked.
inline bool capturing() { return capture_on() && (!chooses() || t_choice.chosen); }
inline bool keeping_contents() { return spool()->capture == Capture::Full; }
// Is what it wrote on the device read back?
inline bool reading_back() { return chooses() ? t_choice.chosen : spool()->choice.results != 0; }

// A call begins whose Enter record is written. `kernel`: that it launches; nullptr: it launches none. `command`: it is
// enqueued.
void choose(const Ring& ring, uint16_t fn, cl_kernel kernel, bool command) noexcept;

}  // namespace gt::tracer
