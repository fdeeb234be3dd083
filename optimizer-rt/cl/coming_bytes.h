// Where reads that may still be under way put bytes in the program's memory. A write that takes its bytes from there is
// the driver's: staging would copy them when it is enqueued, and they may not be there yet.
//
// A read is over when its queue was finished, when its event was waited for or told to be over, or when something later
// in its in-order queue was. Whatever is not seen only keeps a write from being staged.
// Thread safety: all functions. Cost: one load when no read is under way. Does not allocate.
#pragma once

#include <CL/cl.h>

#include "optimizer-rt/cl/transfer_call.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

// A read was enqueued that does not block. `event`: nullptr if the program has none.
void bytes_come(cl_command_queue queue, bool in_order, cl_event event, const HostRange& range) noexcept;
bool are_coming(const HostRange& range) noexcept;
bool any_coming() noexcept;
void queue_is_over(cl_command_queue queue) noexcept;
void event_is_over(cl_event event) noexcept;
// The program gives a reference back: another event may have this handle next.
void event_is_released(cl_event event) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
