// Strongly connected components of a part of a graph, after Tarjan, "Depth-first search and linear graph algorithms"
// (1972). Thread safety: functions are independent.
#pragma once

#include <cstdint>
#include <vector>

namespace gt::model {

using Vertices = std::vector<uint32_t>;

// The components of the vertices `part`, edges between them only, every component before those that it leads to.
// `in_part`: a scratch of one entry for each vertex of the graph, all false before and after.
std::vector<Vertices> components(const std::vector<Vertices>& next, const Vertices& part, std::vector<bool>& in_part);

}  // namespace gt::model
