// One number for what a program did: equal for the same program whatever its iteration count, its
// addresses, and the order in which the recorder numbered things.
#pragma once

#include <string>

#include "traces/model/fold/event.h"

namespace gt::store {

// 16 hex digits. REQUIRES: a checked trace (read_trace gives one).
std::string trace_digest(const model::Trace& trace);

}  // namespace gt::store
