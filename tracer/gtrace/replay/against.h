// Two replays of one recording in step, on two devices, up to the first launch whose outputs differ.
//
//   replay on A ──┐ launches, hashes of what they wrote
//                 ├──> compare_in_step() ──> go on, or the bytes of an output
//   replay on B ──┘
//
// Each replay is a process of its own: drivers do not meet, and each may crash. Only what has another hash travels.
// Thread safety: none.
#pragma once

#include <array>
#include <string>

#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/replay/step_side.h"

namespace gt::tracer {

struct AgainstOutcome {
  enum class Kind : uint8_t {
    Same,
    Differs,
    OnlyOne,  // `side` makes a launch that the other one does not make
    Failed,   // `side` could not go on: `failure` says why
    Crashed,  // `side` was ended by a signal, as `failure` and its process have said
  } kind = Kind::Same;
  std::array<StepSide, 2> sides;
  bool contents = false;
  uint64_t launches = 0, bytes = 0;  // that are the same
  uint64_t unseen = 0;               // of these launches: not compared, since they may wait for the program
  size_t side = 0;
  Status failure;
  int exit_status = 0;
  LaunchReport launch;    // Differs, OnlyOne
  OutputReport output;    // Differs
  Difference difference;  // expected: A's
};

AgainstOutcome compare_in_step(const OpenedTrace& opened, const AgainstOptions& options);

// REQUIRES: neither Failed nor Crashed.
std::string against_report(const OpenedTrace& opened, const AgainstOutcome& outcome, bool json);

// gtrace replay --against; gives the exit status.
int replay_against(const OpenedTrace& opened, const AgainstOptions& options, bool json);

}  // namespace gt::tracer
