// The folded program as nested blocks, for drawing: what each thread called, in its order, loops as
// blocks around their bodies.
//
// A folded trace knows no instants: where a block stands says when it came relative to the others
// of its thread, and its width is the time that all its executions took together. Thread safety:
// values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

// Calls in a stretch: of one shape, through one queue.
struct StretchCalls {
  model::ShapeId shape = 0;
  uint32_t queue = model::NoIndex;  // into FoldedTimeline::queues
  uint64_t calls = 0;
};

struct TimelineBlock {
  enum class Kind : uint8_t {
    Call,
    Loop,
    Stretch,  // calls that did not repeat, or that the trace only counts: how many of each
    Rest,     // neighbours left out because there are too many blocks: likewise
  };
  Kind kind = Kind::Call;
  uint32_t depth = 0;                // blocks around it
  uint64_t times = 0;                // Call: executions; Loop: iterations of all entries together
  uint64_t entered = 0;              // Loop
  model::ShapeId shape = model::NoIndex;  // Call
  uint32_t queue = model::NoIndex;   // Call: into FoldedTimeline::queues
  uint64_t blocks = 0;               // Rest: how many were left out
  std::vector<StretchCalls> calls;   // Stretch, Rest
  uint64_t host_ns = 0, device_ns = 0;  // all executions, with what is inside
};

struct TimelineTrack {
  model::ThreadId thread = 0;
  std::vector<TimelineBlock> blocks;  // pre-order
};

// What the calls of a shape have in common.
struct TimelineShape {
  model::ShapeId shape = 0;
  std::string function, place;
  std::string kernel;  // of a launch
  const char* role = "other";  // "h2d", "d2h", "d2d", "kernel", "wait", "build", "other"
  double host_ns = 0, device_ns = 0, bytes = 0;  // of one call, on average
};

struct FoldedTimeline {
  std::vector<std::string> queues;  // "q0"
  std::vector<TimelineShape> shapes;  // those that the blocks name, by shape
  std::vector<TimelineTrack> tracks;  // threads that called OpenCL
  uint64_t left_out = 0;              // blocks
};

}  // namespace gt::analyzer
