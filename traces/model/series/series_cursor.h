// Reads a Series in order of execution.
//
// For a series of depth d, `counters` holds the counters of the enclosing loops, outermost first.
// Whoever walks the loops calls begin(k) each time that loop k (1: outermost) is entered, before
// its first iteration and also when it has none; then value() once per execution. Damage shows as
// false: a column too short, a form deeper than the loops around it. REQUIRES: the Series outlives it.
// Ownership: a copy shares what was read of columns and of outer loops, so only one of the two may go on.
#pragma once

#include <memory>
#include <vector>

#include "traces/model/series/series.h"

namespace gt::model {

class SeriesCursor {
 public:
  SeriesCursor(const Series& series, size_t depth);

  bool begin(size_t level, const std::vector<uint64_t>& counters);
  bool value(const std::vector<uint64_t>& counters, int64_t& out);

 private:
  struct Line;  // Affine
  const Series* series_;
  size_t depth_;
  uint64_t position_ = 0;  // Periodic
  std::shared_ptr<Line> line_;
  std::shared_ptr<ColumnReader> reader_;
};

}  // namespace gt::model
