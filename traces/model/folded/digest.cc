// The canonical description: the loops of the graph of calls, and what each of their iterations does.
//
// It is made from which call followed which (flow_graph.h), never from how the stream was folded: where loops were
// noticed, which iterations were peeled off and where the last one broke off make no difference. A loop is a set of
// calls each of which leads to every other. It begins with its head, the call by which it is entered; without the head
// it falls apart into single calls and inner loops, in the order in which an iteration goes through them. Some of them
// it always goes through; the others lie between two of those:
//
//   for (...) { write; if (...) log; for (...) step; if (a) A; else B; read; }
//   edges      write>log>step>step>A>read>write, write>step, step>B>read
//   described  loop(write, {log}, loop(step), {A, B}, read)
//
// What may be left out has no order (sets, written sorted): which of two rare calls comes first shows only when both
// are made, and that may take any time. It has no values either: what only the last iteration does has its number in
// them. An inner part that is entered at several calls has no head; its calls are described as if each could be left
// out. So all that a program needs to have its digest is that each branch was taken once and left out once, and each
// loop ran twice.
#include "traces/model/folded/digest.h"

#include <algorithm>

#include "traces/model/fold/components.h"
#include "traces/model/folded/flow_graph.h"
#include "traces/model/fold/fold.h"

namespace gt::model {
namespace {

class Description {
 public:
  Description(FlowGraph graph, const std::function<uint64_t(ShapeId)>& shape_key, const DescribedValue& value)
      : graph_(std::move(graph)),
        shape_key_(shape_key),
        value_(value),
        in_part_(graph_.size()),
        position_(graph_.size(), Outside) {}

  // The walk comes to each component once, in the order of their first calls.
  void stream(ByteWriter& out) {
    Vertices all(graph_.size());
    for (uint32_t v = 0; v < all.size(); ++v) all[v] = v;
    std::vector<Vertices> parts = components(graph_.next, all, in_part_);
    for (Vertices& p : parts) std::sort(p.begin(), p.end());
    std::sort(parts.begin(), parts.end());
    for (const Vertices& p : parts) part(p, {p.front(), 0, true}, out);
    out.u8(graph_.summarised ? Summarised : End);
  }

 private:
  enum Mark : uint8_t { Call, Loop, Optional, End, Summarised };
  static constexpr size_t MaxDepth = 64;
  static constexpr uint32_t Outside = static_cast<uint32_t>(-1);

  bool is_loop(const Vertices& part) const {
    const Vertices& next = graph_.next[part.front()];
    return part.size() > 1 || std::find(next.begin(), next.end(), part.front()) != next.end();
  }

  struct Where {
    uint32_t head;
    size_t depth;
    bool always;  // nothing around it is left out by some iteration
  };
  void part(const Vertices& part, const Where& at, ByteWriter& out) {
    if (is_loop(part)) {
      loop(part, at, out);
    } else {
      call(at.head, at.always, out);
    }
  }

  void call(uint32_t v, bool always, ByteWriter& out) {
    out.u8(Call);
    const ShapeId shape = graph_.shapes[v];
    out.fixed64(shape_key_(shape));
    if (!always) return;
    for (size_t i = 0; i < graph_.values[v].size(); ++i) {
      const FlowValue& seen = graph_.values[v][i];
      const bool one = seen.seen == FlowValue::Seen::One;
      out.u8(one);
      if (one) out.svarint(value_(shape, i, seen.value));
    }
  }

  // An iteration goes through the parts in this order.
  struct Step {
    Vertices part;
    uint32_t head;       // Outside: it has none
    bool always = true;  // gone through in every iteration
  };

  void loop(const Vertices& members, const Where& around, ByteWriter& out) {
    const uint32_t head = around.head;
    Vertices rest = members;
    std::erase(rest, head);
    std::vector<Step> steps;
    for (Vertices& p : components(graph_.next, rest, in_part_)) steps.push_back({std::move(p), Outside});
    position_[head] = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      for (const uint32_t v : steps[i].part) position_[v] = static_cast<uint32_t>(i + 1);
    }
    find_heads(steps, members);
    find_optional(steps, members, head);
    for (const uint32_t v : members) position_[v] = Outside;
    out.u8(Loop);
    call(head, around.always, out);
    std::vector<Bytes> optional;
    for (const Step& s : steps) {
      const bool whole = s.head != Outside && around.depth < MaxDepth;
      if (whole && s.always) {
        write_sorted(optional, out);
        part(s.part, {s.head, around.depth + 1, around.always}, out);
        continue;
      }
      for (const uint32_t v : s.part) {
        if (whole && v != s.head) continue;
        ByteWriter one;
        whole ? part(s.part, {s.head, around.depth + 1, false}, one) : call(v, false, one);
        optional.push_back(one.take());
      }
    }
    write_sorted(optional, out);
    out.u8(End);
  }

  // The one call of each step that others of the loop lead to.
  void find_heads(std::vector<Step>& steps, const Vertices& members) const {
    std::vector<bool> several(steps.size());
    for (const uint32_t from : members) {
      for (const uint32_t to : graph_.next[from]) {
        const uint32_t at = position_[to];
        if (at == Outside || at == 0 || at == position_[from]) continue;
        Step& s = steps[at - 1];
        if (s.head != Outside && s.head != to) several[at - 1] = true;
        s.head = to;
      }
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      if (several[i]) steps[i].head = Outside;
    }
  }

  // A step that an edge passes over may be left out. The steps lie in the order of an iteration, the head before all
  // and, of the next iteration, behind all.
  void find_optional(std::vector<Step>& steps, const Vertices& members, uint32_t loop_head) const {
    std::vector<int64_t> passing(steps.size() + 2);  // differences
    for (const uint32_t from : members) {
      for (const uint32_t to : graph_.next[from]) {
        if (position_[to] == Outside) continue;
        const size_t begin = position_[from], end = to == loop_head ? steps.size() + 1 : position_[to];
        if (end < begin + 2) continue;
        ++passing[begin + 1];
        --passing[end];
      }
    }
    int64_t over = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      over += passing[i + 1];
      steps[i].always = over == 0;
    }
  }

  static void write_sorted(std::vector<Bytes>& optional, ByteWriter& out) {
    std::sort(optional.begin(), optional.end());
    for (const Bytes& b : optional) {
      out.u8(Optional);
      out.bytes(b);
    }
    optional.clear();
  }

  const FlowGraph graph_;
  const std::function<uint64_t(ShapeId)>& shape_key_;
  const DescribedValue& value_;
  std::vector<bool> in_part_;
  Vertices position_;  // in the loop that is being described: 0 its head, then its steps
};

}  // namespace

void digest(std::span<const Node> nodes, std::span<const int> value_counts,
            const std::function<uint64_t(ShapeId)>& shape_key, const DescribedValue& value, ByteWriter& out) {
  Description(flow_graph(nodes, value_counts), shape_key, value).stream(out);
}

void digest(std::span<const Node> nodes, std::span<const int> value_counts,
            const std::function<uint64_t(ShapeId)>& shape_key, ByteWriter& out) {
  digest(nodes, value_counts, shape_key, [](ShapeId, size_t, int64_t v) { return v; }, out);
}

}  // namespace gt::model
