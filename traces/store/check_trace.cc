// The invariants of a Trace, checked once on the way into the file and once on the way out.
#include "traces/store/check_trace.h"

#include <optional>

#include "traces/store/node_rows.h"

namespace gt::store {
namespace {

using model::ArgForm;
using model::Node;
using model::NoIndex;
using model::Series;
using model::Trace;

constexpr uint64_t MaxEvents = uint64_t{1} << 62;
using Executions = std::optional<uint64_t>;  // nothing: not known without unfolding

Status damaged(const std::string& what) {
  return {Kind::Corrupt, "the trace is damaged (" + what + ")"};
}

template <class T>
bool in(uint32_t index, const std::vector<T>& rows) {
  return index < rows.size();
}
template <class T>
bool none_or_in(uint32_t index, const std::vector<T>& rows) {
  return index == NoIndex || index < rows.size();
}

class NodeCheck {
 public:
  explicit NodeCheck(const Trace& trace) : trace_(trace) {}

  bool list(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (!one(node)) return false;
    }
    return true;
  }

 private:
  bool one(const Node& node) {
    if (node.kind == Node::Kind::Call) return call(node);
    return node.kind == Node::Kind::Loop ? loop(node) : run(node);
  }

  bool call(const Node& node) {
    if (!in(node.shape, trace_.shapes) || !node.body.empty() || !node.run.empty()) return false;
    if (node.values.size() != static_cast<size_t>(trace_.shapes[node.shape].values())) return false;
    for (const Series& s : node.values) {
      if (!series(s, around_.size())) return false;
    }
    return add_events(around_.empty() ? Executions(1) : around_.back());
  }

  bool loop(const Node& node) {
    if (node.body.empty() || !node.run.empty() || around_.size() >= MaxLoopDepth) return false;
    if (!series(node.count, around_.size())) return false;
    const Executions outer = around_.empty() ? Executions(1) : around_.back();
    Executions inner;
    if (node.count.kind == Series::Kind::Const) {
      if (node.count.value < 0) return false;
      const auto count = static_cast<uint64_t>(node.count.value);
      if (outer && count && *outer > MaxEvents / count) return false;
      if (outer) inner = *outer * count;
    }
    around_.push_back(inner);
    const bool ok = list(node.body);
    around_.pop_back();
    return ok;
  }

  // Where the calls of a run go cannot be said inside a loop: the folder makes them at the top
  // level only.
  bool run(const Node& node) {
    if (node.run.empty() || !node.body.empty() || !around_.empty()) return false;
    if (node.count.kind != Series::Kind::Const || node.count.value < 0) return false;
    return add_events(static_cast<uint64_t>(node.count.value));
  }

  bool series(const Series& s, size_t depth) {
    switch (s.kind) {
      case Series::Kind::Const:
        return true;
      case Series::Kind::Affine:
        return depth > 0 && series(s.base(), depth - 1) && series(s.step(), depth - 1);
      case Series::Kind::Periodic:
        return depth > 0 && !s.values().empty();
      case Series::Kind::Column:
        return depth > 0 && (!around_[depth - 1] || *around_[depth - 1] == s.column().size);
    }
    return false;
  }

  bool add_events(Executions n) {
    if (!n) return true;
    events_ += *n;  // both at most 2^62
    return events_ <= MaxEvents;
  }

  const Trace& trace_;
  std::vector<Executions> around_;  // executions of each enclosing loop's body, outermost first
  uint64_t events_ = 0;
};

bool arg_ok(const Trace& t, const model::Arg& a) {
  const bool object = a.form == ArgForm::Object || a.form == ArgForm::Memory;
  return object ? in(a.cls, t.classes) : none_or_in(a.cls, t.classes);
}

Status check_tables(const Trace& t) {
  for (const auto& v : t.threads) {
    if (!in(v.process, t.processes)) return damaged("threads: no such process");
  }
  for (const auto& v : t.modules) {
    if (!in(v.process, t.processes)) return damaged("modules: no such process");
  }
  for (const auto& v : t.sites) {
    if (!none_or_in(v.module, t.modules)) return damaged("sites: no such module");
    if (!none_or_in(v.outer, t.sites)) return damaged("sites: no such outer site");
  }
  for (const auto& v : t.sites) {
    size_t depth = 0;
    for (uint32_t at = v.outer; at != model::NoIndex; at = t.sites[at].outer) {
      if (++depth > model::MaxSiteDepth) return damaged("sites: a chain without end");
    }
  }
  for (const auto& v : t.classes) {
    if (!in(v.thread, t.threads)) return damaged("classes: no such thread");
    if (!none_or_in(v.site, t.sites)) return damaged("classes: no such site");
    if (!none_or_in(v.label, t.blobs)) return damaged("classes: no such label");
  }
  for (const auto& v : t.object_times) {
    if (!in(v.cls, t.classes)) return damaged("object_times: no such class");
    if (!in(v.device, t.devices)) return damaged("object_times: no such device");
  }
  for (const auto& v : t.kernels) {
    if (!in(v.cls, t.classes)) return damaged("kernels: no such class");
    if (!none_or_in(v.source, t.blobs) || !none_or_in(v.options, t.blobs))
      return damaged("kernels: no such blob");
  }
  return {};
}

Status check_shapes(const Trace& t) {
  if (t.stats.size() != t.shapes.size()) return damaged("stats: not one row a shape");
  for (const auto& v : t.shapes) {
    if (!in(v.thread, t.threads)) return damaged("shapes: no such thread");
    if (!none_or_in(v.site, t.sites)) return damaged("shapes: no such site");
    for (const auto& a : v.args) {
      if (!arg_ok(t, a)) return damaged("args: no such class");
    }
  }
  return {};
}

}  // namespace

Status check_trace(const Trace& t) {
  GT_TRY(check_tables(t));
  GT_TRY(check_shapes(t));
  for (const auto& v : t.streams) {
    if (!in(v.thread, t.threads)) return damaged("streams: no such thread");
    if (!NodeCheck(t).list(v.nodes)) return damaged("nodes: an impossible loop, call or run");
  }
  return {};
}

}  // namespace gt::store
