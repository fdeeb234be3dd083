// Summing shapes by function.
#include "analyzer/calls/function_sums.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "traces/api/api.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

uint64_t extra_of_first(const model::ShapeStats& s) {
  if (s.host_ns.count < 2 || s.first_host_ns > s.host_ns.sum) return 0;
  const uint64_t later = (s.host_ns.sum - s.first_host_ns) / (s.host_ns.count - 1);
  return s.first_host_ns > 2 * later ? s.first_host_ns - later : 0;
}

bool follows_launches(model::FnId fn) {
  if (store::is_alloc_fn(fn) || store::is_callback_fn(fn)) return false;
  const api::Attributes& a = api::attributes(fn);
  return a.launch || a.waits || a.blocking >= 0;
}

}  // namespace

std::vector<FunctionSums> find_functions(const model::Trace& trace) {
  std::map<model::FnId, FunctionSums> sums;
  std::map<model::FnId, std::set<model::SiteId>> places;
  for (size_t i = 0; i < std::min(trace.shapes.size(), trace.stats.size()); ++i) {
    const model::ShapeStats& s = trace.stats[i];
    const model::FnId fn = trace.shapes[i].fn;
    FunctionSums& f = sums[fn];
    f.name = store::function_name(fn);
    f.calls += s.calls;
    f.failed += s.failed;
    f.host_ns += s.host_ns.sum;
    f.first_ns += extra_of_first(s);
    f.follows_launches = follows_launches(fn);
    f.device_ns += s.device_ns.sum;
    f.bytes += s.bytes.sum;
    places[fn].insert(trace.shapes[i].site);
  }
  std::vector<FunctionSums> out;
  for (auto& [fn, f] : sums) {
    f.places = places[fn].size();
    out.push_back(std::move(f));
  }
  std::stable_sort(out.begin(), out.end(), [](const FunctionSums& a, const FunctionSums& b) {
    return std::tuple(a.host_ns, a.calls) > std::tuple(b.host_ns, b.calls);
  });
  return out;
}

}  // namespace gt::analyzer
