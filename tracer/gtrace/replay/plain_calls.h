// Calls that tell the driver numbers and handles, and no more: prepared once (prepared_call.h), made again and again.
// They are what a launch-bound loop consists of, and what encoding and judging them costs would be most of a replay's
// own time.
//
// A shape is plain when nothing follows from its calls but the driver's answer: no memory of the program's, no object
// made or gone, no event, no contents, nobody called back. Of a plain call that ended as recorded are kept the row of
// values that it was made from, its arguments and the driver's answer. A later row of the shape that differs only in
// numbers which stand in the arguments as they are has these replaced; everything else in it must be the same.
// Rows that take turns (two buffers that are swapped) are kept beside each other. Where a node of the folded trace says
// that nothing but such numbers varies in its calls, the others are compared once.
// What is kept is void when a name has come to stand for another object (ReplayObjects::changes()).
// Thread safety: one object per thread.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "tracer/gtrace/base/walk.h"
#include "tracer/gtrace/replay/opencl_library.h"
#include "tracer/gtrace/replay/shape_plan.h"
#include "traces/api/prepared_call.h"

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
  uint64_t bound_at = 0;  // among calls of which it was not noted yet what they bound; 0: it was
};

class PlainCalls {
 public:
  PlainCalls(const model::Trace& trace, bool wanted) : trace_(trace), shapes_(wanted ? trace.shapes.size() : 0) {}

  // The kept call with these values in it; nullptr: there is none.
  PlainCall* find(const WalkedEvent& e, uint64_t changes);
  bool is_plain(model::ShapeId shape, const ShapePlan& plan);
  // It is not, after all.
  void give_up(model::ShapeId shape) {
    of_nodes_ = {};
    shapes_[shape] = {Plain::No, nullptr};
  }
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
  struct OfNode {
    const model::Node* node = nullptr;
    PlainCall* call = nullptr;
  };
  OfNode& of(const model::Node* node) {
    return of_nodes_[reinterpret_cast<uintptr_t>(node) / sizeof(model::Node) % of_nodes_.size()];
  }
  PlainCall* find_row(const WalkedEvent& e, uint64_t changes);

  const model::Trace& trace_;
  std::vector<OfShape> shapes_;
  std::array<OfNode, 64> of_nodes_;  // the last nodes whose calls differ in nothing else
};

inline void take_numbers(PlainCall& call, std::span<const int64_t> values) {
  for (const PlainCall::Number& n : call.numbers) {
    if (values[n.value] == call.row[n.value]) continue;
    call.row[n.value] = values[n.value];
    std::memcpy(n.place, &values[n.value], n.size);
  }
}

inline PlainCall* PlainCalls::find(const WalkedEvent& e, uint64_t changes) {
  if (shapes_.empty() || !shapes_[e.shape].kept) return nullptr;
  const OfNode& known = of(e.node);
  if (!e.node || known.node != e.node || known.call->changes != changes) return find_row(e, changes);
  take_numbers(*known.call, e.values);
  return known.call;
}

}  // namespace gt::tracer
