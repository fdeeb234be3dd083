// Bounds by what was measured.
#include "analyzer/rules/saving.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analyzer/base/units.h"

namespace gt::analyzer {
namespace {

double mean(const model::Stats& s) {
  return s.count == 0 ? 0 : static_cast<double>(s.sum) / static_cast<double>(s.count);
}

// The first of the set that `i` belongs to.
size_t root(std::vector<size_t>& parent, size_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

}  // namespace

bool worth(const Findings& f, double ns) { return ns >= LeastNs && ns >= LeastPart * static_cast<double>(f.wall_ns()); }

double transfer_ns(const model::ShapeStats& s) {
  return s.device_ns.count > 0 ? mean(s.device_ns) : static_cast<double>(s.host_ns.min);
}

double time_of(const model::ShapeStats& s) { return static_cast<double>(std::max(s.host_ns.sum, s.device_ns.sum)); }

Finding finding_at(const Findings& f, const char* rule, model::ShapeId shape, double ns) {
  Finding out;
  out.rule = rule;
  out.place = f.sites.find(f.trace, f.trace.shapes[shape].site).place();
  out.saving_s = std::min(ns, time_of(f.trace.stats[shape])) / 1e9;
  out.calls = {shape};
  return out;
}

std::optional<NeedlessTransfers> needless_transfers(const Findings& f, const char* rule, const CallPlan& plan,
                                                    uint64_t times) {
  const model::ShapeStats& s = f.trace.stats[plan.shape];
  const double ns = static_cast<double>(times) * transfer_ns(s);
  if (times == 0 || !worth(f, ns)) return std::nullopt;
  return NeedlessTransfers{finding_at(f, rule, plan.shape, ns),
                           fmt::format("{} of {} calls of {}", times, s.calls, plan.fn->name),
                           bytes_text(s.bytes.count ? s.bytes.sum / s.bytes.count : 0)};
}

void cap_savings(std::vector<Finding>& findings, const RunParts& run) {
  if (!run.known()) return;
  for (Finding& f : findings) {
    const auto most = static_cast<double>(f.by_goptimize ? run.reachable_ns() : run.whole_ns) / 1e9;
    if (f.saving_s) f.saving_s = std::min(*f.saving_s, most);
  }
}

double total_saving_s(const model::Trace& trace, const std::vector<Finding>& findings, uint64_t wall_ns) {
  std::vector<size_t> parent(findings.size());
  std::iota(parent.begin(), parent.end(), size_t{0});
  std::map<model::ShapeId, size_t> owner;
  for (size_t i = 0; i < findings.size(); ++i) {
    for (const model::ShapeId s : findings[i].calls) {
      const auto [at, fresh] = owner.try_emplace(s, i);
      if (!fresh) parent[root(parent, i)] = root(parent, at->second);
    }
  }
  std::map<size_t, double> saved, there;
  std::map<size_t, size_t> members;
  for (size_t i = 0; i < findings.size(); ++i) {
    saved[root(parent, i)] += findings[i].saving_s.value_or(0);
    ++members[root(parent, i)];
  }
  for (const auto& [shape, i] : owner) there[root(parent, i)] += time_of(trace.stats[shape]) / 1e9;
  double total = 0;
  for (const auto& [group, seconds] : saved) total += members[group] > 1 ? std::min(seconds, there[group]) : seconds;
  return wall_ns == 0 ? total : std::min(total, static_cast<double>(wall_ns) / 1e9);
}

}  // namespace gt::analyzer
