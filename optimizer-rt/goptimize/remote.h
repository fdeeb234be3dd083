// What a run with remote devices hands to the program: the virtual platform's library, and its settings as variables.
// Thread safety: none.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traces/base/command_line.h"
#include "traces/base/status.h"

namespace gt::opt {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The variables of --remote, --token-file, --cert, --key, --ca; files by their absolute paths. Without --remote: none.
// An error: a file that cannot be read, or the library is missing.
Result<Variables> connection_variables(const Options& options);
// Also those of --order, --only, --sync-errors.
Result<Variables> run_variables(const Options& options);

}  // namespace gt::opt
