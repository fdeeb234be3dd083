// Nodes to rows: calls, loops indented around them, and a φ a line at the head of each loop.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tracer/gtrace/names.h"
#include "tracer/gtrace/show.h"
#include "tracer/gtrace/units.h"
#include "tracer/gtrace/weights.h"
#include "traces/api/api.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using model::Arg;
using model::ArgForm;
using model::Node;
using model::Series;

constexpr size_t ManyRefs = 12;  // a call names more objects than that: the rest is counted

std::set<model::ClassId> classes_of_opencl_calls(const model::Trace& trace) {
  std::set<model::ClassId> out;
  for (const model::Shape& s : trace.shapes) {
    if (store::is_alloc_fn(s.fn)) continue;
    for (const Arg& a : s.args) {
      if (a.cls != model::NoIndex) out.insert(a.cls);
    }
  }
  return out;
}

class Rows {
 public:
  Rows(const model::Trace& trace, const model::Ssa& ssa, size_t stream, const ShowOptions& options)
      : trace_(trace), ssa_(ssa), stream_(stream), weights_(weigh(trace.streams[stream].nodes)) {
    memory_ = trace.streams[stream].memory;
    filter_ = memory_ && !options.all_memory;
    if (filter_) relevant_ = classes_of_opencl_calls(trace);
    count_nodes(trace.streams[stream].nodes);
    size_t index = 0;
    list(trace.streams[stream].nodes, index, 0);
  }

  std::vector<ShowRow> take() { return std::move(rows_); }

