// What gmicrobench calls measured: as text, as JSON. Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "microbench/probes/call_probe.h"

namespace gt::bench {

struct DeviceCalls {
  std::string platform, name, driver;
  CallCosts costs;
  std::string error;  // why there is nothing else; empty: it did not fail
};

// One column a device; from the second on, also how many times the first one's cost.
std::string calls_table(const std::vector<DeviceCalls>& devices);
// docs/gmicrobench.md has the keys.
std::string calls_json(const std::vector<DeviceCalls>& devices);

}  // namespace gt::bench
