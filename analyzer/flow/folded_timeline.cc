// From the folded streams to blocks: one walk, then what is too small goes.
#include "analyzer/flow/folded_timeline.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/flow/timeline_thinning.h"
#include "traces/api/api.h"
#include "traces/model/folded/executions.h"
#include "traces/model/fold/fold.h"
#include "traces/model/ssa/object_names.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using Block = TimelineBlock;
using model::Node;

const char* role_of(const model::Shape& s) {
  if (s.moves != model::Direction::None) return store::direction_name(s.moves);
  if (store::launches_kernel(s.fn)) return "kernel";
  const api::Attributes& a = api::attributes(s.fn);
  if (a.waits) return "wait";
  return a.options >= 0 ? "build" : "other";
}

double mean(const model::Stats& s, uint64_t calls) {
  return calls ? static_cast<double>(s.sum) / static_cast<double>(calls) : 0;
}

class Queues {
 public:
  explicit Queues(const model::Trace& trace) : trace_(trace), names_(trace) {
    for (const model::Shape& s : trace.shapes) {
      places_.push_back(place_in(s));
      value_counts_.push_back(s.values());
    }
  }

  uint32_t of(const Node& call) {
    const Place& p = places_[call.shape];
    if (p.cls == model::NoIndex || p.value >= call.values.size()) return model::NoIndex;
    std::string name = names_.text(p.cls, call.values[p.value], 0);
    if (call.values[p.value].kind != model::Series::Kind::Const) {
      name = name.substr(0, name.find('[')) + "[...]";
    }
    return number(name);
  }
  uint32_t of(model::ShapeId shape, std::span<const int64_t> values) {
    const Place& p = places_[shape];
    if (p.cls == model::NoIndex || p.value >= values.size()) return model::NoIndex;
    const auto [at, fresh] = known_.try_emplace({p.cls, values[p.value]}, 0);
    if (fresh) {
      std::string name;
      names_.append(name, p.cls, values[p.value]);
      at->second = number(name);
    }
    return at->second;
  }

  const std::vector<int>& value_counts() const { return value_counts_; }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  struct Place {
    model::ClassId cls = model::NoIndex;
    size_t value = 0;
  };
  Place place_in(const model::Shape& s) const {
    Place p;
    for (const model::Arg& a : s.args) {
      const bool queue = a.form == model::ArgForm::Object && a.cls < trace_.classes.size() &&
                         trace_.classes[a.cls].kind == model::ObjectKind::Queue;
      if (queue && a.effect == model::Effect::Use) {
        p.cls = a.cls;
        return p;
      }
      p.value += static_cast<size_t>(model::value_count(a.form));
    }
    return p;
  }
  uint32_t number(const std::string& name) {
    const auto [at, fresh] = numbers_.try_emplace(name, static_cast<uint32_t>(list_.size()));
    if (fresh) list_.push_back(name);
    return at->second;
  }

  const model::Trace& trace_;
  model::ObjectNames names_;
  std::vector<Place> places_;  // by shape
  std::vector<int> value_counts_;
  std::map<std::pair<model::ClassId, int64_t>, uint32_t> known_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> list_;
};

class Walk {
 public:
  explicit Walk(const model::Trace& trace) : queues(trace), trace_(trace) {
    for (size_t i = 0; i < trace.shapes.size(); ++i) {
      const model::ShapeStats s = i < trace.stats.size() ? trace.stats[i] : model::ShapeStats();
      host_.push_back(mean(s.host_ns, s.calls));
      device_.push_back(mean(s.device_ns, s.calls));
    }
  }

  TimelineTrack track(const model::Stream& stream) {
    TimelineTrack out{stream.thread, {}};
    model::visit_executions(stream.nodes, [&](const Node& n, const model::Execution& e) {
      out.blocks.push_back(block(n, e));
    });
    add_up(out.blocks);
    return out;
  }

  Queues queues;

 private:
  void cost(Block& b, model::ShapeId shape, uint64_t calls) const {
    const auto times = static_cast<double>(calls);
    b.host_ns += static_cast<uint64_t>(host_[shape] * times);
    b.device_ns += static_cast<uint64_t>(device_[shape] * times);
  }

