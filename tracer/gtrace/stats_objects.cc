// Bytes and launches object by object: from each node's share of its shape's statistics.
#include <algorithm>

#include "tracer/gtrace/names.h"
#include "tracer/gtrace/stats.h"
#include "tracer/gtrace/weights.h"
#include "traces/model/fold.h"
#include "traces/model/object_names.h"
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
  explicit ObjectSums(const model::Trace& trace) : trace_(trace), names_(trace), shares_(names_.variables().size()) {
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
    for (size_t i = 0; i < shares_.size(); ++i) {
      const Share& s = shares_[i];
      if (s.transfers == 0 && s.launches == 0) continue;
      const auto& v = names_.variables()[i];
      const model::Class& c = trace_.classes[v.cls];
      const auto whole = [](double x) { return static_cast<uint64_t>(x + 0.5); };
      out.push_back({v.name, model::object_kind_name(c.kind), site_text(trace_, c.site), whole(s.h2d), whole(s.d2h),
                     whole(s.d2d), whole(s.transfers), whole(s.launches), whole(s.ns)});
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

  void call(const Node& n, uint64_t executions) {
    size_t v = 0;
    for (const model::Arg& a : trace_.shapes[n.shape].args) {
      if (a.cls != model::NoIndex && value_count(a.form) > 0 && holds_data(trace_.classes[a.cls].kind)) {
        const auto variables = names_.variables(a.cls, n.values[v]);
        const auto parts = static_cast<double>(variables.size());
        for (const VariableId id : variables) add(id, n.shape, a, static_cast<double>(executions) / parts);
      }
      v += static_cast<size_t>(value_count(a.form));
    }
  }

  void run(const Node& n) {
    (void)model::expand_run(n, value_counts_, [&](model::ShapeId shape, std::span<const int64_t> values) {
      size_t v = 0;
      for (const model::Arg& a : trace_.shapes[shape].args) {
        if (a.cls != model::NoIndex && value_count(a.form) > 0 && holds_data(trace_.classes[a.cls].kind)) {
          add(names_.variable(a.cls, values[v]), shape, a, 1);
        }
        v += static_cast<size_t>(value_count(a.form));
      }
      return true;
    });
  }

  void add(VariableId id, model::ShapeId shape, const model::Arg& arg, double executions) {
    if (id >= shares_.size()) return;
    const model::FnId fn = trace_.shapes[shape].fn;
    const model::ShapeStats& stats = trace_.stats[shape];
    Share& s = shares_[id];
    if (store::launches_kernel(fn) && arg.param >= model::ParamKernelArg) s.launches += executions;
    const Direction direction = store::transfer_direction(fn);
    if (direction == Direction::None || stats.calls == 0) return;
    const double part = executions / static_cast<double>(stats.calls);
    const double bytes = static_cast<double>(stats.bytes.sum) * part;
    (direction == Direction::HostToDevice ? s.h2d : direction == Direction::DeviceToHost ? s.d2h : s.d2d) += bytes;
    s.transfers += executions;
    s.ns += static_cast<double>((stats.device_ns.count ? stats.device_ns : stats.host_ns).sum) * part;
  }

  const model::Trace& trace_;
  model::ObjectNames names_;
  std::vector<Share> shares_;  // by variable
  std::vector<int> value_counts_;
  std::vector<Weight> weights_;
  size_t next_ = 0;  // node, in pre-order
};

}  // namespace

std::vector<ObjectSum> object_sums(const model::Trace& trace) { return ObjectSums(trace).take(); }

}  // namespace gt::tracer
