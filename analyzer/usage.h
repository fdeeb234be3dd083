// What the settings of ganalyze may be, beyond their types: told before any file is read.
#pragma once

#include <cstddef>

#include "traces/base/settings_cli.h"
#include "traces/base/status.h"

namespace gt::analyzer {

// What ganalyze and ganalyze diff share: ratios, widths, options that were given nothing.
Status check_settings(const CLI::App& app, const Options& options);
// Of ganalyze with `files` traces: which settings go together.
Status check_usage(const CLI::App& app, const Options& options, size_t files);

}  // namespace gt::analyzer
