// The events of a stream in order, with their numbers and times; whole loops that nobody wants are skipped unseen.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "traces/base/status.h"
#include "traces/model/fold/event.h"
#include "traces/model/folded/rounds.h"
#include "traces/model/folded/timeline.h"

namespace gt::tracer {

struct WalkedEvent {
  uint64_t number = 0;  // in its stream, from 1
  model::ShapeId shape = 0;
  std::span<const int64_t> values;
  std::optional<model::EventTime> time;        // with a timeline
  std::optional<model::CommandTime> command;  // on the device, if it was timed
};

struct Walk {
  // The top-level node whose calls are [first, last]: is it to be unfolded? REQUIRES: set.
  std::function<bool(const model::Node&, uint64_t first, uint64_t last)> wanted;
  // False stops the walk. REQUIRES: set.
  std::function<bool(const WalkedEvent&)> visit;
  // A summary: calls that --max-size left out, from number `first` on. False stops the walk. May be empty.
  std::function<bool(const model::Node&, uint64_t first)> left_out;
  bool timeless = false;  // nobody needs times, so they are not read
  // Loops of calls alone, the next of which is call `number`: those that it reads are not visited. Only where no times
  // are read. False stops the walk. May be empty.
  std::function<bool(model::Rounds&, uint64_t number)> rounds;
};

// Corrupt: the nodes do not unfold, or the timeline ends early.
Status walk_stream(const model::Trace& trace, const model::Stream& stream, const Walk& walk);

}  // namespace gt::tracer
