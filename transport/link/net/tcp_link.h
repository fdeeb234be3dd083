// A link over two stream connections, plain or with TLS: between nodes.
//
//   TcpLink ── ControlChannel ── Channel ── connection     handlers run on the channels' threads
//      │    └─ DataChannel ───── Channel ── connection
//      └─ reconnector, a thread: makes lost connections anew (client) or takes the client's new ones (server), until
//         nothing was heard for the grace; then the link is closed
//
// Thread safety: as link.h says.
#pragma once

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

class TcpLink final : public Link, private LinkParts, private ChannelOwner {
 public:
  explicit TcpLink(Session session);
  ~TcpLink() override;
  // REQUIRES: before start().
  Status attach(Agreed control, Agreed data);
  DelayWindow window() { return data_.window(); }

  Status start(LinkHandler& handler) override;
  void close() override { life_.close(); }
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
  std::optional<Pace> pace(Ticket put, uint64_t bytes) override;
  Status flush() override;
  bool is_closed() const override { return life_.is_closed(); }
  void help(const std::function<bool()>& done) override;

 private:
  bool in_handler() override { return control_.channel().is_this_thread() || data_.channel().is_this_thread(); }
  void say_bye() override;
  bool all_arrived() override { return control_.all_arrived() && data_.all_arrived(); }
  void stop() override;

  LinkLife& life() override { return life_; }
  Segments& segments() override { return segments_; }
  void lost_connection() override;
  void peer_says_bye() override;

  void keep();
  void reconnect(Channel& channel, Hello::Purpose purpose);
  void take_connection();
  bool is_grace_over();
  uint64_t grace_ends_ns(const Channel& channel) const;

  LinkLife life_{*this};
  Session session_;
  const Channel::Times times_;
  Segments segments_;
  ControlChannel control_;
  DataChannel data_;

  std::atomic<bool> peer_leaves_{false};
  std::atomic<int> peer_byes_{0};
  Wake news_, ended_;  // a lost connection; the end
  LinkThread reconnector_;
  Awake awake_;  // the reconnector's
  uint64_t awake_since_ns_ = 0;
};

}  // namespace gt::wire
