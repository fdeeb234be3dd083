// Do the trace's devices work in the host's own memory? Then nothing is gained by pinned memory, and much by not
// copying. Told by what the program asked (a device's type, its unified memory, devices of one type), else by the names
// of devices that are processors. Not known is no.
// Thread safety: independent. Cost: one walk over the folded trace.
#pragma once

#include <string_view>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

// All devices of the trace that did something.
bool devices_share_host_memory(const model::Trace& trace);

// Is this the name of a host's processor?
bool is_processor_name(std::string_view device);

}  // namespace gt::analyzer
