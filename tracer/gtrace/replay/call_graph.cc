#include "tracer/gtrace/replay/call_graph.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tracer/gtrace/base/walk.h"
#include "traces/model/fold/fold.h"

namespace gt::tracer {

using model::ArgForm;
using model::Effect;

size_t count_of(const CallSet& set) { return static_cast<size_t>(std::count(set.begin(), set.end(), true)); }

// Calls are read thread by thread, brought into their order, then walked once, with what made and wrote each object.
class CallGraph::Builder {
 public:
  Builder(const model::Trace& trace, uint32_t process) : trace_(trace), process_(process) {}

  Status read() {
    for (const model::Stream& s : trace_.streams) {
      if (s.memory || trace_.threads[s.thread].process != process_) continue;
      GT_TRY(read_stream(s));
    }
    return {};
  }

  CallGraph graph() {
    CallGraph g;
    std::vector<CallIndex> order(calls_.size());
    std::iota(order.begin(), order.end(), CallIndex{0});
    if (timed_)
      std::stable_sort(order.begin(), order.end(), [&](CallIndex a, CallIndex b) { return entered_[a] < entered_[b]; });
    std::vector<CallIndex> place(order.size());
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<CallIndex>(i);
    g.by_number_.resize(trace_.threads.size());
    for (const CallIndex read : order) add(g, read);
    for (CallIndex read = 0; read < calls_.size(); ++read)
      g.by_number_[calls_[read].thread].push_back(place[read]);
    for (std::vector<CallIndex>& iteration : iterations_) {
      for (CallIndex& c : iteration) c = place[c];
    }
    g.iterations_ = std::move(iterations_);
    return g;
  }

 private:
  struct Ref {
    uint32_t object;
    Effect effect;
  };
  static constexpr size_t MostCalls = size_t{1} << 24;

  Status read_stream(const model::Stream& stream) {
    timed_ = timed_ && !stream.timeline.empty();
    bool too_many = false;
    const size_t begin = calls_.size();
    Walk walk;
    walk.wanted = [](const model::Node&, uint64_t, uint64_t) { return true; };
    walk.visit = [&](const WalkedEvent& e) {
      too_many = calls_.size() >= MostCalls;
      if (!too_many) add_call(stream.thread, e);
      return !too_many;
    };
    GT_TRY(walk_stream(trace_, stream, walk));
    if (too_many) return {Kind::Unsupported, "it has more than 16 million calls: too many to reduce"};
    add_iterations(stream, begin);
    return {};
  }

  void add_call(model::ThreadId thread, const WalkedEvent& e) {
    calls_.push_back({thread, e.number});
    entered_.push_back(e.time ? e.time->entry_ns : 0);
    const model::Shape& shape = trace_.shapes[e.shape];
    size_t value = 0;
    for (const model::Arg& a : shape.args) {
      const size_t at = value;
      value += static_cast<size_t>(model::value_count(a.form));
      if (a.form != ArgForm::Object && a.form != ArgForm::Memory) continue;
      const auto [object, is_new] =
          objects_.try_emplace({a.cls, e.values[at]}, static_cast<uint32_t>(objects_.size()));
      refs_.push_back({object->second, a.effect});
    }
    refs_end_.push_back(refs_.size());
  }

  void add_iterations(const model::Stream& stream, size_t begin) {
    size_t at = begin;
    for (const model::Node& node : stream.nodes) {
      const size_t events = node.kind == model::Node::Kind::Summary ? 0 : model::event_count({&node, 1});
      const auto count = static_cast<size_t>(node.count.kind == model::Series::Kind::Const ? node.count.value : 0);
      if (node.kind == model::Node::Kind::Loop && count > 1 && events % count == 0) {
        for (size_t i = 0; i < count; ++i) {
          std::vector<CallIndex>& calls = iterations_.emplace_back(events / count);
          std::iota(calls.begin(), calls.end(), static_cast<CallIndex>(at + i * (events / count)));
        }
      }
      at += events;
    }
  }

  void add(CallGraph& g, CallIndex read) {
    const auto me = static_cast<CallIndex>(g.calls_.size());
    g.calls_.push_back(calls_[read]);
    makers_.resize(objects_.size(), None);
    writers_.resize(objects_.size(), None);
    const size_t begin = read == 0 ? 0 : refs_end_[read - 1];
    bool makes = false;
    for (size_t i = begin; i < refs_end_[read]; ++i) {
      const auto [object, effect] = refs_[i];
      if (effect == Effect::Def) continue;
      if (makers_[object] != None) g.makers_.to.push_back(makers_[object]);
      if (writers_[object] != None) g.sources_.to.push_back(writers_[object]);
    }
    for (size_t i = begin; i < refs_end_[read]; ++i) {
      const auto [object, effect] = refs_[i];
      if (effect == Effect::Def) makers_[object] = me;
      if (effect == Effect::Def || effect == Effect::UseDef) writers_[object] = me;
      makes |= effect == Effect::Def;
    }
    g.makes_.push_back(makes);
    g.makers_.begin.push_back(g.makers_.to.size());
    g.sources_.begin.push_back(g.sources_.to.size());
  }

  static constexpr CallIndex None = ~CallIndex{0};

  const model::Trace& trace_;
  uint32_t process_;
  bool timed_ = true;
  std::vector<GraphCall> calls_;
  std::vector<uint64_t> entered_;
  std::vector<Ref> refs_;
  std::vector<size_t> refs_end_;
  std::map<std::pair<model::ClassId, int64_t>, uint32_t> objects_;
  std::vector<std::vector<CallIndex>> iterations_;
  std::vector<CallIndex> makers_, writers_;
};

Result<CallGraph> CallGraph::build(const model::Trace& trace, uint32_t process) {
  Builder builder(trace, process);
  GT_TRY(builder.read());
  return builder.graph();
}

std::optional<CallIndex> CallGraph::find(model::ThreadId thread, uint64_t number) const {
  const bool known = thread < by_number_.size() && number >= 1 && number <= by_number_[thread].size();
  return known ? std::optional(by_number_[thread][number - 1]) : std::nullopt;
}

CallSet CallGraph::needed_by(CallIndex target) const {
  CallSet set(size(), false);
  set[target] = true;
  // What a call needs was made before it.
  for (CallIndex i = target + 1; i-- > 0;) {
    if (!set[i]) continue;
    for (const CallIndex c : makers(i)) set[c] = true;
    for (const CallIndex c : sources(i)) set[c] = true;
  }
  return set;
}

CallSet CallGraph::without(const CallSet& set, std::span<const CallIndex> dropped) const {
  CallSet out = set;
  CallIndex first = static_cast<CallIndex>(size());
  for (const CallIndex c : dropped) {
    out[c] = false;
    first = std::min(first, c);
  }
  for (CallIndex i = first; i < size(); ++i) {
    if (!out[i]) continue;
    const std::span<const CallIndex> needs = makers(i);
    out[i] = std::all_of(needs.begin(), needs.end(), [&](CallIndex c) { return out[c]; });
  }
  return out;
}

}  // namespace gt::tracer
