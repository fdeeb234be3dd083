// A walk that collects.
#include "analyzer/calls/seen_values.h"

#include "traces/model/fold/fold.h"

namespace gt::analyzer {
namespace {

using model::Series;

void add(SeenValues& seen, int64_t value) {
  if (value == model::Unkept || (seen.values.size() >= SeenValues::Most && !seen.values.count(value))) {
    seen.more = true;
  } else {
    seen.values.insert(value);
  }
}

void add(SeenValues& seen, const Series& s) {
  if (s.kind == Series::Kind::Const) add(seen, s.value);
  if (s.kind == Series::Kind::Periodic)
    for (const int64_t v : s.values()) add(seen, v);
  if (s.kind == Series::Kind::Affine) seen.more = true;
  if (s.kind != Series::Kind::Column) return;
  model::ColumnReader reader(s.column());
  int64_t value = 0;
  for (uint64_t i = 0; i < s.column().size && !seen.more && reader.next(value); ++i) add(seen, value);
}

class Search {
 public:
  Search(const model::Trace& trace, const std::set<model::ShapeId>& wanted) : wanted_(trace.shapes.size()) {
    for (const model::Shape& s : trace.shapes) value_counts_.push_back(s.values());
    for (const model::ShapeId s : wanted) {
      wanted_[s] = true;
      out[s].resize(static_cast<size_t>(value_counts_[s]));
    }
  }

  void visit(const std::vector<model::Node>& nodes) {
    for (const model::Node& n : nodes) {
      if (n.kind == model::Node::Kind::Loop) visit(n.body);
      if (n.kind == model::Node::Kind::Run) run(n);
      if (n.kind == model::Node::Kind::Summary) summary(n);
      if (n.kind != model::Node::Kind::Call || !wanted_[n.shape]) continue;
      for (size_t i = 0; i < n.values.size(); ++i) add(out[n.shape][i], n.values[i]);
    }
  }

  std::map<model::ShapeId, std::vector<SeenValues>> out;

 private:
  void run(const model::Node& n) {
    (void)model::expand_run(n, value_counts_, [this](model::ShapeId shape, std::span<const int64_t> row) {
      if (!wanted_[shape]) return true;
      for (size_t i = 0; i < row.size(); ++i) add(out[shape][i], row[i]);
      return true;
    });
  }
  void summary(const model::Node& n) {
    (void)model::expand_summary(n, wanted_.size(), [this](model::ShapeId shape, uint64_t) {
      if (!wanted_[shape]) return;
      for (SeenValues& v : out[shape]) v.more = true;
    });
  }

  std::vector<bool> wanted_;
  std::vector<int> value_counts_;
};

}  // namespace

std::map<model::ShapeId, std::vector<SeenValues>> find_seen_values(const model::Trace& trace,
                                                                   const std::set<model::ShapeId>& wanted) {
  Search search(trace, wanted);
  if (wanted.empty()) return {};
  for (const model::Stream& s : trace.streams)
    if (!s.memory) search.visit(s.nodes);
  return std::move(search.out);
}

}  // namespace gt::analyzer
