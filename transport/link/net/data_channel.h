// The data channel between nodes: puts, gets and what they ask for, cut into chunks as the delay window allows.
//
//   put(), get(), a peer's get ──► operations ── fill() ──► chunks in the stream ──► acknowledged: over
//
// Puts are over in their order, and so are gets: a ticket is the number of its put or get.
// Invariant: marks_ has an entry for each chunk in the stream that is not acknowledged, in order.
// Thread safety: all functions.
#pragma once

#include "transport/link/base/put_pace.h"
#include "transport/link/base/window.h"
#include "transport/link/net/channel.h"
#include "transport/link/net/channel_owner.h"

namespace gt::wire {

class DataChannel final : public ChannelUser {
 public:
  DataChannel(ChannelOwner& owner, uint64_t salt, Channel::Times times)
      : channel_(*this, salt, true, times), owner_(owner), life_(owner.life()) {}

  Channel& channel() { return channel_; }
  Ticket put(const void* from, Address to, size_t bytes, std::optional<Notice> notice);
  Ticket get(void* to, Address from, size_t bytes);
  bool test(Ticket ticket);
  Status wait(Ticket ticket);
  std::optional<Pace> pace(Ticket put, uint64_t bytes);
  Status flush();
  // The peer's gets no longer refer to this memory.
  void forget(const Segments::Memory& memory);
  void say_bye();
  bool all_arrived();
  DelayWindow window();

 private:
  static constexpr size_t MostOperations = 65536;  // that a peer's gets may make

  struct Operation {
    FrameType type = FrameType::Put;  // Put, Get, Got, Bye
    const char* from = nullptr;
    size_t bytes = 0, done = 0;
    PutHead put{};
    GetHead get{};
    uint64_t id = 0;  // Put: its number. Got: the peer's number
  };
  struct Mark {  // a chunk under way
    uint64_t end = 0, sent_ns = 0;
    size_t bytes = 0;
    uint64_t put = 0;  // the put that is over with it, or 0
    uint64_t of = 0;   // the put that it is of, if that is a large one
  };
  struct Wanted {  // a get under way
    char* to = nullptr;
    size_t bytes = 0, done = 0;
  };

  // `channel`: channel_, which called.
  bool has_room(Channel& channel) GT_REQUIRES(channel.mutex(), channel_.mutex());
  void cut(Channel& channel, uint64_t now_ns) GT_REQUIRES(channel.mutex(), channel_.mutex());
  void cut_chunk(Channel& channel, Operation& operation, size_t bytes) GT_REQUIRES(channel.mutex(), channel_.mutex());
  Status take_get(ByteView body);
  Status begin_put(const FrameHeader& header, ByteView head);
  Status begin_got(const FrameHeader& header, ByteView head);
  bool is_over(Ticket ticket) const;

  Status take_header(const FrameHeader& header) override;
  Status take_frame(const FrameHeader& header, ByteView body) override;
  Status begin_payload(const FrameHeader& header, ByteView head) override;
  bool at_target(size_t done, size_t bytes, const std::function<void(char*)>& use) override;
  Status end_payload() override;
  void fill(Channel& channel, uint64_t now_ns) override GT_REQUIRES(channel.mutex(), channel_.mutex());
  void acknowledged(Channel& channel, uint64_t now_ns, uint64_t hold_ns) override
      GT_REQUIRES(channel.mutex(), channel_.mutex());
  bool channel_idle(Idle) override { return false; }
  void channel_ticks() override { life_.tick(); }
  void channel_lost() override { owner_.lost_connection(); }
  void channel_failed(const Status& why) override { life_.end(why); }
  void channel_over() override { life_.channel_has_ended(); }

  Channel channel_;
  ChannelOwner& owner_;
  LinkLife& life_;
  std::deque<Operation> operations_ GT_GUARDED_BY(channel_.mutex());
  std::deque<Mark> marks_ GT_GUARDED_BY(channel_.mutex());
  std::deque<Wanted> wanted_ GT_GUARDED_BY(channel_.mutex());  // the first has number gets_over_ + 1
  DelayWindow window_ GT_GUARDED_BY(channel_.mutex());
  PutPace pace_ GT_GUARDED_BY(channel_.mutex());
  uint64_t least_network_ns_ GT_GUARDED_BY(channel_.mutex()) = ~uint64_t{0} >> 2;  // the kernel's round trip
  uint64_t puts_made_ GT_GUARDED_BY(channel_.mutex()) = 0, gets_made_ GT_GUARDED_BY(channel_.mutex()) = 0;
  std::atomic<uint64_t> puts_over_{0}, gets_over_{0};
  bool bye_ GT_GUARDED_BY(channel_.mutex()) = false;
  uint64_t bye_end_ GT_GUARDED_BY(channel_.mutex()) = 0;  // where it ends in the stream; 0: it is not there yet
  // The channel's thread:
  bool peer_bye_ = false, is_put_ = false;
  PutHead put_{};      // under way to us
  char* got_ = nullptr;  // where the chunk under way goes
  size_t chunk_bytes_ = 0;
};

}  // namespace gt::wire
