// How much time a finding is worth, and how much all of them together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/calls/run_parts.h"
#include "analyzer/rules/finding.h"

namespace gt::analyzer {

// Below this part of the run, or this time, a finding is not worth a word.
constexpr double LeastPart = 0.01;
constexpr double LeastNs = 1e6;
bool worth(const Findings& f, double ns);

// What one call of a transfer costs at least: its mean time on the device; where that was not measured, the fastest
// call on the host (others may have waited for earlier commands).
double transfer_ns(const model::ShapeStats& s);

// The time that there is: on the host and on the device, whichever is more.
double time_of(const model::ShapeStats& s);

// A finding at a shape: its place, its calls, and a saving of `ns`, never more than the time of these calls.
Finding finding_at(const Findings& f, const char* rule, model::ShapeId shape, double ns);

// Of transfers that need not be, `times` of the plan's calls: a finding that saves their time, and how it calls them
// ("3 of 10 calls of clEnqueueWriteBuffer"). Nothing where that is not worth a word.
struct NeedlessTransfers {
  Finding finding;
  std::string calls, mean_bytes;
};
std::optional<NeedlessTransfers> needless_transfers(const Findings& f, const char* rule, const CallPlan& plan,
                                                    uint64_t times);

// Nothing saves more than the run is long, and goptimize no more than it can reach of it.
void cap_savings(std::vector<Finding>& findings, const RunParts& run);

// At most so many seconds all findings together save: findings that share calls cannot save more than these calls take,
// and nothing saves more than the run. Cost: O(findings * shapes of findings).
double total_saving_s(const model::Trace& trace, const std::vector<Finding>& findings, uint64_t wall_ns);

}  // namespace gt::analyzer
