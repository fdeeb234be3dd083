// A connection to one peer: ordered control frames, and one-sided access to memory that the peer exposed.
//
// The same calls everywhere, the mechanism by where the peer is (DART-MPI's locality awareness): inside the process a
// call, inside a node a ring and loads and stores in shared memory, between nodes sockets. Two channels, so that small
// commands stay fast under bulk load:
//
//   control   send(frame) ... ──► peer's on_frame(frame), in order
//   data      put(memory, address, notice) ... ──► bytes are in the peer's memory, then on_put(notice), in order
//
// Nothing is promised between the channels; a notice is what orders a put before what follows from it.
//
// Segments name memory: a peer reads and writes only inside segments that this side exposed, checked on arrival.
// An address is (segment, offset). Memory that the peer can load and store directly has a shared address: what the link
// allocated, or shared memory that was exposed as such; always, inside a process; never, between nodes.
//
// Errors: what the peer did wrong closes the link. After the link is closed every call returns Disconnected at once,
// tickets complete, and on_closed() has been or is being called, once. A link over a network survives a cut of up to
// the grace that both sides agreed on: nothing is lost, and nothing is delivered twice.
// Thread safety: all functions of Link from any thread. Handlers are called one at a time for each channel, by threads
// of the link, by one that is in help(), or (inside a process) by the thread that sends: never hold a lock in send(),
// put() or help() that a handler takes. Handlers may send and put; they must not wait(), help() or block for long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "traces/base/bytes.h"
#include "traces/base/status.h"

namespace gt::wire {

using SegmentId = uint32_t;  // chosen by who exposes; never used again while the link lives

struct Address {
  SegmentId segment = 0;
  uint64_t offset = 0;
};

// A put or get under way. Values; 0 is over.
using Ticket = uint64_t;

// Handed to the peer's on_put() when the bytes are there. What it means is a matter of the protocol.
using Notice = uint64_t;

// Bytes that came one after the other, and how long that took.
struct Pace {
  uint64_t bytes = 0, ns = 0;
};

constexpr size_t LargestFrame = size_t{1} << 20;  // bytes of one control frame; larger data is put

enum class Idle : uint8_t {
  Looks,   // the thread looks for more, some 20 us long, and calls this again and again
  Sleeps,  // it does not any more
  Waits,   // this is the peer's thread, with nothing to do but to wait for what it asked for since prepare_help()
};

class LinkHandler {
 public:
  virtual ~LinkHandler() = default;
  virtual void on_frame(ByteView frame) = 0;               // valid during the call
  virtual void on_put(Notice notice, size_t bytes) = 0;    // a put with a notice has arrived
  // The peer withdraws memory that view() gives: during the call it still does, afterwards it does not. The peer waits:
  // who told a driver of the memory has it let go now, however long that takes. Beside the other calls.
  virtual void on_withdrawn(SegmentId segment) { (void)segment; }
  virtual void on_closed(const Status& why) = 0;           // no call follows
  // No frame is left. For what is soon over and would need another thread to wait for it. True: something was done, so
  // that the peer may send more soon. Inside a process it is called by help() (Waits), and by push() and send() without
  // `more` (Sleeps), by any thread.
  virtual bool on_idle(Idle) { return false; }
};

class Link {
 public:
  virtual ~Link() = default;  // REQUIRES: closed, or never started; joins the link's threads

  // Calls of `handler` begin. Once; the handler must outlive the link.
  virtual Status start(LinkHandler& handler) = 0;
  // The peer has said that it is about to end: when its connection does, it is not waited for. The link goes on.
  virtual void expect_end() {}
  // Ends the link from this side. What was sent before still arrives if the peer lives (bounded: 2 s).
  virtual void close() = 0;

  // --- Control ---
  // One frame made of the parts, copied before the call returns. `more`: others follow soon; may be held back until a
  // frame without `more`, push(), 64 frames, 16 KiB or 50 us. Waits while the peer does not keep up.
  virtual Status send(std::span<const ByteView> parts, bool more = false) = 0;
  virtual Status push() = 0;
  // Before the frame is sent whose answer help() is to bring, so that nobody is woken for one that comes at once.
  // help() must follow, by this thread.
  virtual void prepare_help() {}
  // For who waits for a frame: pushes, and calls handlers in this thread instead of having the link's own woken up for
  // it, until done() is true. May return before that: then the caller sleeps until a handler wakes it.
  virtual void help(const std::function<bool()>& done) = 0;
  // What somebody waits for in help() may have come about otherwise than by a handler: it looks again.
  virtual void wake_helper() {}

  // --- Memory that the peer may access ---
  // Of this process. Valid for puts and gets of the peer until withdraw() has returned.
  virtual Result<SegmentId> expose(void* base, size_t bytes) = 0;
  // A mapping of `fd` (a memfd) from `fd_offset` on: inside a node the peer maps it, too. Segments may overlap.
  virtual Result<SegmentId> expose_shared(int fd, size_t fd_offset, void* base, size_t bytes) = 0;
  // Zeroed, page-aligned memory of the link's, exposed; directly accessible to the peer where the link allows.
  virtual Result<SegmentId> allocate(size_t bytes, void** base) = 0;
  virtual Status withdraw(SegmentId segment) = 0;  // frees what allocate() gave

  // --- Memory of the peer ---
  // Where the peer's memory is directly accessible here; nullptr: it is not, use put and get.
  virtual void* view(Address peer, size_t bytes) = 0;
  // The address by which the peer may access this memory of ours directly; none: it cannot.
  virtual std::optional<Address> shared_address(const void* p, size_t bytes) = 0;

  // Copies to (from) the peer. Not blocking: the memory here must stay as it is until the ticket is over. Over: a put
  // has arrived (its memory here may be used again), a get's bytes are here. Puts arrive in order; so do notices.
  // With a notice: the peer's handler is told when the bytes are there.
  virtual Ticket put(const void* from, Address to, size_t bytes) = 0;
  virtual Ticket put(const void* from, Address to, size_t bytes, Notice notice) = 0;
  virtual Ticket get(void* to, Address from, size_t bytes) = 0;
  virtual bool test(Ticket ticket) = 0;
  virtual Status wait(Ticket ticket) = 0;
  // Of a put of at least LeastPaced, before others follow: waits until so many bytes of it have arrived, and says how
  // long they took behind the first ones. So what a round trip takes does not count. None: that is not known here.
  static constexpr uint64_t LeastPaced = uint64_t{1} << 20;
  virtual std::optional<Pace> pace(Ticket put, uint64_t bytes) {
    (void)put, (void)bytes;
    return {};
  }
  bool test_all(std::span<const Ticket> tickets);
  Status wait_all(std::span<const Ticket> tickets);
  // All puts and gets so far are over.
  virtual Status flush() = 0;

  virtual bool is_closed() const = 0;
};

}  // namespace gt::wire
