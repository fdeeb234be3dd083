// A walk in the order of the calls; loop bodies twice, for what one iteration leaves mapped to the next.
#include "analyzer/calls/mapped_launches.h"

#include <map>
#include <optional>

#include "traces/api/api.h"
#include "traces/model/fold/fold.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;
using Object = std::pair<model::ClassId, int64_t>;

constexpr int64_t MapWrites = 2 | 4;  // CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION

bool maps(const model::Shape& s) { return api::attributes(s.fn).direction == api::DirectionRule::Map; }
bool unmaps(const model::Shape& s) { return api::attributes(s.fn).direction == api::DirectionRule::Unmap; }

class Walk {
 public:
  Walk(const model::Trace& trace, const Effects& effects) : trace_(trace), effects_(effects) {
    for (const model::Shape& s : trace.shapes)
      interesting_.push_back(maps(s) || unmaps(s) || api::attributes(s.fn).launch);
  }

  void visit(const std::vector<model::Node>& nodes) {
    for (const model::Node& n : nodes) {
      if (n.kind == model::Node::Kind::Call && interesting_[n.shape]) call(n);
      if (n.kind != model::Node::Kind::Loop) continue;
      const bool outermost = !in_loop_;
      in_loop_ = true;
      visit(n.body);
      if (outermost) visit(n.body);  // inner loops' bodies come twice with it
      if (outermost) in_loop_ = false;
    }
  }
  void next_stream() { mapped_.clear(); }

  std::set<model::ShapeId> found;

 private:
  struct Mapping {
    bool writes = false;
    uint64_t times = 0;
  };

  static std::optional<int64_t> constant(const model::Node& n, size_t value) {
    if (value >= n.values.size() || n.values[value].kind != model::Series::Kind::Const) return std::nullopt;
    return n.values[value].value;
  }

  void call(const model::Node& n) {
    const model::Shape& shape = trace_.shapes[n.shape];
    const int flags_param = api::attributes(shape.fn).flags;
    std::optional<Object> object;
    std::optional<int64_t> flags;
    size_t value = 0;
    for (size_t i = 0; i < shape.args.size(); ++i) {
      const model::Arg& a = shape.args[i];
      if (a.form == model::ArgForm::Int && a.param == flags_param) flags = constant(n, value);
      const bool memory =
          a.form == model::ArgForm::Object && a.cls < trace_.classes.size() &&
          (trace_.classes[a.cls].kind == ObjectKind::Buffer || trace_.classes[a.cls].kind == ObjectKind::Image);
      if (memory) {
        const auto slot = constant(n, value);
        if (slot && a.param >= model::ParamKernelArg && a.param < model::ParamReturn)
          launched(n.shape, i, {a.cls, *slot});
        if (slot && a.param < model::ParamKernelArg && !object) object = Object{a.cls, *slot};
      }
      value += static_cast<size_t>(model::value_count(a.form));
    }
    if (object && maps(shape)) {
      Mapping& m = mapped_[*object];
      ++m.times;
      m.writes = m.writes || (flags.value_or(0) & MapWrites) != 0;
    }
    if (object && unmaps(shape)) unmapped(*object);
  }

  void unmapped(const Object& object) {
    const auto at = mapped_.find(object);
    if (at != mapped_.end() && --at->second.times == 0) mapped_.erase(at);
  }

  void launched(model::ShapeId shape, size_t arg, const Object& object) {
    const auto at = mapped_.find(object);
    if (at == mapped_.end()) return;
    const bool refined = shape < effects_.size() && arg < effects_[shape].size();
    const model::Effect effect = refined ? effects_[shape][arg] : trace_.shapes[shape].args[arg].effect;
    const bool defines = effect == model::Effect::Def || effect == model::Effect::UseDef;
    if (defines || (at->second.writes && effect == model::Effect::Use)) found.insert(shape);
  }

  const model::Trace& trace_;
  const Effects& effects_;
  std::vector<bool> interesting_;
  std::map<Object, Mapping> mapped_;
  bool in_loop_ = false;
};

}  // namespace

std::set<model::ShapeId> find_mapped_launches(const model::Trace& trace, const Effects& effects) {
  Walk walk(trace, effects);
  for (const model::Stream& s : trace.streams) {
    if (s.memory) continue;
    walk.next_stream();
    walk.visit(s.nodes);
  }
  return std::move(walk.found);
}

}  // namespace gt::analyzer
