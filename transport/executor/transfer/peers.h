// Links to other executors of the same client, over which contents go without passing through the client.
//
//   client ── Invite ──► B: opens a peer listener, makes a secret ── Invited ──► client
//          ── Join ────► A: connects to B, proves the secret  ── Joined ──► client
//   A ── PeerInbox ──► B, B ── PeerInbox ──► A                  then chunks and Credit, both ways
//
// To B's device a transfer of a peer is a streamed write (stream_write.h) into an inbox of that link's, to A's device a
// streamed read (stream_read.h) whose chunks go there. A sender that cannot go on closes the link: the receiver's
// transfers over it end with an error, and the client moves the contents itself.
// Thread safety: all functions. Peers and their inboxes live until the session ends: jobs may still use their slots.
#pragma once

#include <map>
#include <string>

#include "traces/base/mutex.h"
#include "transport/executor/transfer/stream_read.h"
#include "transport/executor/transfer/stream_write.h"
#include "transport/protocol/slots.h"

namespace gt::exec {

class Peer final : public wire::LinkHandler, public std::enable_shared_from_this<Peer> {
 public:
  Peer(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter, std::unique_ptr<wire::Link> link)
      : session_(session),
        link_(std::move(link)),
        out_(*link_),
        inbox_(std::move(session), std::move(event_waiter), out_) {}

  Status open();
  // The other side has said where chunks go.
  bool is_ready_within(std::chrono::milliseconds time) { return slots_.wait_until_open(time); }
  // Where its chunks come in.
  std::shared_ptr<Inbox> inbox() { return {shared_from_this(), &inbox_}; }
  // Chunks to it, as those of its transfer of this name.
  std::unique_ptr<Sink> sink(uint32_t transfer);
  // The link is closed, in a moment. Never blocks.
  void give_up();
  bool is_given_up() const { return given_up_; }
  // Joins the link's threads. REQUIRES: not one of them.
  void end();

  void on_frame(ByteView frame) override;
  void on_put(wire::Notice notice, size_t bytes) override;
  void on_closed(const Status& why) override;

 private:
  class ToPeer;

  const std::shared_ptr<Session> session_;
  std::unique_ptr<wire::Link> link_;
  MessageSender out_;
  Inbox inbox_;
  wire::Slots slots_;  // of the other side's inbox
  std::atomic<bool> given_up_{false};
};

class Peers : public std::enable_shared_from_this<Peers> {
 public:
  Peers(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter);

  void run(const wire::Invite& invite);
  void run(const wire::Join& join);
  // nullptr: there is no such peer, or not any more.
  std::shared_ptr<Peer> find(uint32_t name);
  // All links, and what is becoming one.
  void close();
  // REQUIRES: close() was called. Nothing of links runs afterwards.
  void end();

 private:
  static constexpr size_t Most = 64;
  static constexpr uint32_t InvitedMs = 10'000, ConnectMs = 1000;

  void log(const std::string& line) const;
  bool may_add();
  wire::LinkOptions link_options() const;
  wire::Credentials credentials(const wire::PeerSecret& secret) const;
  void await(uint32_t name, PeerListener listener, const wire::PeerSecret& secret);
  Status join(const wire::Join& join, std::string& url);
  Result<std::shared_ptr<Peer>> adopt(uint32_t name, Result<std::unique_ptr<wire::Link>> link);

  const std::shared_ptr<Session> session_;
  const std::shared_ptr<EventWaiter> event_waiter_;
  const Fd closing_;  // an event descriptor: readable when close() was called
  Mutex mutex_;
  size_t coming_ GT_GUARDED_BY(mutex_) = 0;  // peer listeners and connections under way
  bool closed_ GT_GUARDED_BY(mutex_) = false;
  std::map<uint32_t, std::shared_ptr<Peer>> peers_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::exec
