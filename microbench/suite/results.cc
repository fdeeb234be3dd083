// Arithmetic on measured times.
#include "microbench/suite/results.h"

#include <algorithm>
#include <cmath>

namespace gt::bench {
namespace {

const std::vector<double>& times(const ProgramResult& r, RunPolicy policy) {
  return r.runs[static_cast<size_t>(policy)].times_s;
}

}  // namespace

bool Results::measured(RunPolicy policy) const { return std::ranges::find(policies, policy) != policies.end(); }

bool Results::failed() const {
  return std::ranges::any_of(programs, [](const ProgramResult& r) { return !r.failures.empty(); });
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<double> time_s(const ProgramResult& r, RunPolicy policy) {
  if (times(r, policy).empty()) return {};
  return median(times(r, policy));
}

double spread(const ProgramResult& r, RunPolicy policy) {
  const std::vector<double>& t = times(r, policy);
  if (t.empty()) return 0;
  const double middle = median(t);
  return middle > 0 ? (std::ranges::max(t) - std::ranges::min(t)) / 2 / middle : 0;
}

std::optional<double> speed_over(const ProgramResult& r, RunPolicy policy, RunPolicy base) {
  const auto mine = time_s(r, policy), theirs = time_s(r, base);
  if (!mine || !theirs || *mine <= 0 || *theirs <= 0) return {};
  return *theirs / *mine;
}

std::optional<Summary> summarize(const Results& results, RunPolicy policy, RunPolicy base, bool eligible) {
  Summary s;
  double logs = 0;
  for (const ProgramResult& r : results.programs) {
    const auto speed = speed_over(r, policy, base);
    if (!speed || !r.dispatch_ratio || r.eligible != eligible) continue;
    s.least = s.count == 0 ? *speed : std::min(s.least, *speed);
    s.most = std::max(s.most, *speed);
    logs += std::log(*speed);
    ++s.count;
  }
  if (s.count == 0) return {};
  s.geometric_mean = std::exp(logs / static_cast<double>(s.count));
  return s;
}

}  // namespace gt::bench
