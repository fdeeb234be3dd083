// The four forms, read one value at a time.
#include "traces/model/series/series_cursor.h"

namespace gt::model {

struct SeriesCursor::Line {
  SeriesCursor base, step;
  int64_t first = 0, by = 0;
};

SeriesCursor::SeriesCursor(const Series& series, size_t depth) : series_(&series), depth_(depth) {
  const bool ranges = depth > 0;  // without a loop around it only a constant makes sense
  if (ranges && series.kind == Series::Kind::Affine) {
    line_ = std::make_shared<Line>(Line{{series.base(), depth - 1}, {series.step(), depth - 1}});
  } else if (ranges && series.kind == Series::Kind::Column) {
    reader_ = std::make_shared<ColumnReader>(series.column());
  }
}

bool SeriesCursor::begin(size_t level, const std::vector<uint64_t>& counters) {
  if (series_->kind == Series::Kind::Const) return true;
  if (!line_) return true;
  if (level < depth_)
    return line_->base.begin(level, counters) && line_->step.begin(level, counters);
  return line_->base.value(counters, line_->first) && line_->step.value(counters, line_->by);
}

bool SeriesCursor::value(const std::vector<uint64_t>& counters, int64_t& out) {
  switch (series_->kind) {
    case Series::Kind::Const:
      out = series_->value;
      return true;
    case Series::Kind::Affine:
      if (!line_) return false;
      if (line_->first == Unkept || line_->by == Unkept) {
        out = Unkept;
        return true;
      }
      out = static_cast<int64_t>(static_cast<uint64_t>(line_->first) +
                                 static_cast<uint64_t>(line_->by) * counters[depth_ - 1]);
      return true;
    case Series::Kind::Periodic:
      if (depth_ == 0) return false;
      out = series_->values()[position_];
      if (++position_ == series_->values().size()) position_ = 0;
      return true;
    case Series::Kind::Column:
      return reader_ && reader_->next(out);
  }
  return false;
}

}  // namespace gt::model
