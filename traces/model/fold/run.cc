// Packing stretches of events and reading them back.
#include "traces/model/fold/run.h"

#include "traces/model/series/pack.h"

namespace gt::model {
namespace {

// An event's index takes up to three bytes, a value up to ten; one event of any width fits above
// MaxValues.
constexpr size_t MaxRunBytes = size_t{64} << 20;

struct Columns {
  ShapeId shape = 0;
  size_t width = 0;
  uint64_t events = 0, next = 0;
  std::vector<int64_t> values;  // event by event
};

bool read_columns(ByteReader& in, Columns& c) {
  if (c.width * c.events > in.remaining()) return false;  // a value takes a byte at least
  c.values.resize(c.width * c.events);
  for (size_t v = 0; v < c.width; ++v) {
    uint64_t previous = 0;
    for (uint64_t e = 0; e < c.events; ++e) {
      previous += static_cast<uint64_t>(in.svarint());
      c.values[e * c.width + v] = static_cast<int64_t>(previous);
    }
  }
  return in.ok();
}

bool read_order(ByteReader& in, uint64_t events, std::vector<Columns>& shapes,
                std::vector<uint32_t>& order) {
  if (events == 0 || events > in.remaining()) return false;
  order.resize(events);
  for (uint32_t& o : order) {
    const uint64_t index = in.varint();
    if (index >= shapes.size()) return false;
    o = static_cast<uint32_t>(index);
    ++shapes[o].events;
  }
  return in.ok();
}

bool read_shapes(ByteReader& in, std::span<const int> value_counts, std::vector<Columns>& shapes) {
  const uint64_t n = in.varint();
  if (n > in.remaining()) return false;
  shapes.resize(n);
  for (Columns& c : shapes) {
    const uint64_t shape = in.varint();
    if (shape >= value_counts.size() || value_counts[shape] < 0) return false;
    c.shape = static_cast<ShapeId>(shape);
    c.width = static_cast<size_t>(value_counts[shape]);
  }
  return in.ok();
}

}  // namespace

void RunBuilder::append(ShapeId shape, std::span<const int64_t> values) {
  if (shape >= index_.size()) index_.resize(shape + 1, 0);
  uint32_t& place = index_[shape];
  if (place == 0) {
    shapes_.push_back({shape, values.size(), {}});
    place = static_cast<uint32_t>(shapes_.size());
  }
  Rows& rows = shapes_[place - 1];
  for (const int64_t v : values) rows.values.push_back(v);  // few: insert() would call memmove for them
  order_.push_back(place - 1);
  values_ += values.size();
}

Node RunBuilder::node() const {
  ByteWriter out;
  out.varint(order_.size());
  out.varint(shapes_.size());
  for (const Rows& r : shapes_) out.varint(r.shape);
  for (const uint32_t o : order_) out.varint(o);
  for (const Rows& r : shapes_) {
    for (size_t v = 0; v < r.width; ++v) {
      uint64_t previous = 0;
      const int64_t* at = r.values.data() + v;
      out.svarints(r.values.size() / r.width, [&] {
        const auto value = static_cast<uint64_t>(*at);
        const uint64_t delta = value - previous;
        previous = value;
        at += r.width;
        return static_cast<int64_t>(delta);
      });
    }
  }
  Node node;
  node.kind = Node::Kind::Run;
  node.count = Series(static_cast<int64_t>(order_.size()));
  node.run = pack(out.view());
  return node;
}

void RunBuilder::clear() { *this = RunBuilder(); }

bool expand_run(const Node& run, std::span<const int> value_counts, const EventVisitor& visit) {
  Bytes raw;
  if (!unpack(run.run, MaxRunBytes, raw)) return false;
  ByteReader in(raw);
  const uint64_t events = in.varint();
  if (!run.count.is_const(static_cast<int64_t>(events))) return false;
  std::vector<Columns> shapes;
  std::vector<uint32_t> order;
  if (!read_shapes(in, value_counts, shapes) || !read_order(in, events, shapes, order))
    return false;
  for (Columns& c : shapes) {
    if (!read_columns(in, c)) return false;
  }
  if (!in.at_end()) return false;
  for (const uint32_t o : order) {
    Columns& c = shapes[o];
    if (!visit(c.shape, std::span(c.values).subspan(c.next++ * c.width, c.width))) return true;
  }
  return true;
}

Node make_summary(const ShapeCounts& counts) {
  ByteWriter out;
  uint64_t total = 0;
  out.varint(counts.size());
  for (const auto& [shape, calls] : counts) {
    out.varint(shape);
    out.varint(calls);
    total += calls;
  }
  Node node;
  node.kind = Node::Kind::Summary;
  node.count = Series(static_cast<int64_t>(total));
  node.run = pack(out.view());
  return node;
}

bool expand_summary(const Node& summary, size_t shapes, const std::function<void(ShapeId, uint64_t)>& visit) {
  Bytes raw;
  if (!unpack(summary.run, MaxRunBytes, raw)) return false;
  ByteReader in(raw);
  const uint64_t n = in.varint();
  uint64_t total = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const uint64_t shape = in.varint(), calls = in.varint();
    if (!in.ok() || shape >= shapes || __builtin_add_overflow(total, calls, &total)) return false;
    visit(static_cast<ShapeId>(shape), calls);
  }
  return in.at_end() && summary.count.is_const(static_cast<int64_t>(total));
}

}  // namespace gt::model
