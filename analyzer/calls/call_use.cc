// Summing calls by the objects that they name.
#include "analyzer/calls/call_use.h"

#include <algorithm>
#include <map>

#include "traces/model/folded/executions.h"
#include "traces/model/fold/fold.h"

namespace gt::analyzer {
namespace {

using model::Node;
using model::Series;

using Value = std::optional<int64_t>;
using Values = std::vector<Value>;

constexpr size_t MostPhases = 16;
// Combinations of one shape beyond this are summed up as "some object of the class".
constexpr size_t MostCombinations = 4096;

struct WantedArg {
  size_t arg, value;  // index of the argument, of its (first) value in the row
};

std::vector<WantedArg> wanted_args(const model::Trace& trace, const model::Shape& shape,
                                   const Wanted& wanted) {
  std::vector<WantedArg> out;
  size_t value = 0;
  for (size_t i = 0; i < shape.args.size() && wanted.objects; ++i) {
    const model::Arg& a = shape.args[i];
    const bool object = a.form == model::ArgForm::Object || a.form == model::ArgForm::Memory;
    const bool number = a.form == model::ArgForm::Int && a.param == wanted.number;
    if (number || (object && a.cls < trace.classes.size())) out.push_back({i, value});
    value += static_cast<size_t>(model::value_count(a.form));
  }
  return out;
}

// The values that a series goes through again and again; empty when there is no short cycle.
// `inner`: the innermost loop around it.
std::vector<int64_t> cycle_of(const Series& s, const Node* inner) {
  switch (s.kind) {
    case Series::Kind::Const:
      return {s.value};
    case Series::Kind::Periodic:
      return s.values().size() <= MostPhases ? s.values() : std::vector<int64_t>();
    case Series::Kind::Affine: {
      const bool known = inner && inner->count.kind == Series::Kind::Const &&
                         s.base().kind == Series::Kind::Const &&
                         s.step().kind == Series::Kind::Const;
      if (!known || inner->count.value < 1 || inner->count.value > int64_t{MostPhases}) return {};
      std::vector<int64_t> out;
      for (int64_t i = 0; i < inner->count.value; ++i) {
        out.push_back(s.base().value + i * s.step().value);
      }
      return out;
    }
    case Series::Kind::Column:
      return {};
  }
  return {};
}

class Sums {
 public:
  Sums(const model::Trace& trace, const std::function<Wanted(model::ShapeId)>& wanted)
      : trace_(trace) {
    for (model::ShapeId i = 0; i < trace.shapes.size(); ++i) {
      const Wanted w = wanted(i);
      value_counts_.push_back(trace.shapes[i].values());
      wanted_.push_back(w.objects);
      args_.push_back(wanted_args(trace, trace.shapes[i], w));
    }
    sums_.resize(trace.shapes.size());
  }

  void add_stream(const model::Stream& stream) {
    std::vector<const Node*> loops;
    model::visit_executions(stream.nodes, [&](const Node& n, const model::Execution& e) {
      loops.resize(std::min(loops.size(), e.depth));
      if (n.kind == Node::Kind::Loop) loops.push_back(&n);
      if (n.kind == Node::Kind::Call) {
        add_call(n, loops.empty() ? nullptr : loops.back(), e.times);
      } else if (n.kind == Node::Kind::Run) {
        add_run(n, e.entered);
      } else if (n.kind == Node::Kind::Summary) {
        model::expand_summary(n, trace_.shapes.size(), [&](model::ShapeId s, uint64_t calls) {
          if (wanted_[s]) add(s, Values(args_[s].size()), calls * e.entered);
        });
      }
    });
  }

  std::vector<CallUse> take() const {
    std::vector<CallUse> out;
    for (model::ShapeId s = 0; s < sums_.size(); ++s) {
      for (const auto& [row, times] : sums_[s]) {
        CallUse use{s, times, {}};
        for (size_t i = 0; i < row.size(); ++i) {
          const size_t arg = args_[s][i].arg;
          use.args.push_back({arg, trace_.shapes[s].args[arg].cls, row[i]});
        }
        out.push_back(std::move(use));
      }
    }
    return out;
  }

 private:
  void add(model::ShapeId shape, Values row, uint64_t times) {
    auto& sums = sums_[shape];
    if (sums.size() >= MostCombinations && !sums.contains(row)) row.assign(row.size(), Value());
    sums[std::move(row)] += times;
  }

  // Arguments with cycles of different lengths go together when each divides the longest.
  void add_call(const Node& n, const Node* inner, uint64_t times) {
    if (!wanted_[n.shape] || times == 0) return;
    std::vector<std::vector<int64_t>> cycles;
    size_t phases = 1;
    for (const WantedArg& a : args_[n.shape]) {
      cycles.push_back(a.value < n.values.size() ? cycle_of(n.values[a.value], inner)
                                                 : std::vector<int64_t>());
      phases = std::max(phases, cycles.back().size());
    }
    for (auto& c : cycles)
      if (!c.empty() && phases % c.size() != 0) c.clear();
    for (size_t phase = 0; phase < phases; ++phase) {
      const uint64_t part = times / phases + (phase < times % phases ? 1 : 0);
      if (part == 0) continue;
      Values row;
      for (const auto& c : cycles) row.push_back(c.empty() ? Value() : c[phase % c.size()]);
      add(n.shape, std::move(row), part);
    }
  }

  void add_run(const Node& n, uint64_t entered) {
    model::expand_run(n, value_counts_, [&](model::ShapeId s, std::span<const int64_t> values) {
      if (!wanted_[s]) return true;
      Values row;
      for (const WantedArg& a : args_[s]) {
        const bool kept = a.value < values.size() && values[a.value] != model::Unkept;
        row.push_back(kept ? Value(values[a.value]) : Value());
      }
      add(s, std::move(row), entered);
      return true;
    });
  }

  const model::Trace& trace_;
  std::vector<int> value_counts_;
  std::vector<bool> wanted_;
  std::vector<std::vector<WantedArg>> args_;
  std::vector<std::map<Values, uint64_t>> sums_;  // by shape
};

}  // namespace

std::vector<CallUse> find_uses(const model::Trace& trace,
                               const std::function<Wanted(model::ShapeId)>& wanted) {
  Sums sums(trace, wanted);
  for (const model::Stream& s : trace.streams)
    if (!s.memory) sums.add_stream(s);
  return sums.take();
}

}  // namespace gt::analyzer
