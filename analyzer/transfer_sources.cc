// Summing shapes by the place where their host memory was made.
#include "analyzer/transfer_sources.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;

bool is_host_memory(ObjectKind kind) {
  return kind == ObjectKind::Segment || kind == ObjectKind::Svm || kind == ObjectKind::Mapping ||
         kind == ObjectKind::Static || kind == ObjectKind::Stack || kind == ObjectKind::File ||
         kind == ObjectKind::String || kind == ObjectKind::Unknown;
}
// A map call returns a mapping as an object. Memory that is only implied is not where the data goes to or comes from.
bool names_memory(const model::Arg& a) {
  const bool form = a.form == model::ArgForm::Memory || a.form == model::ArgForm::Object;
  return form && (a.param < model::ParamKernelArg || a.param == model::ParamReturn);
}
bool has_site(ObjectKind kind) {
  return kind == ObjectKind::Segment || kind == ObjectKind::Svm || kind == ObjectKind::String;
}
bool has_label(ObjectKind kind) { return kind == ObjectKind::Static || kind == ObjectKind::File; }

// What makes two classes one source: the thread that allocated does not matter, nor the process
// that ran the code. A place is a build-id, a path and an offset; with the calls around it where it has a chain.
using CodePlace = std::tuple<std::string, std::string, uint64_t>;
using Key = std::tuple<ObjectKind, model::FnId, std::vector<CodePlace>>;

std::string label_of(const model::Trace& trace, const model::Class& c) {
  if (c.label >= trace.blobs.size()) return {};
  return std::string(as_text(trace.blobs[c.label].bytes));
}

CodePlace place_of(const model::Trace& trace, const model::Site& s) {
  if (s.module >= trace.modules.size()) return {{}, {}, s.offset};
  const model::Module& m = trace.modules[s.module];
  return {m.build_id, m.path, s.offset};
}

Key key_of(const model::Trace& trace, const model::Class& c) {
  if (!has_site(c.kind)) return {c.kind, 0, {{{}, has_label(c.kind) ? label_of(trace, c) : std::string(), 0}}};
  Key key{c.kind, c.fn, {}};
  for (model::SiteId at = c.site; at < trace.sites.size(); at = trace.sites[at].outer) {
    std::get<2>(key).push_back(place_of(trace, trace.sites[at]));
  }
  return key;
}

uint64_t part(uint64_t sum, uint64_t some, uint64_t all) {
  if (all == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(sum) * static_cast<double>(some) /
                               static_cast<double>(all));
}

void add_transfers(TransferSums& sums, model::Direction direction, const model::ShapeStats& s) {
  const uint64_t done = s.calls - std::min(s.failed, s.calls);
  if (done == 0) return;
  const uint64_t untimed = done - std::min(s.device_ns.count, done);
  const bool first = sums.transfers == 0;
  sums.transfers += done;
  sums.untimed += untimed;
  sums.time_ns += s.device_ns.sum + part(s.host_ns.sum, untimed, s.host_ns.count);
  const bool to_device = direction == model::Direction::HostToDevice;
  (to_device ? sums.h2d_bytes : sums.d2h_bytes) += s.bytes.sum;
  (to_device ? sums.h2d_count : sums.d2h_count) += done;
  if (s.bytes.count == 0) return;
  sums.min_bytes = first ? s.bytes.min : std::min(sums.min_bytes, s.bytes.min);
  sums.max_bytes = std::max(sums.max_bytes, s.bytes.max);
}

class Table {
 public:
  Table(const model::Trace& trace, CallSites& sites) : trace_(trace), sites_(sites) {}

  void add_transfer(const model::Shape& shape, const model::ShapeStats& stats) {
    const model::Direction direction = shape.moves;
    if (direction == model::Direction::None || direction == model::Direction::DeviceToDevice) {
      return;
    }
    // A list of pieces of one memory is one transfer, not many.
    std::vector<TransferSource*> done;
    for (const model::Arg& a : shape.args) {
      if (!names_memory(a) || a.cls >= trace_.classes.size()) continue;
      if (!is_host_memory(trace_.classes[a.cls].kind)) continue;
      TransferSource& source = row(trace_.classes[a.cls]);
      if (std::find(done.begin(), done.end(), &source) != done.end()) continue;
      add_transfers(source.sums, direction, stats);
      done.push_back(&source);
    }
  }

  // After all transfers: how often the sites in the table allocate, and how much.
  void add_allocation(const model::Shape& shape, const model::ShapeStats& stats) {
    for (const model::Arg& a : shape.args) {
      const bool made = a.effect == model::Effect::Def && a.cls < trace_.classes.size();
      if (!made || !has_site(trace_.classes[a.cls].kind)) continue;
      const auto known = rows_.find(key_of(trace_, trace_.classes[a.cls]));
      if (known == rows_.end()) continue;
      known->second.allocations += stats.calls - std::min(stats.failed, stats.calls);
      known->second.sizes.merge(stats.bytes);
      return;
    }
  }

  std::vector<TransferSource> take() {
    std::vector<TransferSource> out;
    for (auto& [key, source] : rows_)
      if (source.sums.transfers > 0) out.push_back(std::move(source));
    std::stable_sort(out.begin(), out.end(), [](const TransferSource& a, const TransferSource& b) {
      return std::tuple(a.sums.time_ns, a.sums.bytes()) >
             std::tuple(b.sums.time_ns, b.sums.bytes());
    });
    return out;
  }

 private:
  TransferSource& row(const model::Class& c) {
    const auto [at, fresh] = rows_.try_emplace(key_of(trace_, c));
    if (!fresh) return at->second;
    TransferSource& s = at->second;
    s.kind = c.kind;
    if (has_site(c.kind)) {
      s.site = sites_.find(trace_, c.site);
      s.call = store::function_name(c.fn);
    } else if (has_label(c.kind)) {
      s.site.module = label_of(trace_, c);
    }
    return s;
  }

  const model::Trace& trace_;
  CallSites& sites_;
  std::map<Key, TransferSource> rows_;
};

}  // namespace

std::string TransferSource::name() const {
  switch (kind) {
    case ObjectKind::Segment:
    case ObjectKind::Svm:
    case ObjectKind::String:
      return site.places();
    case ObjectKind::Static:
      return "static data of " + site.module_name();
    case ObjectKind::Stack:
      return "the stack";
    case ObjectKind::Mapping:
      return "a mapped buffer";
    case ObjectKind::File:
      return "the mapped file " + site.module_name();
    default:
      return "memory of unknown origin";
  }
}

double TransferSource::transfers_each() const {
  if (allocations == 0) return static_cast<double>(sums.transfers);
  return static_cast<double>(sums.transfers) / static_cast<double>(allocations);
}

std::vector<TransferSource> find_transfer_sources(const model::Trace& trace, CallSites& sites) {
  Table table(trace, sites);
  const size_t n = std::min(trace.shapes.size(), trace.stats.size());
  for (size_t i = 0; i < n; ++i) table.add_transfer(trace.shapes[i], trace.stats[i]);
  for (size_t i = 0; i < n; ++i) table.add_allocation(trace.shapes[i], trace.stats[i]);
  return table.take();
}

}  // namespace gt::analyzer
