// The name of an object: the class that it belongs to, and its number there. See event.h.
#pragma once

#include <cstdint>

#include "traces/model/fold/event.h"

namespace gt::tracer {

struct ObjectRef {
  model::ClassId cls = model::NoIndex;
  uint32_t slot = 0;
  bool known() const { return cls != model::NoIndex; }
  bool operator==(const ObjectRef&) const = default;
};

}  // namespace gt::tracer
