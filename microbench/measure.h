// The characterization of a machine: which costs are measured, in which order, in how much of the time.
// Thread safety: none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "microbench/base/devices.h"
#include "microbench/base/sampler.h"
#include "traces/model/platform/platform.h"

namespace gt::bench {

struct MeasureOptions {
  bool quick = false;
  double budget_s = 8;     // for everything
  uint64_t max_bytes = UINT64_MAX;  // no transfer is larger, nor than a quarter of the free memory
  std::function<void(const std::string& what, double part)> progress = [](const std::string&, double) {};
  // An older file, whose unfinished devices are gone on with and whose host is not measured again; nullptr: none.
  const model::Platform* before = nullptr;
  // Is given what is known by now after each step of a device that it has taken, if it is not empty.
  std::function<Status(const model::Platform& so_far)> keep;
};

struct PlatformResult {
  model::Platform platform;
  std::vector<Series> host;                   // the samples behind platform.host
  std::vector<std::vector<Series>> devices;   // and behind each of platform.devices
};

constexpr uint64_t LeastBytes = 64;  // of a transfer

// A device that fails is put into platform.failed, and the others are measured all the same. An error when the host
// cannot be measured, and (Busy) when the user interrupted it.
Result<PlatformResult> measure_platform(const std::vector<Device>& devices, const MeasureOptions& options);

}  // namespace gt::bench
