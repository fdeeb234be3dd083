// Device time: when commands really ran, learnt without the program noticing.
//
// Queues are created with profiling on; a program that did not ask for it sees neither the property nor profiling
// values. Where the driver can switch profiling while a queue is in use, it is on only while a command that we time is
// enqueued, because a driver may charge every command of a profiling queue for it (docs/measurements/h200.md).
// Which commands are timed: sampling.h. Each timed command's event (the program's, retained, or one of our own) waits
// in a FIFO of its queue and is read, START and END only, at calls that block anyway. No event callbacks, no threads,
// no waiting.
// Invariants: an event in a FIFO holds one reference of ours; a FIFO never exceeds PendingPerQueue, beyond which
// commands go untimed (and are counted as such).
// Thread safety: one lock per queue, for which nobody waits long; queues of different threads share nothing.
// Cost: some ns for a command that is not timed; 1 us for one that is, on top of what the driver's own profiling costs
// (up to 8 us), 2 us on average over a site's commands; nothing when timing is off.
#pragma once

#include <CL/cl.h>

#include <cstdint>

#include "tracer/lib/recorder.h"

namespace gt::tracer {

struct WatchedQueue;  // whose commands can be timed

// Does the user want commands of this kind timed? (--timing)
bool timing_wanted(bool launch);

// Commands of `queue` can be timed; `asked`: the program itself asked for profiling.
void watch_queue(cl_command_queue queue, cl_device_id device, bool asked, const cl_queue_properties* list);
// nullptr: its commands cannot be timed.
WatchedQueue* watched_queue(cl_command_queue queue);
// The program switched profiling on or off by itself (clSetCommandQueueProperty).
void ask_profiling(cl_command_queue queue, bool on);

// The number of the sample to which the commands of this call belong; EverySample: all commands are timed.
// `work` tells the commands of one call apart: a kernel, a size.
constexpr uint32_t EverySample = ~uint32_t{0};
uint32_t sample_of(const Ring& ring, const void* site, uint64_t work);
// Is its next command to be timed?
bool due(uint32_t sample);

// While one lives, commands enqueued to the queue have device times.
class Profiled {
 public:
  explicit Profiled(WatchedQueue& queue);
  ~Profiled();
  Profiled(const Profiled&) = delete;
  Profiled& operator=(const Profiled&) = delete;

 private:
  WatchedQueue& queue_;
  const bool switches_;  // as it was: the program may ask for profiling meanwhile
};

bool profiling_hidden(cl_command_queue queue);  // on, but the program did not ask for it
// The program's own property list of a queue whose list we extended; count in elements with the
// final 0; 0: none kept.
uint32_t asked_properties(cl_command_queue queue, const cl_queue_properties** list);

// Of ours: Intel's CPU runtime gives one with some errors, and crashes at its end when nobody releases it. What is no
// object of the queue's driver, or is no longer, is let be.
void drop_event_of_error(cl_command_queue queue, cl_event event) noexcept;

// Takes the event of a command just enqueued as call number `sequence` of this thread. `ours`: we hold the only
// reference, else the program holds one and we retain another. False: not taken (the FIFO is full).
bool track(WatchedQueue& queue, cl_event event, bool ours, uint64_t sequence, uint32_t sample);
// Is one of the event's references ours?
bool tracked(cl_event event);

// Reads what is complete, oldest first, and records it.
void harvest(cl_command_queue queue);
void harvest_all();

}  // namespace gt::tracer
