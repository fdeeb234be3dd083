// --max-size: how much of an irregular program's trace is kept.
//
// What a regular program takes does not grow; what does is left out in this order, never silently:
//   1. columns of values (not of trip counts, which are structure) keep their number, least and greatest value;
//   2. then the calls themselves, oldest first, of the largest streams first: of those only how many there were of
//      each shape is kept (Node::Kind::Summary).
// Statistics (ShapeStats) count every call whatever happens here. Tables of names (sites, classes, blobs, shapes) are
// never cut: a program with more names than the limit has room for gets a larger trace, and is told so.
// Cost: a look at every stream now and then. Thread safety: none.
#pragma once

#include <cstdint>
#include <span>

#include "traces/model/fold/event.h"
#include "traces/model/fold/fold.h"

namespace gt::tracer {

class SizeBudget {
 public:
  explicit SizeBudget(uint64_t max_bytes = 0) : max_bytes_(max_bytes) {}  // 0: everything is kept

  bool limited() const { return max_bytes_ != 0; }
  uint64_t max_bytes() const { return max_bytes_; }
  // Leaves out what does not fit beside `tables` and the contents, which have a file of their own.
  void enforce(std::span<model::Folder* const> streams, const model::Trace& tables, uint64_t content_bytes = 0) const;

 private:
  uint64_t max_bytes_;
};

// Bytes of everything but the streams in a file, about.
uint64_t table_bytes(const model::Trace& trace);

// What was left out, for the trace's facts.
struct Summarised {
  uint64_t values = 0, calls = 0, memory_calls = 0;
};
Summarised summarised(const model::Trace& trace);

}  // namespace gt::tracer
