// Reads back from the device what a memory object holds, without the program noticing.
//
//   the program's queue:  ... | read: waits for what the program's call waits for | the program's call
//
// It is a command of the program's own queue, in the place where the call stands, so its data is what that call finds;
// nothing of the program's waits for it but what an in-order queue has behind it. The thread looks at the command's
// state until it is complete, but not for ever: what the call waits for may depend on what the program does next (a
// user event that it has not set yet). Then the read is left to itself, with the memory that it will write, and its
// content is not known.
// Thread safety: any thread; no lock, no allocation but of whole pages. Cost: the transfer, to pages of ours, and
// everything that stands before it in the queue.
#pragma once

#include <CL/cl.h>

#include "tracer/lib/bound_kernels.h"
#include "tracer/lib/content_sender.h"

namespace gt::tracer {

// Where in a queue something is read: behind these events.
struct ReadPlace {
  cl_command_queue queue = nullptr;
  cl_uint count = 0;
  const cl_event* events = nullptr;
};

// The bytes go to the collector. bytes 0: not to be had. REQUIRES: the thread records a call, and is in no callback.
Content read_back(const LiveObject& object, const ReadPlace& place) noexcept;
Content read_back(const LiveAllocation& memory, const ReadPlace& place) noexcept;

// User events that the program has not set yet. With one, commands may wait for the program itself.
void count_user_events(int change) noexcept;

}  // namespace gt::tracer
