// Calls that --max-size left out, as text: how many, of which functions.
#pragma once

#include <string>

#include "tracer/gtrace/base/call_text.h"

namespace gt::tracer {

// "… 12345 calls summarised (--max-size): clSetKernelArg ×9000, clFinish ×3345"
std::string summary_text(const model::Trace& trace, const model::Node& summary);
// A line of `gtrace expand`. prefix: how a line of this stream begins. n: the number of the first of the calls.
std::string summary_line(const model::Trace& trace, const model::Node& summary, CallFormat format,
                         const std::string& prefix, uint64_t n);

}  // namespace gt::tracer
