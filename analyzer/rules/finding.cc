// What rules ask again and again.
#include "analyzer/rules/finding.h"

#include "analyzer/calls/fact_number.h"

namespace gt::analyzer {

uint64_t Findings::wall_ns() const { return fact_number(trace, "wall_ns"); }

const model::DeviceCosts* Findings::device_costs() const {
  if (!platform) return nullptr;
  for (const model::DeviceTime& d : trace.devices)
    for (const model::DeviceCosts& c : platform->devices)
      if (c.name == d.device) return &c;
  return nullptr;
}

}  // namespace gt::analyzer