  Block block(const Node& n, const model::Execution& e) {
    Block b;
    b.depth = static_cast<uint32_t>(e.depth);
    b.times = e.times;
    b.entered = e.entered;
    if (n.kind == Node::Kind::Loop) {
      b.kind = Block::Kind::Loop;
    } else if (n.kind == Node::Kind::Call) {
      b.shape = n.shape;
      b.queue = queues.of(n);
      cost(b, n.shape, e.times);
    } else {
      b.kind = Block::Kind::Stretch;
      b.calls = stretch(n, e.entered);
      for (const StretchCalls& c : b.calls) cost(b, c.shape, c.calls);
    }
    return b;
  }

  std::vector<StretchCalls> stretch(const Node& n, uint64_t entered) {
    std::map<std::pair<model::ShapeId, uint32_t>, uint64_t> sums;
    if (n.kind == Node::Kind::Summary) {
      model::expand_summary(n, trace_.shapes.size(), [&](model::ShapeId s, uint64_t calls) {
        sums[{s, model::NoIndex}] += calls * entered;
      });
    } else {
      model::expand_run(n, queues.value_counts(),
                        [&](model::ShapeId s, std::span<const int64_t> values) {
                          sums[{s, queues.of(s, values)}] += entered;
                          return true;
                        });
    }
    std::vector<StretchCalls> out;
    for (const auto& [key, calls] : sums) out.push_back({key.first, key.second, calls});
    return out;
  }

  // Loops cost what is inside: backwards, each block adds itself to the one around it.
  static void add_up(std::vector<Block>& blocks) {
    std::vector<std::pair<uint64_t, uint64_t>> inside;  // by depth
    for (size_t i = blocks.size(); i-- > 0;) {
      Block& b = blocks[i];
      if (inside.size() < b.depth + 2) inside.resize(b.depth + 2);
      if (b.kind == Block::Kind::Loop) {
        b.host_ns = inside[b.depth + 1].first;
        b.device_ns = inside[b.depth + 1].second;
        inside[b.depth + 1] = {};
      }
      inside[b.depth].first += b.host_ns;
      inside[b.depth].second += b.device_ns;
    }
  }

  const model::Trace& trace_;
  std::vector<double> host_, device_;  // of one call, by shape
};

std::set<model::ShapeId> shapes_in(const FoldedTimeline& t) {
  std::set<model::ShapeId> out;
  for (const TimelineTrack& track : t.tracks) {
    for (const Block& b : track.blocks) {
      if (b.kind == Block::Kind::Call) out.insert(b.shape);
      for (const StretchCalls& c : b.calls) out.insert(c.shape);
    }
  }
  return out;
}

std::string kernel_of(const model::Trace& trace, const model::Shape& s) {
  if (!store::launches_kernel(s.fn)) return {};
  for (const model::Arg& a : s.args)
    for (const model::Kernel& k : trace.kernels)
      if (a.cls == k.cls && a.param < model::ParamKernelArg) return k.name;
  return {};
}

TimelineShape describe(const model::Trace& trace, CallSites& sites, model::ShapeId id) {
  const model::Shape& s = trace.shapes[id];
  TimelineShape out{id, store::function_name(s.fn), {}, kernel_of(trace, s), role_of(s), 0, 0, 0};
  if (s.site != model::NoIndex) out.place = sites.find(trace, s.site).places();
  if (id < trace.stats.size()) {
    const model::ShapeStats& stats = trace.stats[id];
    out.host_ns = mean(stats.host_ns, stats.calls);
    out.device_ns = mean(stats.device_ns, stats.calls);
    out.bytes = mean(stats.bytes, stats.calls);
  }
  return out;
}

}  // namespace

FoldedTimeline find_timeline(const model::Trace& trace, CallSites& sites, size_t most_blocks) {
  FoldedTimeline out;
  Walk walk(trace);
  for (const model::Stream& s : trace.streams) {
    if (!s.memory && !s.nodes.empty()) out.tracks.push_back(walk.track(s));
  }
  out.queues = walk.queues.take();
  thin_out(out, most_blocks);
  for (const model::ShapeId s : shapes_in(out)) out.shapes.push_back(describe(trace, sites, s));
  return out;
}

}  // namespace gt::analyzer
