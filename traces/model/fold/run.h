// Runs: stretches of events that did not fold, as compressed columns.
//
// Packed (pack.h): varint(events), varint(shapes), the shapes' ids; for every event the index of
// its shape among them; then shape by shape and value by value, the deltas of that value over the
// shape's events.
//
// Summaries: stretches of which only the number of calls of each shape was kept (--max-size). Packed: varint(shapes),
// then for each, in the order of their ids, varint(shape), varint(calls).
// Thread safety: one RunBuilder per thread; functions are independent.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::model {

struct PushedEvent {
  ShapeId shape = 0;
  std::vector<int64_t> values;
  bool operator==(const PushedEvent&) const = default;
};

using ShapeCounts = std::map<ShapeId, uint64_t>;  // calls of each shape
// False: no more events, please.
using EventVisitor = std::function<bool(ShapeId, std::span<const int64_t>)>;

class RunBuilder {
 public:
  static constexpr size_t MaxEvents = 64 << 10;
  static constexpr size_t MaxValues = 1 << 20;

  void append(ShapeId shape, std::span<const int64_t> values);
  bool empty() const { return order_.empty(); }
  bool full() const { return order_.size() >= MaxEvents || values_ >= MaxValues; }
  size_t memory_bytes() const {
    return order_.size() * sizeof order_[0] + values_ * sizeof(int64_t);
  }
  Node node() const;  // REQUIRES: not empty
  void clear();

 private:
  struct Rows {
    ShapeId shape;
    size_t width;                 // values per event
    std::vector<int64_t> values;  // event by event
  };
  std::vector<Rows> shapes_;
  std::vector<uint32_t> index_;  // by shape: its place in shapes_, plus one
  std::vector<uint32_t> order_;
  size_t values_ = 0;
};

Node make_summary(const ShapeCounts& counts);  // REQUIRES: not empty

// The events of one Run node. False when damaged.
bool expand_run(const Node& run, std::span<const int> value_counts, const EventVisitor& visit);

// What one Summary node says: each shape and the number of its calls. False when damaged; `shapes`: in the trace.
bool expand_summary(const Node& summary, size_t shapes, const std::function<void(ShapeId, uint64_t)>& visit);

}  // namespace gt::model
