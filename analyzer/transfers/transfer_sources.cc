// Summing shapes by the place where their host memory was made.
#include "analyzer/transfers/transfer_sources.h"

#include <algorithm>
#include <tuple>

#include "analyzer/calls/host_devices.h"
#include "analyzer/code/source_key.h"
#include "analyzer/transfers/moved_memory.h"
#include "traces/model/folded/memory_detail.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;

uint64_t part(uint64_t sum, uint64_t some, uint64_t all) {
  if (all == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(sum) * static_cast<double>(some) / static_cast<double>(all));
}

uint64_t succeeded(const model::ShapeStats& s) { return s.calls - std::min(s.failed, s.calls); }

class Table {
 public:
  Table(const model::Trace& trace, CallSites& sites) : trace_(trace), sites_(sites), moved_(trace) {}

  void add_transfer(const model::Shape& shape, const model::ShapeStats& stats) {
    // A list of pieces of one memory is one transfer, not many.
    std::vector<TransferSource*> sources;
    for (const Moved& m : moved_.of(shape)) {
      TransferSource& source = row(m.cls, m.kind);
      if (std::find(sources.begin(), sources.end(), &source) == sources.end()) sources.push_back(&source);
    }
    for (TransferSource* source : sources) source->sums.add(shape.moves, stats, sources.size());
    if (const auto memory = moved_.used_in_place(shape)) {
      TransferSource& source = row(*memory, trace_.classes[*memory].kind);
      source.in_place_buffers += succeeded(stats);
      source.in_place_bytes += stats.bytes.sum;
    }
  }

  // After all transfers: how often the sites in the table allocate, and how much.
  void add_allocation(const model::Shape& shape, const model::ShapeStats& stats) {
    for (const model::Arg& a : shape.args) {
      if (a.effect != model::Effect::Def || a.cls >= trace_.classes.size()) continue;
      const ObjectKind kind = trace_.classes[a.cls].kind;
      for (const ObjectKind as : {kind, ObjectKind::Mapping}) {
        if (!is_made_by_call(kind)) continue;
        const auto known = rows_.find(source_key(trace_, a.cls, as));
        if (known == rows_.end()) continue;
        known->second.allocations += succeeded(stats);
        if (store::is_alloc_fn(shape.fn) || kind == ObjectKind::Svm) known->second.sizes.merge(stats.bytes);
      }
    }
  }

  // realloc ends one memory and makes another.
  void note_growth(const model::Shape& shape) {
    if (!store::is_alloc_fn(shape.fn)) return;
    model::ClassId from = model::NoIndex, to = model::NoIndex;
    for (const model::Arg& a : shape.args) {
      if (a.effect == model::Effect::Release) from = a.cls;
      if (a.effect == model::Effect::Def) to = a.cls;
    }
    if (from < trace_.classes.size() && to < trace_.classes.size()) grown_[key_of(to)].push_back(from);
  }

