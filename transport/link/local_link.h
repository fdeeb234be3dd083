// A link inside the process: both ends are here, frames are handed over by the thread that sends, memory is simply
// there. It makes an executor in this process look like one elsewhere, at the price of a call.
//
// Thread safety: as link.h says. Handlers run in the thread that sends or puts, without a lock of the link's; where
// another thread is delivering on that channel they run in that one, and send() may return before they have.
// Ownership: what both ends share lives as long as either of them; the first that goes closes the link.
// Cost: a frame is copied to the heap; put() and get() are a memcpy by the caller, so their tickets are over at once.
// withdraw() does not wait for a copy that another thread is at.
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
