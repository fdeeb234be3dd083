// What the settings of ganalyze may be, beyond their types: told before any file is read.
#pragma once

#include <cstddef>

#include "traces/base/command_line.h"
#include "traces/base/status.h"

namespace gt::analyzer {

// What ganalyze and ganalyze diff share: ratios, widths, options that were given nothing.
Status check_settings(const CommandLine& line);
// Of ganalyze with `files` traces: which settings go together.
Status check_usage(const CommandLine& line, size_t files);

}  // namespace gt::analyzer
