// trace.db: a Trace in SQLite. schema.sql is the document of the format; docs/TRACE_FORMAT.md
// explains it.
//
// Written by one process at a time, into a temporary file beside the target that is renamed over it
// when complete: a reader sees a whole trace or none. Later versions read every earlier format
// version. Thread safety: functions are independent; a Trace belongs to its owner.
#pragma once

#include <string>

#include "traces/base/status.h"
#include "traces/model/fold/event.h"

namespace gt::store {

constexpr int FormatVersion = 3;

// Kinds of failure: System (no permission, no space: nothing was left behind), Corrupt never.
Status write_trace(const std::string& path, const model::Trace& trace);

// Corrupt: not a gtrace trace, truncated, foreign or damaged in any byte; the text says which.
// Unsupported: made by a later version. System: cannot be opened. Never crashes, never allocates
// more than the file's size warrants.
Result<model::Trace> read_trace(const std::string& path);

// The newest trace*.db in `directory` by modification time; Invalid when there is none.
Result<std::string> newest_trace(const std::string& directory);

// Moves an existing `path` aside: trace.db -> trace.1.db, and so on upwards; with it the contents that lie beside it,
// trace.contents -> trace.1.contents.
Status keep_older(const std::string& path);

}  // namespace gt::store
