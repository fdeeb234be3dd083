// Calls that tell the driver numbers and handles, and no more: encoded once, made again and again. They are what a
// launch-bound loop consists of, and what encoding and judging them costs would be most of a replay's own time.
//
// A shape is plain when nothing follows from its calls but the driver's answer: no memory of the program's, no object
// made or gone, no event, no contents, nobody called back. Of a plain call that ended as recorded are kept the row of
// values that it was made from, its encoded inputs and the driver's answer. A later row of the shape that differs only
// in numbers which stand in the encoded bytes as they are has these replaced; everything else in it must be the same.
// Rows that take turns (two buffers that are swapped) are kept beside each other.
// What is kept is void when a name has come to stand for another object (ReplayObjects::changes()).
// Thread safety: one object per thread.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tracer/gtrace/replay/call_encoder.h"
#include "tracer/gtrace/replay/opencl_library.h"
#include "tracer/gtrace/replay/shape_plan.h"

namespace gt::tracer {

struct PlainCall {
  std::vector<int64_t> row;
  std::vector<EncodedNumber> numbers;  // of the row, in `inputs`
  Bytes inputs, outputs;
  AnyFunction function = nullptr;
  uint64_t changes = 0;  // of names, when it was made
  uint64_t kernel = 0;   // of a launch, or an argument of one
};

class PlainCalls {
 public:
  PlainCalls(const model::Trace& trace, bool wanted) : trace_(trace), shapes_(wanted ? trace.shapes.size() : 0) {}

  // The kept call with these values in it; nullptr: there is none.
  const PlainCall* find(model::ShapeId shape, std::span<const int64_t> values, uint64_t changes);
  bool is_plain(model::ShapeId shape, const ShapePlan& plan);
  // REQUIRES: is_plain().
  void keep(model::ShapeId shape, PlainCall call);

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
  static bool take_values(PlainCall& call, std::span<const int64_t> values);

  const model::Trace& trace_;
  std::vector<OfShape> shapes_;
};

}  // namespace gt::tracer
