// The control channel between nodes: frames, in order, for the handler's on_frame().
//
// Thread safety: all functions.
#pragma once

#include "traces/base/mutex.h"
#include "transport/link/net/channel.h"
#include "transport/link/net/channel_owner.h"

namespace gt::wire {

class ControlChannel final : public ChannelUser {
 public:
  ControlChannel(ChannelOwner& owner, uint64_t salt, Channel::Times times)
      : channel_(*this, salt, false, times), owner_(owner), life_(owner.life()) {}

  Channel& channel() { return channel_; }
  Status send(std::span<const ByteView> parts, bool more);
  Status push();
  void say_bye();
  bool all_arrived();

 private:
  static constexpr size_t MostUnacknowledged = size_t{4} << 20;  // then senders wait
  static constexpr size_t MostFromHandlers = size_t{256} << 20;  // they must not wait: then the link is closed
  static constexpr size_t MostHeldFrames = 64, MostHeldBytes = size_t{16} << 10;

  Status wait_for_room(UniqueLock& lock, size_t bytes) GT_REQUIRES(channel_.mutex());

  Status take_header(const FrameHeader& header) override;
  Status take_frame(const FrameHeader& header, ByteView body) override;
  Status begin_payload(const FrameHeader&, ByteView) override { return wrong(); }
  bool at_target(size_t, size_t, const std::function<void(char*)>&) override { return false; }
  Status end_payload() override { return wrong(); }
  void fill(Channel&, uint64_t) override {}
  void acknowledged(Channel&, uint64_t, uint64_t) override {}
  bool channel_idle(Idle how) override { return life_.handler().on_idle(how); }
  void channel_ticks() override { life_.tick(); }
  void channel_lost() override { owner_.lost_connection(); }
  void channel_failed(const Status& why) override { life_.end(why); }
  void channel_over() override { life_.channel_has_ended(); }
  static Status wrong() { return {Kind::Corrupt, "the peer sent data on the control connection"}; }

  Channel channel_;
  ChannelOwner& owner_;
  LinkLife& life_;
  size_t held_frames_ GT_GUARDED_BY(channel_.mutex()) = 0, held_bytes_ GT_GUARDED_BY(channel_.mutex()) = 0;
  bool bye_ GT_GUARDED_BY(channel_.mutex()) = false, peer_bye_ = false;
  uint64_t bye_end_ GT_GUARDED_BY(channel_.mutex()) = 0;  // where it ends in the stream
};

}  // namespace gt::wire
