// The first measurement of a machine, and later of what failed then, by gmicrobench in a process of its own.
// Thread safety: none; start no threads before.
#pragma once

#include <chrono>
#include <string>

#include "traces/base/status.h"
#include "traces/model/platform.h"

namespace gt::opt {

// Writes this machine's platform file to `path`, with progress on stderr; what the file has costs of is not measured
// again. A driver that does not come back is given up after `limit`. Ok: `path` says what was measured, or why nothing
// was, so that nobody waits for it twice. The process that measures ends with this one, however this one ends.
Status measure(const std::string& path, std::chrono::seconds limit);

// RLIMIT_FSIZE is an error like a full disk, and does not end us.
Status write_within_limit(const model::Platform& platform, const std::string& path);

}  // namespace gt::opt
