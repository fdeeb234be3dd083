// The records of a real program in a file, for the collector to be measured with: collect_bench --keep and --records.
//
// What is kept is what SpoolReader gives, in its order, so only the reading of rings is not in the measurement. A file
// is for the build that wrote it, on the machine that did: records are as they lie in memory.
#pragma once

#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::bench {

// Runs the program under the recorder and keeps all its records. Gives the program's exit status.
Result<int> keep_records(const std::string& file, const std::vector<std::string>& command);

// Takes the file's records through a collector, and prints what that cost. Invalid: it is no such file.
Status measure_records(const std::string& file);

}  // namespace gt::bench
