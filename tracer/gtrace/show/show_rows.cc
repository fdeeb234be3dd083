// Nodes to rows: calls, loops indented around them, and a φ a line at the head of each loop.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "tracer/gtrace/base/names.h"
#include "tracer/gtrace/show/show.h"
#include "tracer/gtrace/base/summary_text.h"
#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/base/weights.h"
#include "traces/api/api.h"
#include "traces/model/fold/fold.h"
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
      : trace_(trace),
        ssa_(ssa),
        stream_(stream),
        options_(options),
        selector_(*Selector::make(trace, ssa.names(), options.selection)),
        weights_(weigh(trace.streams[stream].nodes)) {
    memory_ = trace.streams[stream].memory;
    filter_ = memory_ && !options.all_memory;
    if (filter_) relevant_ = classes_of_opencl_calls(trace);
    for (const model::Shape& s : trace.shapes) value_counts_.push_back(s.values());
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
      if (depth == 0) {
        span_first_ = span_last_ + 1;
        span_last_ += calls_of(n);
      }
      if (n.kind == Node::Kind::Loop) {
        loop(n, here, index, depth);
      } else if (n.kind == Node::Kind::Run) {
        run(n, here, depth);
      } else if (n.kind == Node::Kind::Summary) {
        left_out(n, here, depth);
      } else if (wanted(n, here)) {
        call(n, here, depth);
      }
    }
  }
  static uint64_t calls_of(const Node& n) {
    if (n.kind == Node::Kind::Call) return 1;
    return n.kind == Node::Kind::Summary ? static_cast<uint64_t>(n.count.value) : model::event_count({&n, 1});
  }

  bool wanted(const Node& n, size_t here) const {
    if (!selector_.node(n, memory_, weights_[here].number.value_or(span_first_), span_last_)) return false;
    if (!options_.site.empty() && !at_site(trace_.shapes[n.shape].site)) return false;
    if (options_.time_min_ns > 0 && host_ns(n.shape, weights_[here].executions) < double(options_.time_min_ns)) {
      return false;
    }
    if (!filter_) return true;
    const auto& args = trace_.shapes[n.shape].args;
    return std::any_of(args.begin(), args.end(),
                       [&](const Arg& a) { return relevant_.count(a.cls) > 0; });
  }
  bool at_site(model::SiteId site) const {
    return ::fnmatch(options_.site.c_str(), site_text(trace_, site).c_str(), 0) == 0;
  }

  std::string indent(size_t depth) const { return std::string(options_.tree ? 0 : 2 * depth, ' '); }
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
    push_structure(indent(depth) + "loop ×" + count + (options_.tree ? "" : " {")).depth = depth;
    const auto& phis = ssa_.at(stream_, here).phis;
    if (!options_.tree) push_phis(phis, depth);
    const size_t head = rows_.size();
    list(n.body, index, depth + 1);
    if (rows_.size() == head) {
      rows_.resize(before);
    } else if (options_.tree) {
      sum_up(before);
    } else {
      push_structure(indent(depth) + "}");
    }
  }
  void push_phis(const std::vector<model::SsaPhi>& phis, size_t depth) {
    for (const model::SsaPhi& p : phis) {
      if (filter_ && !relevant_.count(ssa_.names().variables()[p.variable].cls)) continue;
      ShowRow& row = push_structure(indent(depth + 1) + "φ");
      row.def = ssa_.text(p.variable, p.result);
      row.use =
          "φ(" + ssa_.text(p.variable, p.before) + ", " + ssa_.text(p.variable, p.around) + ")";
    }
  }
  // A loop's numbers in a tree are those of the calls below it.
  void sum_up(size_t loop_row) {
    ShowRow& sum = rows_[loop_row];
    for (size_t i = loop_row + 1; i < rows_.size(); ++i) {
      if (rows_[i].depth != sum.depth + 1) continue;
      sum.calls += rows_[i].calls;
      sum.host_ns += rows_[i].host_ns;
      sum.device_ns += rows_[i].device_ns;
    }
  }
  ShowRow& push_structure(std::string text) {
    ShowRow& row = rows_.emplace_back();
    row.call = std::move(text);
    row.structure = true;
    return row;
  }

  // What a run does call by call is not told here: it is left out where single calls are asked for.
  void run(const Node& n, size_t here, size_t depth) {
    if (!options_.site.empty() || options_.time_min_ns > 0) return;
    if (!selector_.node(n, memory_, span_first_, span_last_)) return;
    const model::NodeSsa& refs = ssa_.at(stream_, here);
    ShowRow row;
    row.number = number(here);
    row.call = indent(depth) + fmt::format("… {} calls without a pattern (gtrace expand)", n.count.value);
    row.def = ref_list(refs.defs, n, depth);
    row.use = ref_list(refs.uses, n, depth);
    row.count = fmt::format("{}", n.count.value);
    row.calls = static_cast<uint64_t>(n.count.value);
    row.depth = depth;
    (void)model::expand_run(n, value_counts_, [&](model::ShapeId shape, std::span<const int64_t>) {
      row.host_ns += host_ns(shape, 1);
      row.device_ns += device_ns(shape, 1);
      return true;
    });
    rows_.push_back(std::move(row));
  }

  void left_out(const Node& n, size_t here, size_t depth) {
    if (!selector_.everything() || !options_.site.empty() || options_.time_min_ns > 0) return;
    ShowRow& row = rows_.emplace_back();
    row.number = number(here);
    row.call = indent(depth) + summary_text(trace_, n);
    row.count = fmt::format("{}", n.count.value);
    row.calls = static_cast<uint64_t>(n.count.value);
    row.depth = depth;
  }

  void call(const Node& n, size_t here, size_t depth) {
    const model::Shape& shape = trace_.shapes[n.shape];
    const model::NodeSsa& refs = ssa_.at(stream_, here);
    ShowRow row;
    row.number = number(here);
    row.call = indent(depth) + call_text(n, shape, depth);
    row.def = ref_list(refs.defs, n, depth);
    row.use = ref_list(refs.uses, n, depth);
    row.site = place(n, shape);
    row.count = fmt::format("{}", weights_[here].executions);
    row.calls = weights_[here].executions;
    row.depth = depth;
    times(n.shape, weights_[here].executions, row);
    rows_.push_back(std::move(row));
  }

  // The call site; of a callback, which OpenCL calls, the function itself.
  std::string place(const Node& n, const model::Shape& shape) const {
    size_t v = 0;
    for (const Arg& a : shape.args) {
      if (a.form == ArgForm::Code && store::is_callback_fn(shape.fn) && n.values[v].kind == Series::Kind::Const)
        return site_text(trace_, static_cast<model::SiteId>(n.values[v].value));
      v += static_cast<size_t>(value_count(a.form));
    }
    return site_text(trace_, shape.site);
  }

  // Times are kept per shape; a shape that stands in several places shares its time out by calls,
  // marked with ~.
  void times(model::ShapeId shape, uint64_t executions, ShowRow& row) const {
    const model::ShapeStats& s = trace_.stats[shape];
    const std::string mark = nodes_of_shape_.at(shape) > 1 ? "~" : "";
    row.host_ns = host_ns(shape, executions);
    row.device_ns = device_ns(shape, executions);
    if (s.host_ns.count && s.calls) row.host = mark + human_ns(static_cast<uint64_t>(row.host_ns));
    if (s.device_ns.count && s.calls) row.device = mark + human_ns(static_cast<uint64_t>(row.device_ns));
  }
  double host_ns(model::ShapeId shape, uint64_t executions) const {
    return share(trace_.stats[shape].host_ns, trace_.stats[shape].calls, executions);
  }
  double device_ns(model::ShapeId shape, uint64_t executions) const {
    return share(trace_.stats[shape].device_ns, trace_.stats[shape].calls, executions);
  }
  static double share(const model::Stats& time, uint64_t calls, uint64_t executions) {
    if (time.count == 0 || calls == 0) return 0;
    return static_cast<double>(time.sum) * std::min(1.0, static_cast<double>(executions) / static_cast<double>(calls));
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
      const bool special = a.param >= model::ParamKernelArg &&
                           !(a.param == model::ParamCallback && store::is_callback_fn(shape.fn));
      if (a.form == ArgForm::Int && api::is_error_code(shape.fn, a.param)) {
        if (!n.values[v].is_const(0)) result = " = " + value_text(n, a, v, depth, shape.fn);
      } else if (a.param == model::ParamContent) {
        args += (args.empty() ? "content=" : ", content=") + value_text(n, a, v, depth, shape.fn);
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
  const ShowOptions& options_;
  Selector selector_;
  std::vector<Weight> weights_;
  std::vector<int> value_counts_;
  uint64_t span_first_ = 0, span_last_ = 0;  // numbers of the calls of the outermost node around
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
