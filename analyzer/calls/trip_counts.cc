// One walk over the folded nodes, keys from the inside out.
#include "analyzer/calls/trip_counts.h"

#include <fmt/format.h>

namespace gt::analyzer {
namespace {

// FNV-1a over words.
class Hash {
 public:
  void add(uint64_t word) {
    for (int i = 0; i < 8; ++i, word >>= 8) value_ = (value_ ^ (word & 0xff)) * 0x100000001b3u;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

struct Body {
  Hash exact, loose;
  uint64_t calls = 0;
  model::ShapeId first = model::NoIndex;
};

class Walk {
 public:
  Walk(const model::Trace& trace, CallSites& sites, std::vector<LoopTrips>& out)
      : trace_(trace), sites_(sites), out_(out) {}

  Body visit(const std::vector<model::Node>& nodes) {
    Body body;
    for (const model::Node& n : nodes) {
      if (n.kind == model::Node::Kind::Call) add_call(body, n.shape);
      if (n.kind == model::Node::Kind::Loop) add_loop(body, n);
    }
    return body;
  }

 private:
  void add_call(Body& body, model::ShapeId id) {
    const model::Shape& shape = trace_.shapes[id];
    body.exact.add(shape.fn);
    body.loose.add(shape.fn);
    if (shape.site < trace_.sites.size()) body.exact.add(trace_.sites[shape.site].offset);
    if (body.first == model::NoIndex) body.first = id;
    ++body.calls;
  }

  void add_loop(Body& body, const model::Node& loop) {
    const size_t at = out_.size();
    out_.emplace_back();
    const Body inner = visit(loop.body);
    LoopTrips& l = out_[at];
    l.exact_key = inner.exact.value();
    l.loose_key = inner.loose.value();
    const bool constant = loop.count.kind == model::Series::Kind::Const;
    l.trips = constant ? std::to_string(loop.count.value) : "varies";
    l.name = fmt::format("loop of {} call{}{}", inner.calls, inner.calls == 1 ? "" : "s", place_of(inner.first));
    body.exact.add(l.exact_key);
    body.loose.add(l.loose_key);
    body.calls += inner.calls;
    if (body.first == model::NoIndex) body.first = inner.first;
  }

  std::string place_of(model::ShapeId first) {
    if (first == model::NoIndex || trace_.shapes[first].site >= trace_.sites.size()) return {};
    return " at " + sites_.find(trace_, trace_.shapes[first].site).place();
  }

  const model::Trace& trace_;
  CallSites& sites_;
  std::vector<LoopTrips>& out_;
};

}  // namespace

std::vector<LoopTrips> find_trip_counts(const model::Trace& trace, CallSites& sites) {
  std::vector<LoopTrips> out;
  Walk walk(trace, sites, out);
  for (const model::Stream& stream : trace.streams) {
    if (!stream.memory) (void)walk.visit(stream.nodes);
  }
  return out;
}

}  // namespace gt::analyzer
