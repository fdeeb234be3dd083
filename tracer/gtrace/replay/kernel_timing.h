// One launch, again and again on the same data: what it takes on this device.
// Thread safety: as LaunchHook.
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "tracer/gtrace/replay/device_memory.h"
#include "tracer/gtrace/replay/kernel_facts.h"
#include "tracer/gtrace/replay/launches.h"

namespace gt::tracer {

// Host time from the launch to the end of clFinish, in ns, of `repeats` launches. Before each of them the buffers that
// the kernel had are what they were before the first.
class KernelTiming : public LaunchHook {
 public:
  KernelTiming(const OpenClLibrary& cl, const KernelFacts& kernels, LaunchChoice choice, uint64_t repeats)
      : memory_(cl), kernels_(kernels), choice_(std::move(choice)), repeats_(repeats) {}

  Status before(const Launch& launch) override;
  Status after(const Launch& launch) override;
  bool wants(const Launch& launch) const override { return choice_.is(launch); }
  bool done() const override { return done_.load(); }

  const std::vector<uint64_t>& ns() const { return ns_; }

 private:
  DeviceMemory memory_;
  const KernelFacts& kernels_;
  LaunchChoice choice_;
  uint64_t repeats_;
  std::map<uint64_t, Bytes> inputs_;  // by buffer
  std::vector<uint64_t> ns_;
  std::atomic<bool> done_{false};
};

}  // namespace gt::tracer
