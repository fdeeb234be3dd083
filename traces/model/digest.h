// The canonical description of folded nodes (fold.h), where some values are to be described as others.
#pragma once

#include <functional>
#include <vector>

#include "traces/model/event.h"

namespace gt::model {

// What stands for value `index` of a call: the series itself, or another one, in `scratch`.
using DescribedValue = std::function<const Series&(const Node& call, size_t index, Series& scratch)>;

// As digest() of fold.h. Cost: nothing is copied.
void digest(const std::vector<Node>& nodes, const std::function<uint64_t(ShapeId)>& shape_key,
            const DescribedValue& value, ByteWriter& out);

}  // namespace gt::model
