// Values to JSON.
#include "analyzer/report/flow_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;
using Block = TimelineBlock;

// Shapes by their place in the list that the page gets.
class ShapeNumbers {
 public:
  explicit ShapeNumbers(const std::vector<TimelineShape>& shapes) : shapes_(shapes) {}
  size_t of(model::ShapeId shape) const {
    const auto at = std::lower_bound(
        shapes_.begin(), shapes_.end(), shape,
        [](const TimelineShape& s, model::ShapeId id) { return s.shape < id; });
    return static_cast<size_t>(at - shapes_.begin());
  }

 private:
  const std::vector<TimelineShape>& shapes_;
};

Json queue_number(uint32_t queue) { return queue == model::NoIndex ? Json(-1) : Json(queue); }

Json stretch(const Block& b, const ShapeNumbers& numbers) {
  Json calls = Json::array();
  for (const StretchCalls& c : b.calls) {
    calls.push_back({numbers.of(c.shape), queue_number(c.queue), c.calls});
  }
  return {{"blocks", b.blocks}, {"calls", calls}};
}

Json track(const TimelineTrack& t, const ShapeNumbers& numbers, Json& stretches) {
  Json depth = Json::array(), kind = depth, ref = depth, times = depth, queue = depth;
  for (const Block& b : t.blocks) {
    depth.push_back(b.depth);
    kind.push_back(static_cast<int>(b.kind));
    times.push_back(b.times);
    queue.push_back(queue_number(b.queue));
    if (b.kind == Block::Kind::Call) {
      ref.push_back(numbers.of(b.shape));
    } else if (b.kind == Block::Kind::Loop) {
      ref.push_back(b.entered);
    } else {
      ref.push_back(stretches.size());
      stretches.push_back(stretch(b, numbers));
    }
  }
  return {{"name", "thread " + std::to_string(t.thread)},
          {"depth", std::move(depth)},
          {"kind", std::move(kind)},
          {"ref", std::move(ref)},
          {"times", std::move(times)},
          {"queue", std::move(queue)}};
}

}  // namespace

Json flows_json(const Flows& flows) {
  Json nodes = Json::array(), edges = Json::array();
  for (const FlowNode& n : flows.nodes) {
    nodes.push_back({{"kind", flow_kind_name(n.kind)},
                     {"name", n.name},
                     {"what", n.what},
                     {"place", n.place},
                     {"bytes", n.bytes},
                     {"count", n.count},
                     {"time_ns", n.time_ns}});
  }
  for (const FlowEdge& e : flows.edges) {
    edges.push_back({{"from", e.from},
                     {"to", e.to},
                     {"bytes", e.bytes},
                     {"count", e.count},
                     {"time_ns", e.time_ns}});
  }
  return {{"nodes", nodes}, {"edges", edges}};
}

Json functions_json(const std::vector<FunctionSums>& functions) {
  Json out = Json::array();
  for (const FunctionSums& f : functions) {
    out.push_back({{"name", f.name},
                   {"calls", f.calls},
                   {"failed", f.failed},
                   {"host_ns", f.host_ns},
                   {"device_ns", f.device_ns},
                   {"bytes", f.bytes},
                   {"places", f.places}});
  }
  return out;
}

Json timeline_json(const FoldedTimeline& timeline) {
  const ShapeNumbers numbers(timeline.shapes);
  Json shapes = Json::array(), tracks = Json::array(), stretches = Json::array();
  for (const TimelineShape& s : timeline.shapes) {
    shapes.push_back({{"function", s.function},
                      {"place", s.place},
                      {"kernel", s.kernel},
                      {"role", s.role},
                      {"host_ns", s.host_ns},
                      {"device_ns", s.device_ns},
                      {"bytes", s.bytes}});
  }
  for (const TimelineTrack& t : timeline.tracks) tracks.push_back(track(t, numbers, stretches));
  return {{"queues", timeline.queues},
          {"shapes", shapes},
          {"tracks", tracks},
          {"stretches", stretches},
          {"left_out", timeline.left_out}};
}

}  // namespace gt::analyzer
