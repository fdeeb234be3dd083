// What the calls of each function cost, over all places and threads.
#pragma once

#include <string>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct FunctionSums {
  std::string name;
  uint64_t calls = 0, failed = 0;
  uint64_t host_ns = 0;    // in the calls; memory calls and callbacks are not timed
  uint64_t first_ns = 0;   // of these, what first calls took beyond later ones of the same place
  uint64_t device_ns = 0;  // of their commands
  uint64_t bytes = 0;      // moved or allocated
  size_t places = 0;       // in the program's code
  bool follows_launches = false;  // it launches, or may wait for what was launched
};

// Most host time first. Cost: O(shapes).
std::vector<FunctionSums> find_functions(const model::Trace& trace);

}  // namespace gt::analyzer
