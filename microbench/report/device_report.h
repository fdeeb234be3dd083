// What gmicrobench device measured: as text, as JSON, as a page. Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "microbench/probes/limit_probe.h"
#include "microbench/probes/roofline_probe.h"

namespace gt::bench {

struct DeviceLimits {
  std::string platform, name, driver;
  LimitTable limits;
  std::optional<Roofline> roofline;  // nothing: it compiles no kernels
  std::string error;                 // why there is nothing else; empty: it did not fail
};

std::string device_table(const std::vector<DeviceLimits>& devices);
// docs/gmicrobench.md has the keys.
std::string device_json(const std::vector<DeviceLimits>& devices);
std::string device_page(const std::vector<DeviceLimits>& devices);

}  // namespace gt::bench