  TransferSources take() {
    for (auto& [key, source] : rows_) add_origins(key, source);
    std::vector<const std::pair<const SourceKey, TransferSource>*> order;
    for (const auto& entry : rows_) {
      if (entry.second.sums.transfers > 0 || entry.second.in_place_buffers > 0) order.push_back(&entry);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      const TransferSums &x = a->second.sums, &y = b->second.sums;
      return std::tuple(x.time_ns, x.bytes()) > std::tuple(y.time_ns, y.bytes());
    });
    std::map<SourceKey, size_t> positions;
    TransferSources out;
    for (const auto* entry : order) {
      positions[entry->first] = out.list.size();
      out.list.push_back(entry->second);
    }
    for (const auto& [memory, key] : keys_) {
      if (const auto at = positions.find(key); at != positions.end()) out.index[memory] = at->second;
    }
    return out;
  }

 private:
  SourceKey key_of(model::ClassId cls) const { return source_key(trace_, cls, trace_.classes[cls].kind); }

  TransferSource& row(model::ClassId cls, ObjectKind kind) {
    const auto [known, fresh_class] = keys_.try_emplace({cls, kind});
    if (fresh_class) known->second = source_key(trace_, cls, kind);
    const auto [at, fresh] = rows_.try_emplace(known->second);
    TransferSource& s = at->second;
    if (!fresh) return s;
    const model::Class& c = trace_.classes[cls];
    s.kind = kind;
    s.path = label_of(trace_, c);
    if (is_made_by_call(kind)) {
      s.site = sites_.find(trace_, c.site);
      if (c.fn != 0) s.call = store::function_name(c.fn);
    }
    return s;
  }

  void add_origins(const SourceKey& key, TransferSource& source) {
    std::vector<SourceKey> seen{key};
    for (size_t i = 0; i < seen.size(); ++i) {
      const auto before = grown_.find(seen[i]);
      if (before == grown_.end()) continue;
      for (const model::ClassId cls : before->second) {
        SourceKey from = key_of(cls);
        if (std::find(seen.begin(), seen.end(), from) != seen.end()) continue;
        seen.push_back(std::move(from));
        const model::Class& c = trace_.classes[cls];
        source.grown_from.push_back({sites_.find(trace_, c.site), store::function_name(c.fn)});
      }
    }
  }

  const model::Trace& trace_;
  CallSites& sites_;
  MovedMemory moved_;
  std::map<SourceKey, TransferSource> rows_;
  std::map<std::pair<model::ClassId, ObjectKind>, SourceKey> keys_;
  std::map<SourceKey, std::vector<model::ClassId>> grown_;  // what each memory was before
};

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void TransferSums::add(model::Direction direction, const model::ShapeStats& s, size_t shares) {
  const uint64_t done = succeeded(s);
  if (done == 0) return;
  const uint64_t without_time = done - std::min(s.device_ns.count, done);
  const uint64_t moved = s.bytes.sum / shares;
  transfers += done;
  untimed += without_time;
  time_ns += (s.device_ns.sum + part(s.host_ns.sum, without_time, s.host_ns.count)) / shares;
  const bool to_device = direction == model::Direction::HostToDevice;
  (to_device ? h2d_bytes : d2h_bytes) += moved;
  (to_device ? h2d_count : d2h_count) += done;
  if (shares == 1) {
    sizes.merge(s.bytes);
  } else if (s.bytes.count > 0) {
    sizes.add(moved / s.bytes.count, s.bytes.count);
  }
}

bool TransferSource::allocated() const {
  return kind == ObjectKind::Segment || kind == ObjectKind::Svm || kind == ObjectKind::String;
}

std::string TransferSource::name() const {
  switch (kind) {
    case ObjectKind::Segment:
    case ObjectKind::Svm:
    case ObjectKind::String:
      return site.places();
    case ObjectKind::Static:
      return "static data of " + file_name(path);
    case ObjectKind::Stack:
      return "the stack";
    case ObjectKind::File:
      return "the mapped file " + file_name(path);
    case ObjectKind::Mapping:
      return call.empty() ? "a mapped buffer" : "mapped buffer of " + site.places();
    case ObjectKind::Buffer:
    case ObjectKind::Image:
    case ObjectKind::Pipe:
      return "migrated buffer of " + site.places();
    default:
      return "memory of unknown origin";
  }
}

double TransferSource::transfers_each() const {
  if (allocations == 0) return static_cast<double>(sums.transfers);
  return static_cast<double>(sums.transfers) / static_cast<double>(allocations);
}

TransferSources find_transfer_sources(const model::Trace& trace, CallSites& sites) {
  Table table(trace, sites);
  const size_t n = std::min(trace.shapes.size(), trace.stats.size());
  for (size_t i = 0; i < n; ++i) table.add_transfer(trace.shapes[i], trace.stats[i]);
  for (size_t i = 0; i < n; ++i) table.add_allocation(trace.shapes[i], trace.stats[i]);
  for (const model::Shape& shape : trace.shapes) table.note_growth(shape);
  TransferSources out = table.take();
  const bool on_host = devices_share_host_memory(trace);
  const std::optional<model::MemoryDetail> detail = model::read_memory_detail(trace);
  for (TransferSource& s : out.list) {
    s.on_host = on_host;
    const bool small = detail && s.sums.sizes.count > 0 && s.sums.sizes.min < detail->from;
    if (small && s.kind == ObjectKind::Unknown) s.unlisted_below = detail->from;
  }
  return out;
}

}  // namespace gt::analyzer
