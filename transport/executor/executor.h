// Makes the calls of a client's messages (transport/protocol/messages.h) on the OpenCL drivers of this process.
//
//   client -- link --> on_frame: decode, check, call --> driver   in order of arrival, never waiting (once: migrator.h)
//             link --> on_put:   chunks of writes -----> driver   while the next chunk is on its way
//             link --> on_idle: what is over by now is told, what is not gets a thread that waits for it
//          <-- link -- threads that wait for events: Completed, Data, chunks of reads
//
// One executor serves one link: in gproxy's worker process behind shared memory or a socket, or in the program's own
// process behind a LocalLink. The client is not trusted: whatever its frames hold, every name is looked up, every
// length checked, and no address of its reaches the driver but memory that the link vouches for, and shared virtual
// memory that the driver gave it. What it asks wrongly is answered by Failed with the error that OpenCL gives; frames
// that are no messages close the link.
//
// Ownership: everything that the client made is the executor's, and released when the link closes.
// Thread safety: all functions from any thread. Exceptions never leave it. Messages are taken in one at a time, with a
// lock: by the link's thread, by one that catches up with those that had to wait (backlog.h), inside a process by the
// client's own. Whoever has that lock is what the parts in calls/ and transfer/ call the control channel.
#pragma once

#include <memory>

#include <CL/cl.h>

#include "traces/api/roles.h"
#include "traces/base/mutex.h"
#include "transport/executor/base/counters.h"
#include "transport/executor/base/functions.h"
#include "transport/executor/base/options.h"
#include "transport/link/base/link.h"
#include "transport/protocol/messages.h"

namespace gt::exec {

class Executor final : public wire::LinkHandler {
 public:
  // `functions` and `link` must outlive it.
  Executor(const Functions& functions, wire::Link& link, const Limits& limits, Options options);
  // Closes the link, waits until it says so, and up to close_ms for commands under way; releases everything.
  ~Executor() override;

  // Exposes the inbox and starts the link with this as its handler.
  Status start();
  // Returns when the link is closed.
  void wait_until_closed();
  Counters counters() const;

  // --- For a client in this process, which goes to the driver past it: docs/decisions/0030 says when, and why. ---
  // What a name stands for, as soon as the message that named it has been taken in; nullptr: nothing. The reference
  // stays the executor's: until the client's release.
  void* native(api::ObjectKind kind, wire::ObjectId name) const;
  // Gives a native buffer of the client's a name that it has not used. The executor has a reference of its own. False:
  // it may not have one more.
  bool adopt(cl_mem buffer, wire::ObjectId name);
  // To be held while commands on memory objects are enqueued (driver_lock.h). nullptr: the device's driver needs none.
  Mutex* driver_lock(cl_device_id device) const;

  void on_frame(ByteView frame) override;
  void on_put(wire::Notice notice, size_t bytes) override;
  void on_withdrawn(wire::SegmentId segment) override;
  void on_closed(const Status& why) override;
  bool on_idle(wire::Idle how) override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace gt::exec
