// A link inside the process: both ends are here, frames are handed over by the thread that sends, memory is simply
// there. It makes an executor in this process look like one elsewhere, at the price of a call.
#pragma once

#include <memory>
#include <utility>

#include "transport/link/base/link.h"

namespace gt::wire {

// The segment that is all memory of the process: its offsets are addresses.
constexpr SegmentId WholeProcess = ~SegmentId{0};

// Two ends of one link: of who asks, and of who answers, whose handler is told when nothing is left (on_idle()).
std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_local_link();

}  // namespace gt::wire
