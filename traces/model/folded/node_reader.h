// A node with the reading positions of its series: what expand.cc and rounds.h go through loops with.
// REQUIRES: the node outlives it.
#pragma once

#include <vector>

#include "traces/model/fold/event.h"
#include "traces/model/series/series_cursor.h"

namespace gt::model {

constexpr size_t MaxLoopDepth = 64;  // damaged nodes must not exhaust the stack

struct NodeReader {
  const Node* node = nullptr;
  std::vector<SeriesCursor> values;  // Call: those of its values that vary. Loop, Run: the count
  std::vector<size_t> places;        // Call: of those, in the row
  std::vector<int64_t> row;          // Call: the last one's; the others stand in it once and for all
  std::vector<NodeReader> body;

  NodeReader(const Node& n, size_t depth);

  // The values of a Call, into its row. False: the series are damaged.
  bool read(const std::vector<uint64_t>& counters) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].value(counters, row[places[i]])) return false;
    }
    return true;
  }
};

}  // namespace gt::model
