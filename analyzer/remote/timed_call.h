// What each call of a trace is to a replay: whom it makes wait, what it moves, how long it takes.
//
// One TimedCall a shape: its calls' plan. They have the shape's mean times and sizes: costs are nearly linear in both,
// so a sum over many calls is the same, and a loop's iterations cost the same whatever their arguments. What differs
// from call to call (which queue, which events, whether it blocks) is read from the row of values.
//
// How calls travel (docs/ganalyze.md says it to users):
//   Local      answered by the client: queries of what it knows, arguments of kernels (they travel with the launch)
//   Post       sent, no answer: creations (the client invents the names), releases
//   Command    an enqueue: sent, no answer, unless it blocks
//   Reply      needs what only the device's machine knows: builds, contexts
//   Wait...    until a queue, events, or everything has ended
// Thread safety: immutable values.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct TimedCall {
  enum class Kind : uint8_t { Local, Post, Command, Reply, WaitQueue, WaitEvents, WaitAll, MakeQueue };
  enum class Engine : uint8_t { Kernel, ToDevice, FromDevice };
  enum class Sync : uint8_t { None, Marker, Barrier };  // a command that is there for the order of others
  // An object named by the call: the slot is the value with this index.
  struct Ref {
    model::ClassId cls = model::NoIndex;
    uint32_t value = 0;
    bool known() const { return cls != model::NoIndex; }
  };
  static constexpr uint32_t NoValue = 0xffffffff;

  Kind kind = Kind::Local;
  Engine engine = Engine::Kernel;
  Sync sync = Sync::None;
  double gap_ns = 0;     // the program's own time before the call; 0 when not recorded
  double host_ns = 0;    // in the call, waiting included
  double device_ns = 0;  // of its command
  double put_bytes = 0, get_bytes = 0;
  Ref queue, device;  // device: of a queue that is made
  Ref made_event;
  std::vector<Ref> waits;            // events
  uint32_t blocking = NoValue;       // value that says whether the call blocks
  std::vector<uint32_t> properties;  // values: of a queue that is made
  bool property_list = false;        // they are keys and values; else one bit field
};

// Why the plans may be wrong.
struct TimingDoubts {
  uint64_t untimed_commands = 0, commands = 0;
  bool user_events = false;  // taken as complete when they are made
};

// `gaps`: for each shape the program's own mean time before its calls; empty when not recorded.
std::vector<TimedCall> time_calls(const model::Trace& trace, const std::vector<double>& gaps, TimingDoubts& doubts);

}  // namespace gt::analyzer
