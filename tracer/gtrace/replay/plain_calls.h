// Calls that tell the driver numbers and handles, and no more: prepared once (prepared_call.h), made again and again.
// They are what a launch-bound loop consists of, and what encoding and judging them costs would be most of a replay's
// own time.
//
// A shape is plain when nothing follows from its calls but the driver's answer: no memory of the program's, no object
// made or gone, no event, no contents, nobody called back. Of a plain call that ended as recorded are kept the row of
// values that it was made from, its arguments and the driver's answer. A later row of the shape that differs only in
// numbers which stand in the arguments as they are has these replaced; everything else in it must be the same.
// Rows that take turns (two buffers that are swapped) are kept beside each other. Where the folded trace says of a loop
// that nothing but such numbers varies in its calls, the others are compared once (find_all()).
// What is kept is void when a name has come to stand for another object (ReplayObjects::changes()).
// Thread safety: one object per thread.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "tracer/gtrace/replay/opencl_library.h"
#include "tracer/gtrace/replay/shape_plan.h"
#include "traces/api/prepared_call.h"
#include "traces/model/folded/rounds.h"

namespace gt::tracer {

struct PlainCall {
  struct Number {
    uint16_t value = 0, size = 0;  // of the row; its first bytes
    void* place = nullptr;         // among the arguments
  };
  std::vector<int64_t> row;
  std::vector<Number> numbers;  // that may differ
  std::vector<uint16_t> fixed;  // the values that may not: the others (keep() finds them)
  AnyFunction function = nullptr;
  std::unique_ptr<api::PreparedCall> call;
  int32_t answer = 0;
  uint64_t changes = 0;  // of names, when it was made
  uint64_t kernel = 0;   // of a launch, or an argument of one
  model::ShapeId shape = 0;
  model::FnId fn = 0;
  bool waits = false;    // until what was enqueued is done
};

// One of a loop's calls: what is needed each time stands together. Valid as long as its Rounds and what is kept.
struct PlainStep {
  PlainCall* kept = nullptr;
  api::PreparedCall* call = nullptr;
  const int64_t* row = nullptr;  // its values in this round
  int32_t answer = 0;
  model::FnId fn = 0;
  bool waits = false;  // until what was enqueued is done
  bool reads = false;  // some of its values vary
  std::vector<PlainCall::Number> moving;  // those that are not what they were a round ago
};

class PlainCalls {
 public:
  PlainCalls(const model::Trace& trace, bool wanted) : trace_(trace), shapes_(wanted ? trace.shapes.size() : 0) {}

  // The kept call with these values in it; nullptr: there is none.
  PlainCall* find(model::ShapeId shape, std::span<const int64_t> values, uint64_t changes);
  // Those of a loop's calls, in their order, whose moving numbers the caller takes; false: some are not kept, or differ
  // in more.
  bool find_all(const model::Rounds& rounds, uint64_t changes, std::vector<PlainStep>& steps);
  bool is_plain(model::ShapeId shape, const ShapePlan& plan);
  // It is not, after all.
  void give_up(model::ShapeId shape) { shapes_[shape] = {Plain::No, nullptr}; }
  // REQUIRES: its shape is_plain().
  void keep(PlainCall call);

 private:
  static constexpr size_t MostRows = 4, MostInVain = 64;
  enum class Plain : uint8_t { Unknown, No, Yes };
  struct Kept {
    std::array<std::unique_ptr<PlainCall>, MostRows> rows;
    size_t next = 0;             // of all that were kept
    size_t next_when_found = 0;  // the last time that one was of use
  };
  struct OfShape {
    Plain plain = Plain::Unknown;
    std::unique_ptr<Kept> kept;
  };
  const model::Trace& trace_;
  std::vector<OfShape> shapes_;
};

inline void take_number(PlainCall& call, const PlainCall::Number& n, int64_t value) {
  int64_t& known = call.row[n.value];
  if (value == known) return;
  known = value;
  switch (n.size) {  // copies of a size that is known cost no call
    case 4: std::memcpy(n.place, &known, 4); break;
    case 8: std::memcpy(n.place, &known, 8); break;
    default: std::memcpy(n.place, &known, n.size);
  }
}

inline void take_numbers(const PlainStep& step) {
  for (const PlainCall::Number& n : step.moving) take_number(*step.kept, n, step.row[n.value]);
}

}  // namespace gt::tracer
