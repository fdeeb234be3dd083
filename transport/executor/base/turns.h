// Turns at enqueueing commands on memory objects, for drivers that need them.
//
// PoCL 1.8 to 6.0 keeps the event of an object's last command, and counts its references wrongly when two threads
// enqueue commands on the object while its contents are to be moved (clEnqueueMigrateMemObjects, a context of several
// devices): the event goes while others still wait for it, and the process with it. OpenCL allows such calls, and a
// program of one thread makes them here, because the chunks of its streams are enqueued by threads of ours.
// tests/bench/two_threads.cc shows it.
// Invariant: no driver is made to take turns whose enqueueing calls may wait for other commands; with a turn held, the
// thread that would end those may be waiting for its own.
#pragma once

#include <mutex>

#include "transport/executor/base/queue.h"
#include "transport/executor/base/session.h"

namespace gt::exec {

// To be held during the call.
inline std::unique_lock<std::mutex> turn_at(Session& session, const Queue& queue) {
  return queue.takes_turns ? std::unique_lock(session.turns) : std::unique_lock<std::mutex>();
}

// For who enqueues past queues of ours; nullptr: the device's driver needs no turns.
inline std::mutex* turns_at(Session& session, cl_device_id device) {
  return takes_turns(session.cl, device) ? &session.turns : nullptr;
}

}  // namespace gt::exec
