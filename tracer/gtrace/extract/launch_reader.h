// Takes one launch of a replay apart: its kernel, arguments, and what its buffers hold before and after.
// Thread safety: as LaunchHook.
#pragma once

#include <atomic>
#include <map>

#include "tracer/gtrace/extract/standalone.h"
#include "tracer/gtrace/replay/device_memory.h"

namespace gt::tracer {

class LaunchReader : public LaunchHook {
 public:
  LaunchReader(const OpenClLibrary& cl, const KernelFacts& kernels, const model::Trace& trace, LaunchChoice choice)
      : memory_(cl), kernels_(kernels), trace_(trace), choice_(std::move(choice)) {}

  // Unsupported: it has an argument that cannot stand alone (an image, a pipe, a pointer), or no source.
  Status before(const Launch& launch) override;
  Status after(const Launch& launch) override;
  bool wants(const Launch& launch) const override { return choice_.is(launch); }
  bool done() const override { return done_.load(); }

  ExtractedLaunch& launch() { return out_; }

 private:
  Status find_source();
  Status take(uint32_t index, const BoundValue& value, cl_command_queue queue);

  DeviceMemory memory_;
  const KernelFacts& kernels_;
  const model::Trace& trace_;
  LaunchChoice choice_;
  ExtractedLaunch out_;
  std::map<uint64_t, size_t> places_;  // by buffer
  std::atomic<bool> done_{false};
};

}  // namespace gt::tracer
