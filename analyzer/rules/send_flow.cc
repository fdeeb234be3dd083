// A state for each buffer: what it holds and where that came from, and what was sent to it that nothing has read yet.
#include "analyzer/rules/send_flow.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "analyzer/calls/region.h"
#include "analyzer/calls/seen_values.h"
#include "analyzer/rules/replay.h"

namespace gt::analyzer {
namespace {

using model::ClassId;
using model::Direction;
using model::Effect;

constexpr size_t MostParts = 64;  // of one object that are followed; beyond, the oldest are forgotten
constexpr int64_t Unknown = -1;

using Object = std::pair<ClassId, int64_t>;
using Place = std::tuple<ClassId, int64_t, int64_t>;  // an address of the host: memory and offset

enum class Source : uint8_t { Sent, Received };
struct Held {
  Region region;
  int64_t content;
  Source source;
  bool gone;  // the buffer was made anew since
};
struct Unread {
  Region region;
  model::ShapeId shape;
};
struct State {
  std::vector<Held> held;
  std::vector<Unread> unread;
};
struct Received {
  int64_t content;
  int64_t bytes;
};

template <class T>
void push_bounded(std::vector<T>& list, T item) {
  if (list.size() >= MostParts) list.erase(list.begin());
  list.push_back(std::move(item));
}

class SendFlow {
 public:
  // `late`: host memory whose bytes may still be on their way when they are sent.
  SendFlow(const CallPlans& plans, const std::set<ClassId>& late, std::vector<SendFacts>& facts)
      : plans_(plans), late_(late), facts_(facts) {}

  void step(const Step& s) {
    if (s.plan.failed(s.values)) return;
    for (const Touch& t : s.plan.touches)
      if (t.made() && t.data()) create(s, t);
    const bool plain = s.plan.command && s.plan.fn->attributes.direction == api::DirectionRule::Fixed;
    if (s.plan.host_transfer() && s.plan.target() && (plain || s.plan.creates_memory())) {
      return s.plan.moves == Direction::HostToDevice ? send(s) : receive(s);
    }
    if (!s.plan.command) return;
    for (const Touch& t : s.plan.touches)
      if (t.data()) other(s, t);
  }

  void forget(std::span<const ClassId> classes) {
    const auto forgotten = [&](ClassId c) { return std::binary_search(classes.begin(), classes.end(), c); };
    std::erase_if(states_, [&](const auto& entry) { return forgotten(entry.first.first); });
    std::erase_if(received_, [&](const auto& entry) { return forgotten(std::get<0>(entry.first)); });
  }

  void end() {
    for (auto& [object, state] : states_)
      for (const Unread& u : state.unread) facts_[u.shape].unread += 1;
    states_.clear();
  }

 private:
  void create(const Step& s, const Touch& t) {
    const auto known = states_.find({t.cls, s.values[t.slot_at]});
    if (known == states_.end()) return;
    for (const Unread& u : known->second.unread) facts_[u.shape].unread += s.weight;
    known->second.unread.clear();
    for (Held& h : known->second.held) h.gone = true;
  }

  void send(const Step& s) {
    const Touch& t = *s.plan.target();
    if (!plans_.followed(t.cls)) return;
    const Region region = region_of(s);
    State& state = states_[{t.cls, s.values[t.slot_at]}];
    const Touch* host = s.plan.host();
    const int64_t content = host && late_.contains(host->cls) ? Unknown : content_of(s);
    if (content != Unknown && known_already(s, state, region, content)) return;
    std::erase_if(state.unread, [&](const Unread& u) {
      if (!region.covers(u.region)) return false;
      facts_[u.shape].unread += s.weight;
      return true;
    });
    push_bounded(state.unread, {region, s.plan.shape});
    define(state, region, content, Source::Sent);
  }

  // Counts a send whose bytes are known. True: the buffer has them already, so nothing changes.
  bool known_already(const Step& s, State& state, const Region& region, int64_t content) {
    SendFacts& facts = facts_[s.plan.shape];
    const auto same = std::find_if(state.held.begin(), state.held.end(),
                                   [&](const Held& h) { return h.region == region && h.content == content; });
    if (same == state.held.end()) {
      if (came_from_device(s, content)) facts.moved += s.weight;
      return false;
    }
    (same->gone ? facts.kept : same->source == Source::Sent ? facts.held : facts.returned) += s.weight;
    return !same->gone;
  }

  bool came_from_device(const Step& s, int64_t content) const {
    const Touch* host = s.plan.host();
    if (!host || s.plan.size_at == NoValue) return false;
    const auto known = received_.find(place_of(s, *host));
    return known != received_.end() && known->second.content == content &&
           known->second.bytes == s.values[s.plan.size_at];
  }

