// Node lists as bytes: varint(n), then node by node its kind and
//   Call: varint(shape), its series        Loop: the count, the body        Run: varint(events),
//   the packed bytes
#include "traces/model/fold/fold.h"

namespace gt::model {
namespace {

constexpr size_t MaxDepth = 32;
constexpr uint64_t MaxSeriesValues = 1 << 20;  // uncompressed elements of one series

class Decoder {
 public:
  Decoder(ByteReader& in, std::span<const int> value_counts)
      : in_(in), value_counts_(value_counts) {}

  bool list(std::vector<Node>& nodes, size_t depth) {
    const uint64_t n = in_.varint();
    if (!in_.ok() || n > in_.remaining() / 2 || depth > MaxDepth)
      return false;  // a node takes two bytes at least
    for (uint64_t i = 0; i < n; ++i) {
      if (!node(nodes.emplace_back(), depth)) return false;
    }
    return true;
  }

 private:
  bool node(Node& n, size_t depth) {
    const uint8_t kind = in_.u8();
    if (!in_.ok() || kind > static_cast<uint8_t>(Node::Kind::Summary)) return false;
    n.kind = static_cast<Node::Kind>(kind);
    switch (n.kind) {
      case Node::Kind::Call:
        return call(n);
      case Node::Kind::Loop:
        return decode(in_, n.count, MaxSeriesValues) && list(n.body, depth + 1) && !n.body.empty();
      case Node::Kind::Run:
      case Node::Kind::Summary:
        return depth == 0 && run(n);
    }
    return false;
  }
  bool call(Node& n) {
    const uint64_t shape = in_.varint();
    if (shape >= value_counts_.size()) return false;
    n.shape = static_cast<ShapeId>(shape);
    const auto values = static_cast<uint64_t>(value_counts_[shape]);
    if (values > in_.remaining()) return false;
    n.values.resize(values);
    for (Series& s : n.values) {
      if (!decode(in_, s, MaxSeriesValues)) return false;
    }
    return in_.ok();
  }
  bool run(Node& n) {
    n.count = Series(static_cast<int64_t>(in_.varint()));
    const ByteView bytes = in_.bytes();
    n.run.assign(bytes.begin(), bytes.end());
    return in_.ok() && n.count.value > 0 && !n.run.empty();
  }

  ByteReader& in_;
  std::span<const int> value_counts_;
};

}  // namespace

void encode_nodes(ByteWriter& out, const std::vector<Node>& nodes) {
  out.varint(nodes.size());
  for (const Node& n : nodes) {
    out.u8(static_cast<uint8_t>(n.kind));
    switch (n.kind) {
      case Node::Kind::Call:
        out.varint(n.shape);
        for (const Series& s : n.values) encode(out, s);
        break;
      case Node::Kind::Loop:
        encode(out, n.count);
        encode_nodes(out, n.body);
        break;
      case Node::Kind::Run:
      case Node::Kind::Summary:
        out.varint(static_cast<uint64_t>(n.count.value));
        out.bytes(n.run);
        break;
    }
  }
}

bool decode_nodes(ByteReader& in, std::vector<Node>& nodes, std::span<const int> value_counts) {
  nodes.clear();
  return Decoder(in, value_counts).list(nodes, 0);
}

}  // namespace gt::model
