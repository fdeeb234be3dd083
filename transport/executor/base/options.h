// What an executor is given. Thread safety: values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CL/cl.h>

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/chunks/piece_name.h"
#include "transport/link/base/options.h"
#include "transport/link/hello/credentials.h"
#include "transport/link/hello/hello.h"
#include "transport/usm/emulated_usm.h"

namespace gt::exec {

// What one client may have. 0: as much as the drivers give.
struct Limits {
  uint64_t objects = uint64_t{1} << 20;             // at a time
  uint64_t memory_bytes = 0;                        // in buffers, images, shared virtual memory
  uint64_t in_flight_bytes = uint64_t{1} << 30;     // host memory held for commands that are not over
  // With commands that hold all of that and wait for what the client has yet to do.
  uint32_t in_flight_timeout_ms = 10'000;
  uint64_t message_bytes = uint64_t{256} << 20;     // of one message; larger than a frame: in fragments
  uint32_t build_seconds = 600;
};

// Where another executor of the same client may come in (peers.h).
struct PeerListener {
  Fd handover;                    // where its connections arrive (transport/link/hello/handover.h)
  wire::SessionId session{};      // by which it asks for us
  std::vector<std::string> urls;  // where, beside those places that the client knows
};

struct Options {
  // Where chunks of writes arrive, and where those of reads leave from. No slots: the client can only use Inline and
  // Shared (behind a LocalLink all memory is shared).
  uint32_t inbox_slots = 8;
  uint32_t read_slots = 8;
  uint32_t slot_bytes = uint32_t{4} << 20;
  // For a client of this node: memory that both ends see, for transfers that are not worth chunks. 0: none.
  uint32_t ring_bytes = uint32_t{32} << 20;
  // Pinned memory for the bytes of small transfers, which messages carry. A multiple of 64; 0: none.
  uint32_t small_bytes = uint32_t{2} << 20;
  // Shared segments that transfers use are made known to the driver (pinned), once for each context.
  bool pin_shared = true;
  // How a client that asks for it gets at unified shared memory which is emulated; nothing: it emulates it itself.
  std::optional<usm::Host> emulates_usm = usm::Host::Copies;
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
  std::function<Result<PeerListener>()> open_peer_listener;  // empty: it has no peers
  // The file in which an owner's chunks are kept, opened for this executor alone; closed: there is none. Empty: nothing
  // is kept. Called once, by a thread of the executor's; may wait.
  std::function<Fd(const chunks::Owner&)> open_chunk_store;
  chunks::Key chunk_key{};  // of clients that tell none: made of the token
  bool packs = false;  // chunks may be compressed on their way, if the client wants it
  wire::Credentials certificates;  // for links to and from peers over tls://
  wire::LinkOptions peer_link;
};

}  // namespace gt::exec
