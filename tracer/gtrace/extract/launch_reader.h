// Takes one launch of a replay apart: its kernel, arguments, and what its buffers hold before and after.
// Thread safety: as LaunchHook.
#pragma once

#include <atomic>
#include <map>

#include "tracer/gtrace/extract/standalone.h"
#include "tracer/gtrace/replay/device_memory.h"
#include "tracer/gtrace/replay/mapped_boxes.h"

namespace gt::tracer {

class LaunchReader : public LaunchHook {
 public:
  LaunchReader(const OpenClLibrary& cl, const KernelFacts& kernels, const MappedBoxes& shared,
               const model::Trace& trace, LaunchChoice choice)
      : cl_(cl), memory_(cl), kernels_(kernels), shared_(shared), trace_(trace), choice_(std::move(choice)) {}

  // Unsupported: it has an argument that cannot stand alone (a pipe, an address that no call gave), or no source.
  Status before(const Launch& launch) override;
  Status after(const Launch& launch) override;
  bool wants(const Launch& launch) const override { return choice_.is(launch); }
  bool done() const override { return done_.load(); }

  ExtractedLaunch& launch() { return out_; }

 private:
  Status find_source();
  Status take(uint32_t index, const BoundValue& value, cl_command_queue queue);
  Status take_memory(const BoundValue& value, cl_command_queue queue, ExtractedArgument& arg);
  Status take_sampler(const BoundValue& value, ExtractedArgument& arg) const;
  // What a memory object of `places_` holds now.
  Status read(uint64_t handle, size_t place, cl_command_queue queue, Bytes& out) const;

  const OpenClLibrary& cl_;
  DeviceMemory memory_;
  const KernelFacts& kernels_;
  const MappedBoxes& shared_;  // of shared virtual memory
  const model::Trace& trace_;
  LaunchChoice choice_;
  ExtractedLaunch out_;
  std::map<uint64_t, size_t> places_;  // by buffer, image or address
  std::map<uint64_t, uint64_t> blocks_;  // the addresses: their bytes
  std::atomic<bool> done_{false};
};

}  // namespace gt::tracer
