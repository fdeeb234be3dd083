// Functions of the program that were enqueued as kernels (clEnqueueNativeKernel): the program is not here, so a marker
// takes their place, which waits for the same events and gives the same one.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tracer/gtrace/replay/shape_plan.h"

namespace gt::tracer {

class MarkerInPlace {
 public:
  // Of a call of clEnqueueNativeKernel. REQUIRES: plan.callable.
  MarkerInPlace(const model::Shape& native, const ShapePlan& native_plan, const model::Trace& trace);

  const model::Shape& shape() const { return shape_; }
  const ShapePlan& plan() const { return plan_; }
  std::vector<int64_t> values(std::span<const int64_t> of_native) const;

 private:
  model::Shape shape_;
  std::vector<uint16_t> value_at_;  // where they stand in the native kernel's row
  ShapePlan plan_;
};

}  // namespace gt::tracer
