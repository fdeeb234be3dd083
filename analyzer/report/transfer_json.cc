// The keys of sources and transfer calls.
#include "analyzer/report/transfer_json.h"

#include "analyzer/report/site_json.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// Bucket 0 counts zeros, bucket i values from 2^(i-1) on.
Json sizes_json(const model::Stats& s) {
  Json histogram = Json::array();
  for (size_t i = 0; i < s.histogram.size(); ++i) {
    if (s.histogram[i] == 0) continue;
    histogram.push_back({{"from", i == 0 ? 0 : uint64_t{1} << (i - 1)}, {"count", s.histogram[i]}});
  }
  return {{"min", s.min}, {"max", s.max}, {"mean", s.count ? s.sum / s.count : 0}, {"histogram", histogram}};
}

Json source_json(const TransferSource& s) {
  Json grown_from = Json::array();
  for (const Origin& o : s.grown_from) grown_from.push_back({{"call", o.call}, {"site", site_json(o.site)}});
  return {{"name", s.name()},
          {"site", site_json(s.site)},
          {"kind", model::object_kind_name(s.kind)},
          {"call", s.call},
          {"path", s.path},
          {"count", s.allocations},
          {"bytes", s.sums.bytes()},
          {"h2d", s.sums.h2d_bytes},
          {"d2h", s.sums.d2h_bytes},
          {"time_ns", s.sums.time_ns},
          {"transfers", s.sums.transfers},
          {"h2d_transfers", s.sums.h2d_count},
          {"d2h_transfers", s.sums.d2h_count},
          {"untimed", s.sums.untimed},
          {"transfers_each", s.transfers_each()},
          {"transfer_sizes", sizes_json(s.sums.sizes)},
          {"min_bytes", s.sizes.min},
          {"max_bytes", s.sizes.max},
          {"sizes", sizes_json(s.sizes)},
          {"in_place", {{"buffers", s.in_place_buffers}, {"bytes", s.in_place_bytes}}},
          {"grown_from", grown_from},
          {"remedy", s.remedy()}};
}

Json call_json(const TransferCall& c, bool allocated, size_t index) {
  Json segments = Json::array();
  for (const auto& s : c.segments) segments.push_back({{"name", s.name}, {"first_version", s.first_version}});
  return {{"call", c.call},
          {"site", site_json(c.site)},
          {"direction", store::direction_name(c.direction)},
          {"command", c.command},
          {"count", c.sums.transfers},
          {"bytes", c.sums.bytes()},
          {"time_ns", c.sums.time_ns},
          {"untimed", c.sums.untimed},
          {"sizes", sizes_json(c.sums.sizes)},
          {"memory", {{"list", allocated ? "allocations" : "other_sources"}, {"index", index}}},
          {"segments", segments}};
}

}  // namespace

void add_transfer_json(Json& out, const Analysis& a) {
  Json allocations = Json::array(), others = Json::array(), calls = Json::array();
  std::vector<size_t> index;  // of each source in its list
  for (const TransferSource& s : a.sources) {
    Json& list = s.allocated() ? allocations : others;
    index.push_back(list.size());
    list.push_back(source_json(s));
  }
  for (const TransferCall& c : a.transfers)
    calls.push_back(call_json(c, a.sources[c.source].allocated(), index[c.source]));
  out["allocations"] = std::move(allocations);
  out["other_sources"] = std::move(others);
  out["transfers"] = std::move(calls);
}

}  // namespace gt::analyzer
