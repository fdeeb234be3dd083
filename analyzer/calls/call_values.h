// Values of a shape's arguments over the whole folded trace, without unfolding it.
#pragma once

#include <optional>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

// The value of the first argument with this `param`, when it is the same in every call of the
// shape; else nothing. Nothing, too, when calls of the shape stand in a stretch that did not fold.
// Cost: O(folded trace).
std::optional<int64_t> constant_value(const model::Trace& trace, model::ShapeId shape,
                                      uint16_t param);

}  // namespace gt::analyzer
