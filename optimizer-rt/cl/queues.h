// What we remember of the program's queues: asking the driver anew for each transfer would take longer than what a
// small transfer saves.
//
// Invariants: an entry is right for as long as the program holds a reference to the queue; it goes with the last one.
// A queue that finds no room is simply unknown. Thread safety: all functions.
#pragma once

#include <CL/cl.h>

#pragma GCC visibility push(hidden)

namespace gt::opt {

struct QueueEntry {
  cl_command_queue queue = nullptr;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  bool in_order = true, profiling = false;
  bool has_barriers = false;  // of an out-of-order queue, ever
};

// False: no such queue, or no room to remember it.
bool look_up_queue(cl_command_queue queue, QueueEntry* out) noexcept;
// The program made a queue: whatever was known of this handle is over.
void queue_created(cl_command_queue queue) noexcept;
// Call before the real release.
void queue_releasing(cl_command_queue queue) noexcept;
void barrier_enqueued(cl_command_queue queue) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
