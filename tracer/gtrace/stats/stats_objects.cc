// Bytes and launches object by object: from each node's share of its shape's statistics.
#include <algorithm>
#include <map>
#include <utility>

#include "tracer/gtrace/base/names.h"
#include "tracer/gtrace/stats/summary.h"
#include "tracer/gtrace/base/weights.h"
#include "traces/model/fold/fold.h"
#include "traces/model/ssa/object_names.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using model::Direction;
using model::Node;
using model::ObjectKind;
using model::VariableId;

bool holds_data(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Buffer:
    case ObjectKind::Image:
    case ObjectKind::Pipe:
    case ObjectKind::Segment:
    case ObjectKind::Svm:
    case ObjectKind::Mapping:
    case ObjectKind::Static:
    case ObjectKind::Stack:
    case ObjectKind::File:
    case ObjectKind::String:
    case ObjectKind::Unknown:
      return true;
    default:
      return false;
  }
}

struct Share {
  double h2d = 0, d2h = 0, d2d = 0, transfers = 0, launches = 0, ns = 0;
};

class ObjectSums {
 public:
  explicit ObjectSums(const model::Trace& trace) : trace_(trace), names_(trace) {
    for (const model::Shape& s : trace.shapes) value_counts_.push_back(s.values());
    for (const model::Stream& s : trace.streams) {
      if (s.memory) continue;
      weights_ = weigh(s.nodes);
      next_ = 0;
      list(s.nodes);
    }
  }

  std::vector<ObjectSum> take() const {
    std::vector<ObjectSum> out;
    for (const auto& [object, s] : shares_) {
      if (s.transfers == 0 && s.launches == 0) continue;
      const auto& v = names_.variables()[object.first];
      const model::Class& c = trace_.classes[v.cls];
      const auto whole = [](double x) { return static_cast<uint64_t>(x + 0.5); };
      const std::string member = object.second >= 0 ? "[" + std::to_string(object.second) + "]" : "";
      out.push_back({v.name + member, model::object_kind_name(c.kind), site_text(trace_, c.site), whole(s.h2d),
                     whole(s.d2h), whole(s.d2d), whole(s.transfers), whole(s.launches), whole(s.ns)});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const ObjectSum& a, const ObjectSum& b) { return a.bytes() > b.bytes(); });
    return out;
  }

 private:
  void list(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      const uint64_t executions = weights_[next_++].executions;
      if (n.kind == Node::Kind::Call) call(n, executions);
      if (n.kind == Node::Kind::Run) run(n);
      list(n.body);
    }
  }

  // An object that holds data, each once: a mapped buffer over host memory names that memory twice, as the memory under
  // the buffer and as what the call returns. `values`: of the call, Series or numbers.
  template <class Values, class Visit>
  void each_object(model::ShapeId shape, const Values& values, const Visit& visit) const {
    struct Named {
      model::ClassId cls;
      size_t at;
    };
    std::vector<Named> seen;
    size_t v = 0;
    for (const model::Arg& a : trace_.shapes[shape].args) {
      const size_t at = std::exchange(v, v + static_cast<size_t>(value_count(a.form)));
      if (a.cls == model::NoIndex || value_count(a.form) == 0 || !holds_data(trace_.classes[a.cls].kind)) continue;
      const auto same = [&](const Named& n) { return n.cls == a.cls && values[n.at] == values[at]; };
      if (std::any_of(seen.begin(), seen.end(), same)) continue;
      seen.push_back({a.cls, at});
      visit(a, values[at]);
    }
  }

  void call(const Node& n, uint64_t executions) {
    each_object(n.shape, n.values, [&](const model::Arg& a, const model::Series& slot) {
      const auto objects = objects_of(a.cls, slot);
      const auto parts = static_cast<double>(objects.size());
      for (const Object& o : objects) add(o, n.shape, a, static_cast<double>(executions) / parts);
    });
  }

  void run(const Node& n) {
    (void)model::expand_run(n, value_counts_, [&](model::ShapeId shape, std::span<const int64_t> values) {
      each_object(shape, values,
                  [&](const model::Arg& a, int64_t slot) { add(object_of(a.cls, slot), shape, a, 1); });
      return true;
    });
  }

  // The member of a family where a call always names the same one; the family where it goes through many.
  using Object = std::pair<VariableId, int64_t>;  // and its slot; -1: no family, or all of it
  Object object_of(model::ClassId cls, int64_t slot) const {
    return {names_.variable(cls, slot), names_.is_family(cls) ? slot : -1};
  }
  std::vector<Object> objects_of(model::ClassId cls, const model::Series& slot) const {
    if (slot.kind == model::Series::Kind::Const) return {object_of(cls, slot.value)};
    std::vector<Object> out;
    if (slot.kind == model::Series::Kind::Periodic) {
      for (const int64_t s : slot.values()) out.push_back(object_of(cls, s));
      return out;
    }
    for (const VariableId v : names_.variables(cls, slot)) out.emplace_back(v, -1);
    return out;
  }

  void add(const Object& object, model::ShapeId shape, const model::Arg& arg, double executions) {
    if (object.first >= names_.variables().size()) return;
    const model::FnId fn = trace_.shapes[shape].fn;
    const model::ShapeStats& stats = trace_.stats[shape];
    Share& s = shares_[object];
    if (store::launches_kernel(fn) && arg.param >= model::ParamKernelArg) s.launches += executions;
    const Direction direction = trace_.shapes[shape].moves;
    if (direction == Direction::None || stats.calls == 0) return;
    const double part = executions / static_cast<double>(stats.calls);
    const double bytes = static_cast<double>(stats.bytes.sum) * part;
    (direction == Direction::HostToDevice ? s.h2d : direction == Direction::DeviceToHost ? s.d2h : s.d2d) += bytes;
    s.transfers += executions;
    s.ns += static_cast<double>((stats.device_ns.count ? stats.device_ns : stats.host_ns).sum) * part;
  }

  const model::Trace& trace_;
  model::ObjectNames names_;
  std::map<Object, Share> shares_;
  std::vector<int> value_counts_;
  std::vector<Weight> weights_;
  size_t next_ = 0;  // node, in pre-order
};

}  // namespace

std::vector<ObjectSum> object_sums(const model::Trace& trace) { return ObjectSums(trace).take(); }

}  // namespace gt::tracer
