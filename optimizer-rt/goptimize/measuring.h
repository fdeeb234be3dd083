// The first measurement of a machine, by gmicrobench in a process of its own.
// Thread safety: none; start no threads before.
#pragma once

#include <chrono>
#include <string>

#include "traces/base/status.h"
#include "traces/model/platform.h"

namespace gt::opt {

// Writes this machine's platform file to `path`; says so, with progress, on stderr. A driver that does not come back is
// given up after `limit`, and `path` then says so, so that nobody waits for it twice. Zero: nothing is measured.
// Unsupported when there is no measurement. The process that measures ends with this one, however this one ends.
Status measure(const std::string& path, std::chrono::seconds limit);

// That is what measure() left here.
bool was_given_up(const model::Platform& platform);

}  // namespace gt::opt
