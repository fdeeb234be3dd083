// What a device does besides plain transfers: pinning memory in place, staged transfers, shared virtual memory,
// rectangles, maps, copies inside it, both directions at once, launches. Thread safety: none.
#pragma once

#include <optional>
#include <vector>

#include "microbench/base/cl_session.h"
#include "microbench/base/sampler.h"
#include "traces/model/platform/platform.h"

namespace gt::bench {

// Measures one such cost over sizes; fills its part of DeviceCosts.
class DeviceProbe {
 public:
  explicit DeviceProbe(const Session& session) : session_(session) {}

  // Each: what could not be measured on this device stays empty; an error when the device failed.
  Status pin(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out);
  Status staged(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out);
  Status svm(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out);
  Status rect(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out);
  Status map(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out);
  Status copy(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out);
  Status duplex(const std::vector<uint64_t>& sizes, const Pace& pace, model::DeviceCosts& out);
  Status launch(const Pace& pace, model::DeviceCosts& out);

  const std::vector<Series>& series() const { return series_; }

 private:
  // Sweeps one probe that feeds `series`; keeps those that have samples.
  Status sweep_one(Probe probe, std::vector<Series>& series, const std::vector<uint64_t>& sizes, const Pace& pace);
  Status make_buffers(uint64_t bytes, int count);

  const Session& session_;
  Mem buffers_[2];
  std::vector<Series> series_;
};

}  // namespace gt::bench
