// The four forms.
#include "analyzer/remote/replay_values.h"

namespace gt::analyzer {

int64_t SeriesValues::at(const model::Series& s, const std::vector<LoopFrame>& frames, size_t depth,
                         uint64_t executions) {
  using Kind = model::Series::Kind;
  if (s.kind == Kind::Const || depth == 0) return s.value;
  if (s.kind == Kind::Periodic) return s.values()[executions % s.values().size()];
  if (s.kind == Kind::Column) return column(s.column(), executions);
  const LoopFrame& loop = frames[depth - 1];
  const auto base = static_cast<uint64_t>(at(s.base(), frames, depth - 1, loop.entered));
  const auto step = static_cast<uint64_t>(at(s.step(), frames, depth - 1, loop.entered));
  return static_cast<int64_t>(base + step * loop.counter);
}

int64_t SeriesValues::column(const model::Column& column, uint64_t index) {
  auto [at, fresh] = columns_.try_emplace(&column, Position{model::ColumnReader(column)});
  Position& p = at->second;
  if (index + 1 < p.next) p = Position{model::ColumnReader(column)};
  while (p.next <= index && p.reader.next(p.value)) ++p.next;
  return p.value;
}

}  // namespace gt::analyzer
