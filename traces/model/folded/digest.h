// The canonical description of folded nodes (fold.h), where some values are to be described as others.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::model {

// What stands for value `index` of the calls of a shape, when all of them have it.
using DescribedValue = std::function<int64_t(ShapeId shape, size_t index, int64_t value)>;

// As digest() of fold.h. Cost: that of flow_graph(), and the graph for each level of its loops.
void digest(std::span<const Node> nodes, std::span<const int> value_counts,
            const std::function<uint64_t(ShapeId)>& shape_key, const DescribedValue& value, ByteWriter& out);

}  // namespace gt::model
