// A lock for enqueueing commands on memory objects, for drivers that need one.
//
// PoCL 1.8 to 6.0 keeps the event of an object's last command, and counts its references wrongly when two threads
// enqueue commands on the object while its contents are to be moved (clEnqueueMigrateMemObjects, a context of several
// devices): the event goes while others still wait for it, and the process with it. OpenCL allows such calls, and a
// program of one thread makes them here, because the chunks of its streams are enqueued by threads of ours.
// tests/bench/two_threads.cc shows it.
// Invariant: no driver is made to take turns whose enqueueing calls may wait for other commands; with a turn held, the
// thread that would end those may be waiting for its own.
// It is the last lock of an executor to be taken.
// Thread safety: any thread. A session has one such lock for all its devices, which lives as long as the session.
#pragma once

#include <mutex>

#include "traces/base/mutex.h"
#include "transport/executor/base/queue.h"
#include "transport/executor/base/session.h"

namespace gt::exec {

// To be held during the call. Held or not: what the analysis cannot follow.
inline std::unique_lock<Mutex> lock_driver(Session& session, const Queue& queue) {
  return queue.needs_driver_lock ? std::unique_lock(session.driver_lock) : std::unique_lock<Mutex>();
}

// For who enqueues past queues of ours; nullptr: the device's driver needs none. Cost: two questions to the driver, so
// the answer is worth keeping.
inline Mutex* driver_lock_of(Session& session, cl_device_id device) {
  return needs_driver_lock(session.cl, device) ? &session.driver_lock : nullptr;
}

}  // namespace gt::exec