 private:
  void count_nodes(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      if (n.kind == Node::Kind::Call) ++nodes_of_shape_[n.shape];
      count_nodes(n.body);
    }
  }

  void list(const std::vector<Node>& nodes, size_t& index, size_t depth) {
    for (const Node& n : nodes) {
      const size_t here = index++;
      if (n.kind == Node::Kind::Loop) {
        loop(n, here, index, depth);
      } else if (n.kind == Node::Kind::Run) {
        run(n, here, depth);
      } else if (wanted(n)) {
        call(n, here, depth);
      }
    }
  }

  bool wanted(const Node& n) const {
    if (!filter_) return true;
    const auto& args = trace_.shapes[n.shape].args;
    return std::any_of(args.begin(), args.end(),
                       [&](const Arg& a) { return relevant_.count(a.cls) > 0; });
  }

  static std::string indent(size_t depth) { return std::string(2 * depth, ' '); }
  std::string number(size_t here) const {
    return weights_[here].number ? fmt::format("{}", *weights_[here].number) : "";
  }

  // A loop none of whose calls are wanted leaves no trace in the rows.
  void loop(const Node& n, size_t here, size_t& index, size_t depth) {
    const size_t before = rows_.size();
    const std::string count =
        n.count.kind == Series::Kind::Column || n.count.kind == Series::Kind::Periodic
            ? fmt::format("…, {} in all", weights_[here].executions)
            : model::series_text(n.count, depth);
    push_structure(indent(depth) + "loop ×" + count + " {");
    for (const model::SsaPhi& p : ssa_.at(stream_, here).phis) {
      if (filter_ && !relevant_.count(ssa_.names().variables()[p.variable].cls)) continue;
      ShowRow& row = push_structure(indent(depth + 1) + "φ");
      row.def = ssa_.text(p.variable, p.result);
      row.use =
          "φ(" + ssa_.text(p.variable, p.before) + ", " + ssa_.text(p.variable, p.around) + ")";
    }
    const size_t head = rows_.size();
    list(n.body, index, depth + 1);
    if (rows_.size() == head) {
      rows_.resize(before);
      return;
    }
    push_structure(indent(depth) + "}");
  }
  ShowRow& push_structure(std::string text) {
    ShowRow& row = rows_.emplace_back();
    row.call = std::move(text);
    row.structure = true;
    return row;
  }

  void run(const Node& n, size_t here, size_t depth) {
    const model::NodeSsa& refs = ssa_.at(stream_, here);
    ShowRow row;
    row.number = number(here);
    row.call =
        indent(depth) + fmt::format("… {} calls without a pattern (gtrace expand)", n.count.value);
    row.def = ref_list(refs.defs, n, depth);
    row.use = ref_list(refs.uses, n, depth);
    row.count = fmt::format("{}", n.count.value);
    rows_.push_back(std::move(row));
  }

  void call(const Node& n, size_t here, size_t depth) {
    const model::Shape& shape = trace_.shapes[n.shape];
    const model::NodeSsa& refs = ssa_.at(stream_, here);
    ShowRow row;
    row.number = number(here);
    row.call = indent(depth) + call_text(n, shape, depth);
    row.def = ref_list(refs.defs, n, depth);
    row.use = ref_list(refs.uses, n, depth);
    row.site = site_text(trace_, shape.site);
    row.count = fmt::format("{}", weights_[here].executions);
    times(n.shape, weights_[here].executions, row);
    rows_.push_back(std::move(row));
  }

  // Times are kept per shape; a shape that stands in several places shares its time out by calls,
  // marked with ~.
  void times(model::ShapeId shape, uint64_t executions, ShowRow& row) const {
    const model::ShapeStats& s = trace_.stats[shape];
    const bool shared = nodes_of_shape_.at(shape) > 1;
    const auto share = [&](const model::Stats& t) -> std::string {
      if (t.count == 0 || s.calls == 0) return {};
      const double part =
          std::min(1.0, static_cast<double>(executions) / static_cast<double>(s.calls));
      return (shared ? "~" : "") +
             human_ns(static_cast<uint64_t>(static_cast<double>(t.sum) * part));
    };
    row.host = share(s.host_ns);
    row.device = share(s.device_ns);
  }

  std::string ref_list(const std::vector<model::SsaRef>& refs, const Node& n, size_t depth) const {
    std::string out;
    for (size_t i = 0; i < refs.size() && i < ManyRefs; ++i) {
      out += (i ? ", " : "") + ssa_.text(refs[i], n, depth);
    }
    if (refs.size() > ManyRefs) out += fmt::format(", +{}", refs.size() - ManyRefs);
    return out;
  }

  // The arguments that tell calls apart: objects, memory, numbers, short texts. NULLs and raw
  // addresses are left out.
  std::string call_text(const Node& n, const model::Shape& shape, size_t depth) const {
    std::string args, result;
    size_t v = 0;
    for (const Arg& a : shape.args) {
      const bool special = a.param >= model::ParamKernelArg;
      if (a.form == ArgForm::Int && api::is_error_code(shape.fn, a.param)) {
        if (!n.values[v].is_const(0)) result = " = " + value_text(n, a, v, depth, shape.fn);
      } else if (!special && a.form != ArgForm::Null && a.form != ArgForm::Empty &&
                 a.form != ArgForm::Raw && a.form != ArgForm::Code) {
        args += (args.empty() ? "" : ", ") + value_text(n, a, v, depth, shape.fn);
      }
      v += static_cast<size_t>(value_count(a.form));
    }
    return store::function_name(shape.fn) + "(" + args + ")" + result +
           (shape.unfinished ? " unfinished" : "");
  }

  std::string value_text(const Node& n, const Arg& a, size_t v, size_t depth,
                         model::FnId fn) const {
    const Series& s = n.values[v];
    std::string out;
    switch (a.form) {
      case ArgForm::Object:
        return ssa_.names().text(a.cls, s, depth);
      case ArgForm::Memory: {
        const std::string offset = model::series_text(n.values[v + 1], depth);
        out = ssa_.names().text(a.cls, s, depth);
        if (offset != "0") out += (offset[0] == '-' ? "" : "+") + offset;
        return out;
      }
      case ArgForm::Blob:
        return blob_text(s);
      default:
        if (s.kind != Series::Kind::Const) return model::series_text(s, depth);
        append_number(out, fn, a.param, s.value);
        return out;
    }
  }
  std::string blob_text(const Series& s) const {
    const model::Blob* b =
        s.kind == Series::Kind::Const ? model::find_blob(trace_, s.value) : nullptr;
    if (!b) return "…";
    constexpr size_t Few = 24;
    const std::string text = quoted_blob(*b);
    return display_width(text) <= Few ? text : fmt::format("[{}]", human_bytes(b->full_size));
  }

  const model::Trace& trace_;
  const model::Ssa& ssa_;
  size_t stream_;
  std::vector<Weight> weights_;
  bool memory_ = false, filter_ = false;
  std::set<model::ClassId> relevant_;
  std::map<model::ShapeId, size_t> nodes_of_shape_;
  std::vector<ShowRow> rows_;
};

}  // namespace

std::vector<ShowRow> show_rows(const model::Trace& trace, const model::Ssa& ssa, size_t stream,
                               const ShowOptions& options) {
  return Rows(trace, ssa, stream, options).take();
}

}  // namespace gt::tracer
