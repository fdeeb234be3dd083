// Write and Read messages.
//
// Inline: the bytes are held here until the device has them. Shared, Ring: the device reads or writes memory that the
// client sees, too.
// Stream, Peer: stream_write.h, stream_read.h.
// Thread safety: run() by the control channel.
#pragma once

#include <deque>
#include <optional>
#include <unordered_set>

#include "transport/executor/base/commands.h"
#include "transport/executor/transfer/bounce_buffer.h"
#include "transport/executor/transfer/device_streams.h"
#include "transport/executor/transfer/peers.h"
#include "transport/executor/transfer/stream_write.h"

namespace gt::exec {

class Transfers {
 public:
  // `ring` must outlive it.
  Transfers(Commands& commands, std::shared_ptr<Inbox> inbox, const BounceBuffer& ring, std::shared_ptr<Peers> peers,
            SharedPins& pins)
      : commands_(commands), inbox_(std::move(inbox)), ring_(ring), peers_(std::move(peers)), pins_(pins) {}
  ~Transfers();

  // `room`: given for an inline transfer, else CL_OUT_OF_HOST_MEMORY.
  void run(const wire::Write& write, InFlight::Share room);
  void run(const wire::Read& read, InFlight::Share room);
  // Frees the bytes of inline writes that are over and have nothing before them that is not.
  void reclaim();
  // Of all that are over. Cost: a question to the driver for each.
  void reclaim_everywhere();
  // The client has a new object. What streams need is made ahead for its first queue (it goes on to build programs,
  // mostly) and for the queues of contexts with memory that goes in chunks.
  void expect(const Object& object);
  // The client let go of its context: nothing new is made in it, and what was made for streams goes.
  void forget(cl_context context);
  // No more messages come: threads for streams end when what is under way is over.
  void close() { streams_.clear(); }

 private:
  // What a message of either kind leads to.
  struct Target {
    std::shared_ptr<Queue> queue;
    Memory memory;
    copy::Region part;
    uint32_t element = 1;
    std::span<const cl_event> waits;
  };
  // An error has been told when this gives nothing.
  template <class Message>
  std::optional<Target> target(const Message& message, api::FnId fn);
  cl_int write_inline(const wire::Write& write, const Target& target, InFlight::Share room);
  cl_int read_inline(const wire::Read& read, const Target& target, InFlight::Share room);
  cl_int write_stream(const wire::Write& write, const Target& target, const std::shared_ptr<Inbox>& inbox);
  cl_int read_stream(const wire::Read& read, const Target& target, std::unique_ptr<Sink> to);
  template <class Message>
  cl_int in_place(const Message& message, Way way, const Target& target);
  // nullptr: it is not there.
  template <class Message>
  void* memory_of(const Message& message, const Target& target);
  cl_int open_placeholder(const Target& target, staging::QueuePlaceholder& placeholder);
  void begin_when_reached(const Target& target, const staging::QueuePlaceholder& placeholder, uint64_t order,
                          std::unique_ptr<Then> then);
  void name_after(const Target& target, const staging::QueuePlaceholder& placeholder, ObjectId event, int64_t before);
  std::shared_ptr<Inbox> inbox_of(const wire::Write& write);
  void refuse_sender(const wire::Write& write);

  DeviceStreams& streams_of(const Queue& queue);
  void prepare(const Queue& queue);
  SmallBytes small_bytes(const Target& target, size_t bytes);

  // Bytes of inline writes: freed when later ones come and these are over.
  struct Held {
    cl_event event;
    SmallBytes bytes;
    InFlight::Share room;
  };
  bool is_over(const Held& held) const;
  void let_go(Held& held);

  Commands& commands_;
  std::shared_ptr<Inbox> inbox_;
  const BounceBuffer& ring_;
  std::shared_ptr<Peers> peers_;
  SharedPins& pins_;
  std::deque<Held> held_;
  std::vector<std::shared_ptr<DeviceStreams>> streams_;
  bool has_queue_ = false;
  std::unordered_set<cl_context> large_;  // contexts with memory that goes in chunks
};

}  // namespace gt::exec
