// Values of a series at any execution, without going through the executions before it.
//
// A series' value follows from the counters of the loops around it and from how often each of them was entered;
// a column is read on from where it was last read. So a replay may leave out iterations.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "traces/model/series/series.h"

namespace gt::analyzer {

// A loop that is being executed.
struct LoopFrame {
  uint64_t entered = 0;  // how often it had been entered before
  uint64_t counter = 0;
};

class SeriesValues {
 public:
  // `executions`: how often the value's node was executed before. `frames`: the loops around it, outermost first.
  int64_t at(const model::Series& series, const std::vector<LoopFrame>& frames, uint64_t executions) {
    return at(series, frames, frames.size(), executions);
  }

 private:
  struct Position {
    model::ColumnReader reader;
    uint64_t next = 0;
    int64_t value = 0;
  };
  int64_t at(const model::Series& series, const std::vector<LoopFrame>& frames, size_t depth, uint64_t executions);
  int64_t column(const model::Column& column, uint64_t index);

  std::unordered_map<const model::Column*, Position> columns_;
};

}  // namespace gt::analyzer
