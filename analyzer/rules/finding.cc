// What rules ask again and again.
#include "analyzer/rules/finding.h"

#include "analyzer/calls/fact_number.h"
#include "analyzer/transfers/goptimize_gain.h"

namespace gt::analyzer {

uint64_t Findings::wall_ns() const { return fact_number(trace, "wall_ns"); }

const model::DeviceCosts* Findings::device_costs() const { return measured_device(trace, platform); }

}  // namespace gt::analyzer
