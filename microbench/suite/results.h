// What the runs of the benchmark programs gave, and what follows from it: medians, speedups, means.
// Thread safety: values, and functions without state.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "microbench/suite/catalogue.h"

namespace gt::bench {

// From the report of goptimize run, of the last run.
struct OptimizerFacts {
  std::string decision;
  std::map<std::string, uint64_t> sites;  // by policy: how many allocation sites
  uint64_t staged_transfers = 0, staged_bytes = 0, staging_suspensions = 0, left_to_driver = 0;
  uint64_t pinned_ranges = 0, pinned_bytes = 0;
  std::map<std::string, uint64_t> fallbacks;
  uint64_t remote_devices = 0;
};

// A program's runs under one policy.
struct PolicyRuns {
  std::vector<double> times_s;  // empty: not run, or it failed
  std::optional<OptimizerFacts> optimizer;
};

struct Failure {
  std::string where;  // a policy's name, "gtrace", "ganalyze"
  int status = 0;     // as a shell gives it: 128 + signal
  std::string what;   // its last words
};

struct ProgramResult {
  const BenchProgram* program = nullptr;
  std::optional<double> dispatch_ratio;  // nothing when it could not be traced
  bool eligible = false;
  std::array<PolicyRuns, RunPolicies> runs;
  std::vector<Failure> failures;
};

struct Results {
  std::string device, size;
  uint64_t repeat = 1;
  std::vector<RunPolicy> policies;
  std::vector<ProgramResult> programs;

  bool measured(RunPolicy policy) const;
  bool failed() const;  // any of it
};

double median(std::vector<double> values);  // REQUIRES: not empty

// The median time, if there is one.
std::optional<double> time_s(const ProgramResult& r, RunPolicy policy);
// Half of the range of the times, as a part of their median.
double spread(const ProgramResult& r, RunPolicy policy);
// How many times faster than `base` the program is under `policy`. Base HandPinned: its part of the hand-pinned speed.
std::optional<double> speed_over(const ProgramResult& r, RunPolicy policy, RunPolicy base);

struct Interval {
  double least, most;
};
// Where the speedup's median lies with 95 % confidence, by the order of the ratios of runs that followed one another;
// from the smallest to the largest ratio when there are fewer than six.
std::optional<Interval> speed_interval(const ProgramResult& r, RunPolicy policy, RunPolicy base);
// "NAME under POLICY: 0.91x (0.88 to 0.95)" for all that is slower than the default by more than 2 % and the noise; six
// runs of each are needed to tell.
std::vector<std::string> slower_ones(const Results& results);

struct Summary {
  size_t count = 0;
  double geometric_mean = 0, least = 0, most = 0;
};
// Over the programs that are (not) eligible and have both times; nothing without any.
std::optional<Summary> summarize(const Results& results, RunPolicy policy, RunPolicy base, bool eligible);

}  // namespace gt::bench
