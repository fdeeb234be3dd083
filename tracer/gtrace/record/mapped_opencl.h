// Which OpenCL the recorded processes had, when no call of theirs was seen.
#pragma once

#include <string>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::tracer {

// Paths of the files among the trace's modules that define OpenCL's functions; `injected` is not one of them.
// Cost: reads the symbols of every module that still exists.
std::vector<std::string> mapped_opencl(const model::Trace& trace, const std::string& injected);

// Executables of recorded processes that have OpenCL linked into them, and made no call that was seen: their entries
// were not patched, because `program`, which gtrace run was given, is another file.
std::vector<std::string> own_opencl_of_others(const model::Trace& trace, const std::string& program);

}  // namespace gt::tracer
