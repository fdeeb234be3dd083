// A link over two stream connections, plain or with TLS: between nodes.
//
//   TcpLink ── ControlChannel ── Channel ── connection     handlers run on the channels' threads
//      │    └─ DataChannel ───── Channel ── connection
//      └─ reconnector, a thread: makes lost connections anew (client) or takes the client's new ones (server), until
//         nothing was heard for the grace; then the link is closed
//
// Thread safety: as link.h says.
#pragma once

#include "traces/base/fork_mark.h"
#include "traces/base/mutex.h"
#include "transport/link/base/options.h"
#include "transport/link/base/wake.h"
#include "transport/link/hello/handshake.h"
#include "transport/link/net/control_channel.h"
#include "transport/link/net/data_channel.h"

namespace gt::wire {

// Who is at the ends, and how their connections come about.
struct Session {
  SessionId id{};
  Url url;      // client: whom we connected to
  Url address;  // client: and where that was: a name is looked up once, which may take long and lead elsewhere
  Fd handover;  // server: where new connections come from
  Credentials credentials;
  LinkOptions options;
  uint32_t dead_ms = 0, grace_ms = 0;  // agreed
  bool is_client = false;
};

class TcpLink final : public Link, private ChannelOwner {
 public:
  explicit TcpLink(Session session);
  ~TcpLink() override;
  // REQUIRES: before start().
  Status attach(Agreed control, Agreed data);
  DelayWindow window() { return data_.window(); }

  Status start(LinkHandler& handler) override;
  void close() override;
  void expect_end() override { peer_leaves_ = true; }
  Status send(std::span<const ByteView> parts, bool more) override;
  Status push() override;
  Result<SegmentId> expose(void* base, size_t bytes) override;
  Result<SegmentId> expose_shared(int fd, size_t fd_offset, void* base, size_t bytes) override;
  Result<SegmentId> allocate(size_t bytes, void** base) override;
  Status withdraw(SegmentId segment) override;
  void* view(Address, size_t) override { return nullptr; }
  std::optional<Address> shared_address(const void*, size_t) override { return {}; }
  Ticket put(const void* from, Address to, size_t bytes) override;
  Ticket put(const void* from, Address to, size_t bytes, Notice notice) override;
  Ticket get(void* to, Address from, size_t bytes) override;
  bool test(Ticket ticket) override;
  Status wait(Ticket ticket) override;
  Status flush() override;
  bool is_closed() const override;
  void help(const std::function<bool()>& done) override;

 private:
  enum class State : uint8_t { Open, Closing, Ended };

  LinkHandler& handler() override { return *handler_; }
  Segments& segments() override { return segments_; }
  bool in_handler() override { return control_.channel().is_this_thread() || data_.channel().is_this_thread(); }
  Status why_closed() override;
  void lost_connection() override;
  void fail(const Status& why) override { end(why); }
  void peer_says_bye() override;
  void ticks() override;
  void channel_has_ended() override;

  void end(const Status& why);
  bool said_all();

  void keep();
  void reconnect(Channel& channel, Hello::Purpose purpose);
  void take_connection();
  bool is_grace_over();

  const ForkMark mark_ = ForkMark::here();
  Session session_;
  const Channel::Times times_;
  Segments segments_;
  ControlChannel control_;
  DataChannel data_;
  LinkHandler* handler_ = nullptr;

  mutable Mutex mutex_;
  std::condition_variable over_;
  std::atomic<State> state_{State::Open};
  Status why_ GT_GUARDED_BY(mutex_);
  std::atomic<bool> peer_leaves_{false};
  uint64_t give_up_ns_ = 0;  // Closing: until when; written before state_ says so
  int ended_channels_ GT_GUARDED_BY(mutex_) = 0, peer_byes_ GT_GUARDED_BY(mutex_) = 0;
  bool started_ = false;

  Wake news_, ended_;  // a lost connection; the end
  LinkThread reconnector_;
};

}  // namespace gt::wire
