#include "tracer/gtrace/stats/rates.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tracer/gtrace/base/names.h"
#include "tracer/gtrace/stats/summary.h"
#include "traces/api/callback_fn.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

uint64_t less(uint64_t later, uint64_t earlier) { return later > earlier ? later - earlier : 0; }

std::vector<MovedSum> moved(const std::vector<TransferSum>& transfers) {
  std::map<model::Direction, MovedSum> sums;
  for (const TransferSum& t : transfers) {
    MovedSum& m = sums[t.direction];
    m.direction = t.direction;
    m.count += t.count;
    m.bytes += t.bytes;
    m.ns += t.total_ns;
    m.device_time = m.device_time || t.device_time;
  }
  std::vector<MovedSum> out;
  for (const auto& [direction, sum] : sums) out.push_back(sum);
  return out;
}

std::vector<PlaceSum> places(const model::Trace& trace) {
  std::map<std::pair<model::SiteId, model::FnId>, PlaceSum> sums;
  for (size_t i = 0; i < trace.shapes.size(); ++i) {
    const model::Shape& shape = trace.shapes[i];
    if (shape.fn >= api::FirstCallbackFn || store::is_alloc_fn(shape.fn) || trace.stats[i].calls == 0) continue;
    PlaceSum& p = sums[{shape.site, shape.fn}];
    p.calls += trace.stats[i].calls;
    p.host_ns += trace.stats[i].host_ns.sum;
    p.device_ns += trace.stats[i].device_ns.sum;
    if (shape.moves != model::Direction::None) p.bytes += trace.stats[i].bytes.sum;
  }
  std::vector<PlaceSum> out;
  for (auto& [key, sum] : sums) {
    sum.function = store::function_name(key.second);
    sum.site = site_text(trace, key.first);
    out.push_back(std::move(sum));
  }
  return out;
}

// The rows of `later` less those of `earlier` that have the same key; `take` subtracts and says whether anything is
// left.
template <class Row, class Key, class Take>
std::vector<Row> subtract(const std::vector<Row>& earlier, const std::vector<Row>& later, const Key& key,
                          const Take& take) {
  std::map<decltype(key(later[0])), Row> before;
  for (const Row& row : earlier) before.emplace(key(row), row);
  std::vector<Row> out;
  for (Row row : later) {
    const auto found = before.find(key(row));
    if (take(row, found == before.end() ? Row() : found->second)) out.push_back(std::move(row));
  }
  return out;
}

bool take_moved(MovedSum& row, const MovedSum& before) {
  row.count = less(row.count, before.count);
  row.bytes = less(row.bytes, before.bytes);
  row.ns = less(row.ns, before.ns);
  return row.count > 0;
}

bool take_launched(LaunchedSum& row, const LaunchedSum& before) {
  row.launches = less(row.launches, before.launches);
  row.timed = less(row.timed, before.timed);
  row.device_ns = less(row.device_ns, before.device_ns);
  if (row.timed > 0 && row.launches > row.timed) {
    const double all = static_cast<double>(row.launches) / static_cast<double>(row.timed);
    row.device_ns = static_cast<uint64_t>(static_cast<double>(row.device_ns) * all);
  }
  return row.launches > 0;
}

bool take_place(PlaceSum& row, const PlaceSum& before) {
  row.calls = less(row.calls, before.calls);
  row.bytes = less(row.bytes, before.bytes);
  row.host_ns = less(row.host_ns, before.host_ns);
  row.device_ns = less(row.device_ns, before.device_ns);
  return row.calls > 0;
}

}  // namespace

Rates sums_of(const model::Trace& trace) {
  const Summary s = summarize(trace);
  Rates r{s.calls, s.memory_calls, moved(s.transfers), {}, places(trace)};
  for (const KernelSum& k : s.kernels) r.kernels.push_back({k.name, k.launches, k.timed, k.total_ns});
  return r;
}

Rates between(const Rates& earlier, const Rates& later) {
  Rates r{less(later.calls, earlier.calls), less(later.memory_calls, earlier.memory_calls), {}, {}, {}};
  r.transfers = subtract(
      earlier.transfers, later.transfers, [](const MovedSum& m) { return m.direction; }, take_moved);
  r.kernels = subtract(
      earlier.kernels, later.kernels, [](const LaunchedSum& k) { return k.name; }, take_launched);
  r.places = subtract(
      earlier.places, later.places, [](const PlaceSum& p) { return std::pair(p.function, p.site); }, take_place);
  std::stable_sort(r.kernels.begin(), r.kernels.end(), [](const LaunchedSum& a, const LaunchedSum& b) {
    return a.device_ns != b.device_ns ? a.device_ns > b.device_ns : a.launches > b.launches;
  });
  std::stable_sort(r.places.begin(), r.places.end(), [](const PlaceSum& a, const PlaceSum& b) {
    return a.host_ns != b.host_ns ? a.host_ns > b.host_ns : a.calls > b.calls;
  });
  return r;
}

}  // namespace gt::tracer