  void receive(const Step& s) {
    const Touch& t = *s.plan.target();
    const Region region = region_of(s);
    const int64_t content = content_of(s);
    if (const Touch* host = s.plan.host(); host && s.plan.size_at != NoValue) {
      if (content == Unknown)
        received_.erase(place_of(s, *host));
      else
        received_[place_of(s, *host)] = {content, s.values[s.plan.size_at]};
    }
    if (!plans_.followed(t.cls)) return;
    State& state = states_[{t.cls, s.values[t.slot_at]}];
    std::erase_if(state.unread, [&](const Unread& u) { return u.region.overlaps(region); });
    const bool known = std::any_of(state.held.begin(), state.held.end(), [&](const Held& h) {
      return h.region == region && h.content == content && !h.gone;
    });
    if (content != Unknown && !known) push_bounded(state.held, {region, content, Source::Received, false});
  }

  // Kernels, copies, maps and the like: of the whole object.
  void other(const Step& s, const Touch& t) {
    if (!plans_.followed(t.cls) || (s.plan.unmaps() && s.plan.moves == Direction::None)) return;
    const auto known = states_.find({t.cls, s.values[t.slot_at]});
    if (known == states_.end()) return;
    const bool only_writes = s.plan.moves != Direction::None && t.effect == Effect::UseDef;
    if (t.effect != Effect::None && !only_writes) known->second.unread.clear();
    if (t.effect == Effect::Def || t.effect == Effect::UseDef) known->second.held.clear();
  }

  static void define(State& state, const Region& region, int64_t content, Source source) {
    std::erase_if(state.held, [&](const Held& h) { return h.region.overlaps(region); });
    if (content != Unknown) push_bounded(state.held, {region, content, source, false});
  }

  static Region region_of(const Step& s) {
    Region r;
    const CallPlan& p = s.plan;
    const bool bytes = p.size_at != NoValue && (p.offset_at != NoValue || p.creates_memory());
    if (bytes) {
      r.low = p.offset_at == NoValue ? 0 : static_cast<uint64_t>(s.values[p.offset_at]);
      r.high = r.low + static_cast<uint64_t>(s.values[p.size_at]);
    } else {
      for (const size_t at : p.part_at) r.key.push_back(s.values[at]);
    }
    return r;
  }
  static int64_t content_of(const Step& s) {
    const int64_t c = s.plan.content_at == NoValue ? Unknown : s.values[s.plan.content_at];
    return c == model::Unkept ? Unknown : c;
  }
  static Place place_of(const Step& s, const Touch& host) {
    return {host.cls, s.values[host.slot_at], s.values[host.slot_at + 1]};
  }

  const CallPlans& plans_;
  const std::set<ClassId>& late_;
  std::vector<SendFacts>& facts_;
  std::map<Object, State> states_;
  std::map<Place, Received> received_;
};

// Did the program come to its end? Else what it sent last may have been about to be read.
bool ended(const model::Trace& trace) {
  const std::string_view state = trace.fact("recording");
  const bool killed = !trace.processes.empty() && trace.processes.front().exit_signal != 0;
  return (state.empty() || state == "complete") && !killed;
}

// Memory that receives without waiting. What is sent from it was looked at when the send was enqueued, perhaps before
// the receive had ended.
std::set<ClassId> received_late(const model::Trace& trace, const CallPlans& plans) {
  const auto receives = [](const CallPlan& p) {
    return p.host_transfer() && p.moves == Direction::DeviceToHost && p.host();
  };
  std::set<model::ShapeId> shapes;
  for (const CallPlan& p : plans)
    if (receives(p)) shapes.insert(p.shape);
  const auto seen = find_seen_values(trace, shapes);
  std::set<ClassId> late;
  for (const CallPlan& p : plans) {
    const auto values = seen.find(p.shape);
    if (!receives(p) || values == seen.end()) continue;
    const SeenValues* blocking = p.blocking_at < values->second.size() ? &values->second[p.blocking_at] : nullptr;
    if (!blocking || blocking->more || blocking->values.contains(0)) late.insert(p.host()->cls);
  }
  return late;
}

}  // namespace

std::vector<SendFacts> follow_sends(const model::Trace& trace, const CallPlans& plans) {
  std::vector<SendFacts> facts(trace.shapes.size());
  const std::set<ClassId> late = received_late(trace, plans);
  for (const model::Stream& stream : trace.streams) {
    if (stream.memory) continue;
    SendFlow flow(plans, late, facts);
    const ReplayListener listener{[&](const Step& s) { flow.step(s); },
                                  [&](std::span<const ClassId> classes) { flow.forget(classes); }};
    replay(trace, stream, plans, listener);
    if (ended(trace)) flow.end();
  }
  return facts;
}

}  // namespace gt::analyzer
