// For each buffer: how it was made, and whether it was written to since. For each mapping: what it showed.
#include "analyzer/rules/map_flow.h"

#include <CL/cl.h>

#include <algorithm>
#include <map>

#include "analyzer/rules/replay.h"

namespace gt::analyzer {
namespace {

using model::ClassId;
using model::Effect;

using Object = std::pair<ClassId, int64_t>;

struct Buffer {
  bool written = false;
  bool on_device = false;
};

class MapFlow {
 public:
  MapFlow(const CallPlans& plans, std::vector<MapFacts>& facts) : plans_(plans), facts_(facts) {}

  void step(const Step& s) {
    if (s.plan.failed(s.values)) return;
    const Touch* target = s.plan.target();
    if (s.plan.creates_memory() && target && target->made() && plans_.followed(target->cls)) return create(s, *target);
    if (!s.plan.command) return;
    if (s.plan.maps() && target) map(s, *target);
    if (s.plan.unmaps()) unmap(s);
    const bool nothing = s.plan.unmaps() && s.plan.moves == model::Direction::None;
    for (const Touch& t : s.plan.touches)
      if (t.data() && !nothing && (t.effect == Effect::UseDef || t.effect == Effect::Def)) write(s, t);
  }

  void forget(std::span<const ClassId> classes) {
    const auto forgotten = [&](const auto& entry) {
      return std::binary_search(classes.begin(), classes.end(), entry.first.first);
    };
    std::erase_if(buffers_, forgotten);
    std::erase_if(shown_, forgotten);
  }

 private:
  void create(const Step& s, const Touch& t) {
    const size_t flags = flags_at(s.plan);
    constexpr int64_t HostMemory = CL_MEM_ALLOC_HOST_PTR | CL_MEM_USE_HOST_PTR;
    const bool known = flags != NoValue;
    buffers_[{t.cls, s.values[t.slot_at]}] = {s.plan.moves == model::Direction::HostToDevice || !known,
                                               known && (s.values[flags] & HostMemory) == 0};
  }

  // The first of the numbers that say what a create call makes.
  static size_t flags_at(const CallPlan& p) {
    if (p.fn->attributes.flags < 0 || p.part_at.empty()) return NoValue;
    return p.part_at.front();
  }

  void map(const Step& s, const Touch& t) {
    MapFacts& facts = facts_[s.plan.shape];
    const auto known = buffers_.find({t.cls, s.values[t.slot_at]});
    if (known != buffers_.end() && !known->second.written) facts.undefined += s.weight;
    if (known != buffers_.end() && known->second.on_device) facts.on_device += s.weight;
    const Touch* mapping = mapping_of(s.plan);
    if (mapping && s.plan.content_at != NoValue) {
      shown_[{mapping->cls, s.values[mapping->slot_at]}] = s.values[s.plan.content_at];
    }
  }

  void unmap(const Step& s) {
    const Touch* mapping = mapping_of(s.plan);
    if (!mapping || s.plan.content_at == NoValue) return;
    const auto shown = shown_.find({mapping->cls, s.values[mapping->slot_at]});
    if (shown == shown_.end()) return;
    if (shown->second >= 0 && shown->second == s.values[s.plan.content_at]) facts_[s.plan.shape].unchanged += s.weight;
    shown_.erase(shown);
  }

  static const Touch* mapping_of(const CallPlan& p) {
    const auto t = std::find_if(p.touches.begin(), p.touches.end(),
                                [](const Touch& x) { return x.kind == model::ObjectKind::Mapping; });
    return t == p.touches.end() ? nullptr : &*t;
  }

  void write(const Step& s, const Touch& t) {
    const auto known = buffers_.find({t.cls, s.values[t.slot_at]});
    if (known != buffers_.end()) known->second.written = true;
  }

  const CallPlans& plans_;
  std::vector<MapFacts>& facts_;
  std::map<Object, Buffer> buffers_;
  std::map<Object, int64_t> shown_;  // by mapping: the content number that the map call gave
};

}  // namespace

std::vector<MapFacts> follow_maps(const model::Trace& trace, const CallPlans& plans) {
  std::vector<MapFacts> facts(trace.shapes.size());
  const bool any = std::any_of(plans.begin(), plans.end(), [](const CallPlan& p) { return p.maps(); });
  if (!any) return facts;
  for (const model::Stream& stream : trace.streams) {
    if (stream.memory) continue;
    MapFlow flow(plans, facts);
    const ReplayListener listener{[&](const Step& s) { flow.step(s); },
                                  [&](std::span<const ClassId> classes) { flow.forget(classes); }};
    replay(trace, stream, plans, listener);
  }
  return facts;
}

}  // namespace gt::analyzer
