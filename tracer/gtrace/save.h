// Where a finished trace goes: to the file that the user named, or, when that cannot be written, somewhere else rather
// than nowhere.
#pragma once

#include <string>

#include "traces/base/status.h"
#include "traces/model/event.h"

namespace gt::tracer {

// Can `path` be created here? Asked before the program starts, so that nobody runs an hour for nothing.
Status check_writable(const std::string& path);

// Writes the trace to `path`, an older one kept as trace.1.db, ...; when that fails (a full disk), to the user's data
// directory or the temporary one. Gives the path written; the failure of the first choice goes to `trouble`.
Result<std::string> save_trace(const std::string& path, const model::Trace& trace, Status& trouble);

}  // namespace gt::tracer
