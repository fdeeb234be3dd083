// The tree diff.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tracer/gtrace/compare/align.h"
#include "tracer/gtrace/compare/diff.h"
#include "tracer/gtrace/base/names.h"
#include "tracer/gtrace/base/weights.h"
#include "traces/api/clock_values.h"
#include "traces/model/fold/address_param.h"
#include "traces/model/fold/fold.h"
#include "traces/model/ssa/object_names.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using model::Arg;
using model::ArgForm;
using model::Node;
using model::Series;
using model::Trace;

uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u + (h >> 29); }
uint64_t mix(uint64_t h, std::string_view text) {
  for (const char c : text) h = mix(h, static_cast<unsigned char>(c));
  return mix(h, text.size());
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

using Builds = std::set<std::pair<std::string, std::string>>;  // file name, build-id
Builds builds(const Trace& trace) {
  Builds out;
  for (const model::Module& m : trace.modules) out.emplace(base_name(m.path), m.build_id);
  return out;
}

// One trace with what the comparison needs to know of it.
class Side {
 public:
  Side(const Trace& t, const Builds& other) : trace(t), names(t) {
    for (const model::Module& m : t.modules) {
      known_.push_back(other.count({std::string(base_name(m.path)), m.build_id}) > 0);
    }
    for (const model::Shape& s : t.shapes) {
      shapes_.push_back(shape_key(s));
      widths.push_back(s.values());
    }
  }

  uint64_t key(const Node& n) const {
    if (n.kind == Node::Kind::Call) return shapes_[n.shape];
    uint64_t h = mix(0x100u + static_cast<uint64_t>(n.kind), n.body.size());
    for (const Node& b : n.body) h = mix(h, key(b));
    return h;
  }
  std::vector<uint64_t> keys(const std::vector<Node>& nodes) const {
    std::vector<uint64_t> out;
    for (const Node& n : nodes) out.push_back(key(n));
    return out;
  }
  uint64_t shape(model::ShapeId id) const { return shapes_[id]; }

  std::string call_name(model::ShapeId id) const {
    const model::Shape& s = trace.shapes[id];
    return store::function_name(s.fn) + " @ " + site_text(trace, s.site);
  }

  const Trace& trace;
  model::ObjectNames names;
  std::vector<int> widths;

 private:
  uint64_t site_key(model::SiteId id) const {
    uint64_t h = 7;
    for (int depth = 0; id != model::NoIndex && depth < 16; ++depth) {
      const model::Site* site = model::find_site(trace, id);
      if (!site || site->module == model::NoIndex || !known_[site->module]) break;
      h = mix(mix(h, base_name(trace.modules[site->module].path)), site->offset);
      id = site->outer;
    }
    return h;
  }
  uint64_t shape_key(const model::Shape& s) const {
    uint64_t h = mix(mix(mix(1, store::function_name(s.fn)), site_key(s.site)), s.unfinished);
    for (const Arg& a : s.args) {
      const auto kind = a.cls == model::NoIndex ? 0xff : static_cast<uint64_t>(trace.classes[a.cls].kind);
      h = mix(h, (uint64_t{a.param} << 24) | (static_cast<uint64_t>(a.form) << 16) |
                     (static_cast<uint64_t>(a.effect) << 8) | kind);
    }
    return h;
  }

  std::vector<bool> known_;  // by module: the other trace has this very build
  std::vector<uint64_t> shapes_;
};

// Keys of all calls below a node, sorted: how alike two loops are.
void gather(const Side& side, const Node& n, std::vector<uint64_t>& out) {
  if (n.kind == Node::Kind::Call) out.push_back(side.key(n));
  for (const Node& b : n.body) gather(side, b, out);
}

class Comparison {
 public:
  Comparison(const Side& a, const Side& b) : a_(a), b_(b) {}

  void streams(const model::Stream& a, const model::Stream& b) {
    thread_ = a.thread;
    memory_ = a.memory;
    weights_a_ = weigh(a.nodes);
    weights_b_ = weigh(b.nodes);
    index(a.nodes, index_a_);
    index(b.nodes, index_b_);
    lists(a.nodes, b.nodes, 0);
  }
  void only(const model::Stream& s, bool in_a) {
    thread_ = s.thread;
    memory_ = s.memory;
    Difference d = make(in_a ? Difference::Kind::OnlyA : Difference::Kind::OnlyB, "");
    d.what = fmt::format("{} {} calls of this thread", model::event_count(s.nodes), s.memory ? "memory" : "OpenCL");
    out_.push_back(std::move(d));
  }
  std::vector<Difference> take() { return std::move(out_); }

 private:
  // Position of each node in pre-order, as weigh() numbers them.
  static void index(const std::vector<Node>& nodes, std::map<const Node*, size_t>& out) {
    out.clear();
    size_t next = 0;
    index_list(nodes, next, out);
  }
  static void index_list(const std::vector<Node>& nodes, size_t& next, std::map<const Node*, size_t>& out) {
    for (const Node& n : nodes) {
      out[&n] = next++;
      index_list(n.body, next, out);
    }
  }
  std::string number_a(const Node& n) const { return number(weights_a_[index_a_.at(&n)]); }
  std::string number_b(const Node& n) const { return number(weights_b_[index_b_.at(&n)]); }
  static std::string number(const Weight& w) { return w.number ? std::to_string(*w.number) : std::string(); }

  Difference make(Difference::Kind kind, std::string number) const {
    Difference d;
    d.kind = kind;
    d.thread = thread_;
    d.memory = memory_;
    d.number = std::move(number);
    return d;
  }

  void lists(const std::vector<Node>& a, const std::vector<Node>& b, size_t depth) {
    size_t i = 0, j = 0;
    auto pairs = align(a_.keys(a), b_.keys(b));
    pairs.emplace_back(a.size(), b.size());
    for (const auto& [x, y] : pairs) {
      gap(std::span(a).subspan(i, x - i), std::span(b).subspan(j, y - j), depth);
      if (x < a.size()) same(a[x], b[y], depth);
      i = x + 1;
      j = y + 1;
    }
  }

  // Nodes that have no equal. Loops with much in common are compared inside, in order; the rest is on one side only.
  void gap(std::span<const Node> a, std::span<const Node> b, size_t depth) {
    size_t next = 0;
    for (const Node& n : a) {
      size_t match = b.size();
      for (size_t j = next; n.kind == Node::Kind::Loop && j < b.size(); ++j) {
        if (b[j].kind == Node::Kind::Loop && alike(n, b[j])) {
          match = j;
          break;
        }
      }
      if (match == b.size()) {
        one_side(n, true);
        continue;
      }
      for (; next < match; ++next) one_side(b[next], false);
      same(n, b[next++], depth);
    }
    for (; next < b.size(); ++next) one_side(b[next], false);
  }

  bool alike(const Node& a, const Node& b) const {
    std::vector<uint64_t> x, y, both;
    gather(a_, a, x);
    gather(b_, b, y);
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
    return 2 * both.size() >= std::max(x.size(), y.size());
  }

  void one_side(const Node& n, bool in_a) {
    const Side& side = in_a ? a_ : b_;
    Difference d =
        make(in_a ? Difference::Kind::OnlyA : Difference::Kind::OnlyB, in_a ? number_a(n) : number_b(n));
    d.what = n.kind == Node::Kind::Call ? side.call_name(n.shape) : describe(side, n);
    out_.push_back(std::move(d));
  }
  static std::string describe(const Side& side, const Node& n) {
    if (n.kind != Node::Kind::Loop) return fmt::format("{} calls without a pattern", n.count.value);
    std::string first;
    for (const Node* at = &n; first.empty() && !at->body.empty(); at = &at->body[0]) {
      if (at->body[0].kind == Node::Kind::Call) first = store::function_name(side.trace.shapes[at->body[0].shape].fn);
    }
    return fmt::format("loop ×{} of {} … ({} nodes)", model::series_text(n.count, 0), first, n.body.size());
  }

  void same(const Node& a, const Node& b, size_t depth) {
    if (a.kind == Node::Kind::Call) return arguments(a, b, depth);
    if (a.kind != Node::Kind::Loop) return irregular(a, b);
    if (!(a.count == b.count)) {
      Difference d = make(Difference::Kind::TripCount, number_a(a));
      d.what = describe(a_, a);
      d.a = count_text(a.count, depth);
      d.b = count_text(b.count, depth);
      out_.push_back(std::move(d));
    }
    lists(a.body, b.body, depth + 1);
  }
  static std::string count_text(const Series& s, size_t depth) {
    return s.kind == Series::Kind::Column ? "varies" : model::series_text(s, depth);
  }

  void irregular(const Node& a, const Node& b) {
    if (a.count == b.count && (a.kind != Node::Kind::Run || run_key(a_, a) == run_key(b_, b))) return;
    Difference d = make(Difference::Kind::Irregular, number_a(a));
    d.what = describe(a_, a);
    d.a = fmt::format("{} calls", a.count.value);
    d.b = a.count == b.count ? "other calls" : fmt::format("{} calls", b.count.value);
    out_.push_back(std::move(d));
  }
  // Of the calls only: their values may name objects and blobs by numbers of this run.
  static uint64_t run_key(const Side& side, const Node& n) {
    uint64_t h = 0;
    (void)model::expand_run(n, side.widths, [&](model::ShapeId shape, std::span<const int64_t>) {
      h = mix(h, side.shape(shape));
      return true;
    });
    return h;
  }

  void arguments(const Node& a, const Node& b, size_t depth) {
    const model::Shape& shape = a_.trace.shapes[a.shape];
    const model::Shape& other = b_.trace.shapes[b.shape];
    size_t v = 0;
    for (size_t i = 0; i < shape.args.size() && i < other.args.size(); ++i) {
      const Arg& arg = shape.args[i];
      const auto count = static_cast<size_t>(value_count(arg.form));
      if (arg.param != model::ParamAllocs && count > 0 && !incidental(shape.fn, arg) && v + count <= b.values.size()) {
        const std::string x = value_text(a_, a, shape, arg, v, depth);
        const std::string y = value_text(b_, b, other, other.args[i], v, depth);
        if (x != y) add_argument(a, shape, arg, x, y);
      }
      v += count;
    }
  }
  // Addresses and times differ from run to run; which memory an allocation returned follows from what was freed before.
  bool incidental(model::FnId fn, const Arg& arg) const {
    return arg.form == ArgForm::Raw || arg.form == ArgForm::Code || (memory_ && arg.form != ArgForm::Int) ||
           arg.param == model::ParamAddress || api::is_clock_value(fn, arg.param);
  }
  void add_argument(const Node& a, const model::Shape& shape, const Arg& arg, const std::string& x,
                    const std::string& y) {
    Difference d = make(Difference::Kind::Argument, number_a(a));
    d.what = a_.call_name(a.shape);
    d.argument = param_name(shape.fn, arg.param);
    d.a = x;
    d.b = y;
    out_.push_back(std::move(d));
  }

  static std::string value_text(const Side& side, const Node& n, const model::Shape& shape, const Arg& arg, size_t v,
                                size_t depth) {
    const Series& s = n.values[v];
    switch (arg.form) {
      case ArgForm::Object:
        return side.names.text(arg.cls, s, depth);
      case ArgForm::Memory:
        return side.names.text(arg.cls, s, depth) + "+" + series(n.values[v + 1], depth);
      case ArgForm::Blob: {
        const model::Blob* blob = s.kind == Series::Kind::Const ? model::find_blob(side.trace, s.value) : nullptr;
        return blob ? short_text(quoted_blob(*blob)) : "…";
      }
      default: {
        if (s.kind != Series::Kind::Const) return series(s, depth);
        std::string out;
        append_number(out, shape.fn, arg.param, s.value);
        return out;
      }
    }
  }
  static std::string series(const Series& s, size_t depth) {
    if (s.kind != Series::Kind::Column) return model::series_text(s, depth);
    uint64_t h = 0;
    int64_t value = 0;
    model::ColumnReader reader(s.column());
    for (uint64_t n = 0; n < (uint64_t{1} << 24) && reader.next(value); ++n) h = mix(h, static_cast<uint64_t>(value));
    return fmt::format("{} values ({:04x})", s.column().size, h & 0xffff);
  }
  // The end of a long text may be all that differs: a hash stands for it.
  static std::string short_text(const std::string& text) {
    constexpr size_t Long = 40;
    if (text.size() <= Long) return text;
    return fmt::format("[{} bytes, {:08x}]", text.size(), mix(3, text) & 0xffffffff);
  }

  const Side& a_;
  const Side& b_;
  model::ThreadId thread_ = 0;
  bool memory_ = false;
  std::vector<Weight> weights_a_, weights_b_;
  std::map<const Node*, size_t> index_a_, index_b_;
  std::vector<Difference> out_;
};

}  // namespace

const char* difference_name(Difference::Kind kind) {
  constexpr const char* Names[] = {"only in A", "only in B", "trip count", "argument", "irregular"};
  return Names[static_cast<size_t>(kind)];
}

std::vector<Difference> compare_structure(const Trace& a, const Trace& b) {
  const Side side_a(a, builds(b)), side_b(b, builds(a));
  std::map<std::pair<model::ThreadId, bool>, std::pair<const model::Stream*, const model::Stream*>> streams;
  for (const model::Stream& s : a.streams) streams[{s.thread, s.memory}].first = &s;
  for (const model::Stream& s : b.streams) streams[{s.thread, s.memory}].second = &s;
  Comparison comparison(side_a, side_b);
  for (const auto& [key, pair] : streams) {
    if (pair.first && pair.second) {
      comparison.streams(*pair.first, *pair.second);
    } else {
      comparison.only(pair.first ? *pair.first : *pair.second, pair.first != nullptr);
    }
  }
  return comparison.take();
}

}  // namespace gt::tracer
