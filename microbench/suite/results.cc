// Arithmetic on measured times.
#include "microbench/suite/results.h"

#include <fmt/format.h>

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

std::optional<Interval> speed_interval(const ProgramResult& r, RunPolicy policy, RunPolicy base) {
  const std::vector<double>&mine = times(r, policy), &theirs = times(r, base);
  if (mine.empty() || mine.size() != theirs.size()) return {};
  std::vector<double> ratios;
  for (size_t i = 0; i < mine.size(); ++i) ratios.push_back(theirs[i] / mine[i]);
  std::ranges::sort(ratios);
  const auto n = static_cast<double>(ratios.size());
  const auto out = static_cast<size_t>(std::max(0.0, (n - 1.96 * std::sqrt(n)) / 2));  // ratios beyond either end
  return Interval{ratios[out], ratios[ratios.size() - 1 - out]};
}

std::vector<std::string> slower_ones(const Results& results) {
  constexpr double Harmless = 0.98;
  constexpr size_t Enough = 6;  // fewer rounds may all be odd: one in 2^5 and more often
  std::vector<std::string> out;
  for (const ProgramResult& r : results.programs)
    for (const RunPolicy p : results.policies) {
      if (is_remote(p)) continue;  // nobody expects another
      const auto interval = speed_interval(r, p, RunPolicy::Default);
      if (interval && times(r, p).size() >= Enough && interval->most < Harmless)
        out.push_back(fmt::format("{} under {}: {:.2f}x ({:.2f} to {:.2f})", r.program->name, policy_name(p),
                                  *speed_over(r, p, RunPolicy::Default), interval->least, interval->most));
    }
  return out;
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
