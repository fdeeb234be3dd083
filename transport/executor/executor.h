// Makes the calls of a client's messages (transport/protocol/messages.h) on the OpenCL drivers of this process.
//
//   client -- link --> on_frame: decode, check, call --> driver   in order of arrival, never waiting (once: mover.h)
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
// Thread safety: all functions from any thread. Exceptions never leave it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <CL/cl.h>

#include "traces/api/roles.h"
#include "transport/executor/base/functions.h"
#include "transport/link/connect.h"
#include "transport/link/base/link.h"
#include "transport/protocol/messages.h"

namespace gt::exec {

// What one client may have. 0: as much as the drivers give.
struct Limits {
  uint64_t objects = uint64_t{1} << 20;             // at a time
  uint64_t memory_bytes = 0;                        // in buffers, images, shared virtual memory
  uint64_t in_flight_bytes = uint64_t{1} << 30;     // host memory held for commands that are not over
  uint32_t patience_ms = 10'000;  // with commands that hold all of that and wait for what the client has yet to do
  uint64_t message_bytes = uint64_t{256} << 20;     // of one message; larger than a frame: in fragments
  uint32_t build_seconds = 600;
};

// Where another executor of the same client may come in (peers.h).
struct PeerEntrance {
  Fd handover;                    // where its connections arrive (transport/link/connect.h)
  wire::SessionId session{};      // by which it asks for us
  std::vector<std::string> urls;  // where, beside those places that the client knows
};

struct Options {
  // Where chunks of writes arrive, and leave from for reads. No slots: the client can only use Inline and Shared
  // (behind a LocalLink all memory is shared).
  uint32_t inbox_slots = 8;
  uint32_t outbox_slots = 8;
  uint32_t slot_bytes = uint32_t{4} << 20;
  // For a client of this node: memory that both ends see, for transfers that are not worth chunks. 0: none.
  uint32_t ring_bytes = uint32_t{32} << 20;
  // Pinned memory for the bytes of small transfers, which messages carry. A multiple of 64; 0: none.
  uint32_t small_bytes = uint32_t{2} << 20;
  // Shared segments that transfers use are made known to the driver (pinned), once for each context.
  bool pin_shared = true;
  uint32_t close_ms = 2000;  // how long releasing waits for commands under way
  std::string node;          // for people; empty: host name and process
  std::vector<cl_device_id> devices;  // only these, also parts of devices; empty: those of all platforms
  // Hooks; each may be empty. Called from several threads.
  std::function<bool(cl_platform_id, cl_device_id)> serves;  // is this device the client's to use?
  std::function<void(cl_device_id)> uses;  // told of each queue that is made; of a part, the device that it is of
  // Called before the driver builds what `what` tells from other programs; what it gives goes when it has. As long as
  // that lives nobody else who has the same folder for temporary files builds it. nullptr: there are no turns.
  std::function<std::shared_ptr<const void>(std::string_view what)> take_build_turn;
  std::function<std::string()> take_printed;  // what kernels have printed since; asked before every Completed
  std::function<void(const std::string&)> log;  // one line for people
  std::function<Result<PeerEntrance>()> open_entrance;  // empty: it has no peers
  wire::Credentials certificates;  // for links to and from peers over tls://
  wire::LinkOptions peer_link;
};

// For metrics: since the start, except what is said to be at a time.
struct Counters {
  uint64_t calls = 0, launches = 0, writes = 0, reads = 0, builds = 0, failed = 0;
  uint64_t build_ns = 0;  // of builds that have ended; waiting for others that build the same included
  uint64_t written_bytes = 0, read_bytes = 0;  // from and to the client
  uint64_t peer_in_bytes = 0, peer_out_bytes = 0;
  uint64_t objects = 0, memory_bytes = 0, in_flight_bytes = 0;  // now
};

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
  // For clients in this process: what a name stands for, as soon as the message that named it has been taken in;
  // nullptr: nothing. The reference stays the executor's: until the client's release.
  void* native(api::ObjectKind kind, wire::ObjectId name) const;
  // For clients in this process, too: gives a native buffer of theirs a name that they have not used. The executor has
  // a reference of its own. False: it may not have one more.
  bool adopt(cl_mem buffer, uint64_t bytes, wire::ObjectId name);
  // For clients in this process that enqueue commands on memory objects past it: to be held meanwhile (turns.h).
  // nullptr: the device's driver needs no turns.
  std::mutex* turns(cl_device_id device) const;
  // For clients in this process, too: what the message Finish asks for, by clFinish in the calling thread. REQUIRES:
  // what has been sent before is taken in, and nothing is watched for the caller (Idle::Sleeps).
  cl_int finish(wire::ObjectId queue);

  void on_frame(ByteView frame) override;
  void on_put(wire::Notice notice, size_t bytes) override;
  void on_withdrawn(wire::SegmentId segment) override;
  void on_closed(const Status& why) override;
  bool on_idle(wire::Idle how) override;

 private:
  class State;
  std::unique_ptr<State> x_state;
};

}  // namespace gt::exec
