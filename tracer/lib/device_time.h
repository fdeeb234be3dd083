// Device time: when commands really ran, learnt without the program noticing.
//
// Queues are created with profiling on; a program that did not ask for it sees neither the property
// nor profiling values. Each timed command's event (the program's, retained, or one of our own)
// waits in a FIFO of its queue and is read, START and END only, at calls that block anyway. No
// event callbacks, no threads, no waiting. Invariants: an event in a FIFO holds one reference of
// ours; a FIFO never exceeds PendingPerQueue, beyond which
//   commands go untimed (and are counted as such).
// Thread safety: one spin lock per queue; queues of different threads share nothing.
// Cost: 2 µs at most per timed enqueue on top of what the driver's own profiling costs; nothing
// when timing is off.
#pragma once

#include <CL/cl.h>

#include <cstdint>

namespace gt::tracer {

// Does the user want commands of this kind timed? (--timing)
bool timing_wanted(bool launch);

// Commands of `queue` can be timed; `asked`: the program itself asked for profiling.
void watch_queue(cl_command_queue queue, cl_device_id device, bool asked,
                 const cl_queue_properties* list);
bool queue_is_timed(cl_command_queue queue);
bool profiling_hidden(cl_command_queue queue);  // on, but the program did not ask for it
// The program's own property list of a queue whose list we extended; count in elements with the
// final 0; 0: none kept.
uint32_t asked_properties(cl_command_queue queue, const cl_queue_properties** list);

// Takes the event of a command just enqueued as call number `sequence` of this thread. `ours`: we
// hold the only reference, else the program holds one and we retain another. False: not taken (the
// FIFO is full).
bool track(cl_command_queue queue, cl_event event, bool ours, uint64_t sequence);
// Is one of the event's references ours?
bool tracked(cl_event event);

// Reads what is complete, oldest first, and records it.
void harvest(cl_command_queue queue);
void harvest_all();

}  // namespace gt::tracer
