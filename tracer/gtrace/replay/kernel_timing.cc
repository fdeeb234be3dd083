#include "tracer/gtrace/replay/kernel_timing.h"

#include <chrono>

namespace gt::tracer {

Status KernelTiming::before(const Launch& launch) {
  if (!choice_.is(launch)) return {};
  const auto queue = reinterpret_cast<cl_command_queue>(launch.queue);
  GT_TRY(memory_.finish(queue));
  for (const auto& [index, value] : kernels_.bindings(launch.handle)) {
    if (value.kind != BoundValue::Kind::Object || value.object != model::ObjectKind::Buffer) continue;
    GT_TRY(memory_.read(queue, reinterpret_cast<cl_mem>(value.handle), inputs_[value.handle]));
  }
  return {};
}

Status KernelTiming::after(const Launch& launch) {
  if (!choice_.is(launch)) return {};
  const auto queue = reinterpret_cast<cl_command_queue>(launch.queue);
  for (uint64_t i = 0; i < repeats_; ++i) {
    for (const auto& [buffer, bytes] : inputs_) GT_TRY(memory_.write(queue, reinterpret_cast<cl_mem>(buffer), bytes));
    GT_TRY(memory_.finish(queue));
    const auto began = std::chrono::steady_clock::now();
    GT_TRY(launch.again());
    GT_TRY(memory_.finish(queue));
    ns_.push_back(static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count()));
  }
  done_.store(true);
  return {};
}

}  // namespace gt::tracer
