#include "transport/executor/transfer/peers.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/link/base/waiting.h"
#include "transport/link/connect.h"
#include "transport/link/hello/hello.h"

namespace gt::exec {
namespace {

constexpr size_t StackBytes = size_t{512} << 10;  // TLS takes some

// What a client may have us connect to: proxies of the network, and those of this node by their usual names, never any
// other socket of this machine.
bool is_allowed(const wire::Url& url) { return !url.in_node() || url.name.find('/') == std::string::npos; }

}  // namespace

class Peer::ToPeer final : public Sink {
 public:
  ToPeer(std::shared_ptr<Peer> peer, uint32_t transfer) : peer_(std::move(peer)), transfer_(transfer) {}
  std::optional<wire::Ticket> put(const void* memory, const copy::Chunks::Chunk& chunk, chunks::ChunkPacker&,
                                  Bytes&) override {
    uint32_t slot = 0;
    const MessageSender::Use use(peer_->out_);
    if (!use.open() || !peer_->slots_.take(slot) || chunk.bytes > peer_->slots_.slot_bytes()) return {};
    peer_->session_->count.peer_bytes_out += chunk.bytes;
    return use.link().put(memory, peer_->slots_.address(slot), chunk.bytes, wire::chunk_notice(transfer_, slot));
  }
  bool wait(wire::Ticket ticket) override {
    const MessageSender::Use use(peer_->out_);
    return use.open() && use.link().wait(ticket).ok();
  }
  void fail() override { peer_->give_up(); }

 private:
  const std::shared_ptr<Peer> peer_;
  const uint32_t transfer_;
};

Status Peer::open() {
  GT_TRY(inbox_.open(*link_));
  GT_TRY(link_->start(*this));
  out_.send(wire::PeerInbox{inbox_.segment(), inbox_.slots(), inbox_.slot_bytes()});
  return {};
}

std::unique_ptr<Sink> Peer::sink(uint32_t transfer) { return std::make_unique<ToPeer>(shared_from_this(), transfer); }

// Closing waits for what is on its way: not in a handler, and not in who takes the client's messages.
void Peer::give_up() {
  if (given_up_.exchange(true)) return;
  session_->threads.start("gtrace-unpeer", StackBytes, [self = shared_from_this()] {
    const MessageSender::Use use(self->out_);
    if (use.open()) use.link().close();
  });
}

void Peer::end() {
  link_->close();
  slots_.close();
  out_.cut();
  link_.reset();
}

void Peer::on_frame(ByteView frame) {
  const auto type = frame.empty() ? wire::MessageType{} : static_cast<wire::MessageType>(frame[0]);
  wire::PeerInbox inbox;
  wire::Credit credit;
  if (type == wire::MessageType::PeerInbox && wire::decode(frame, inbox))
    slots_.open(inbox.segment, inbox.slots, inbox.slot_bytes);
  else if (type == wire::MessageType::Credit && wire::decode(frame, credit))
    slots_.credit(credit.slots);
  else
    give_up();
}

// What throws has no memory.
void Peer::on_put(wire::Notice notice, size_t bytes) {
  try {
    if (!inbox_.arrive(notice, bytes)) give_up();
  } catch (...) {
    give_up();
  }
}

void Peer::on_closed(const Status&) {
  given_up_ = true;
  slots_.close();
  inbox_.close();
}

Peers::Peers(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter)
    : session_(std::move(session)),
      event_waiter_(std::move(event_waiter)),
      closing_(session_->options.open_peer_listener ? ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1) {}

wire::Credentials Peers::credentials(const wire::PeerSecret& secret) const {
  wire::Credentials proof = session_->options.certificates;
  proof.token.assign(secret.begin(), secret.end());
  return proof;
}

wire::LinkOptions Peers::link_options() const {
  wire::LinkOptions options = session_->options.peer_link;
  options.connect_ms = ConnectMs;
  options.allow_same_user = false;  // the secret is what counts
  return options;
}

void Peers::log(const std::string& line) const {
  if (session_->options.log) session_->options.log(line);
}

// REQUIRES: what is coming ends with adopt().
bool Peers::may_add() {
  const MutexLock lock(mutex_);
  if (closed_ || !session_->options.open_peer_listener || peers_.size() + coming_ >= Most) return false;
  ++coming_;
  return true;
}

void Peers::run(const wire::Invite& m) {
  wire::Invited told;
  told.reply = m.reply;
  told.code = CL_INVALID_OPERATION;
  if (may_add()) {
    Result<PeerListener> listener = session_->options.open_peer_listener();
    if (listener && wire::fill_random(told.secret).ok()) {
      told.code = CL_SUCCESS;
      told.name = listener->session;
      told.urls = listener->urls;
    }
    auto shared = std::make_shared<PeerListener>(listener ? std::move(*listener) : PeerListener());
    const auto wait = [self = shared_from_this(), peer = m.peer, shared, secret = told.secret] {
      self->await(peer, std::move(*shared), secret);
    };
    if (!session_->threads.start("gtrace-invite", StackBytes, wait)) {
      told.code = CL_OUT_OF_RESOURCES;
      (void)adopt(m.peer, Status(Kind::System, "a thread cannot be had")).ok();
    }
  }
  session_->out.send(told);
}

// Accepts one peer, for some seconds.
void Peers::await(uint32_t name, PeerListener listener, const wire::PeerSecret& secret) {
  const int handover = listener.handover.get();
  const bool somebody =
      handover >= 0 && wire::wait_for(handover, POLLIN, wire::Deadline::in_ms(InvitedMs), closing_.get());
  Result<std::unique_ptr<wire::Link>> link = Status(Kind::Disconnected, "the peer did not come");
  if (somebody) link = wire::accept_link(std::move(listener.handover), credentials(secret), link_options());
  const Result<std::shared_ptr<Peer>> peer = adopt(name, std::move(link));
  if (somebody && !peer) log("no link from a peer: " + peer.status().text());
}

void Peers::run(const wire::Join& m) {
  const auto answer = [session = session_, reply = m.reply](cl_int code, const std::string& text) {
    session->out.send(wire::Joined{reply, code, text});
  };
  if (!may_add()) return answer(CL_INVALID_OPERATION, "this executor has no peers, or too many");
  const auto connect = [self = shared_from_this(), m, answer] {
    std::string url;
    const Status joined = self->join(m, url);
    if (!joined.ok()) self->log("no link to a peer, contents go through the client: " + joined.text());
    answer(joined.ok() ? CL_SUCCESS : CL_DEVICE_NOT_AVAILABLE, joined.ok() ? url : joined.text());
  };
  if (session_->threads.start("gtrace-join", StackBytes, connect)) return;
  (void)adopt(m.peer, Status(Kind::System, "a thread cannot be had")).ok();
  answer(CL_OUT_OF_RESOURCES, "a thread cannot be had");
}

Status Peers::join(const wire::Join& m, std::string& url) {
  Result<std::unique_ptr<wire::Link>> link = Status(Kind::Invalid, "no way to the peer was named");
  for (size_t i = 0; i < m.urls.size() && !link; ++i) {
    const Result<wire::Url> parsed = wire::parse_url(m.urls[i]);
    if (!parsed || !is_allowed(*parsed)) continue;
    url = m.urls[i];
    link = wire::connect_to_peer(*parsed, m.name, credentials(m.secret), link_options());
  }
  const Result<std::shared_ptr<Peer>> peer = adopt(m.peer, std::move(link));
  if (!peer) return peer.status();
  if ((*peer)->is_ready_within(std::chrono::milliseconds(2 * ConnectMs))) return {};
  (*peer)->give_up();
  return {Kind::Disconnected, "the peer says nothing"};
}

// The end of every attempt.
Result<std::shared_ptr<Peer>> Peers::adopt(uint32_t name, Result<std::unique_ptr<wire::Link>> link) {
  std::shared_ptr<Peer> peer;
  {
    const MutexLock lock(mutex_);
    --coming_;
    if (!link) return link.status();
    if (closed_ || peers_.contains(name)) return Status(Kind::Disconnected, "it is not wanted any more");
    peer = std::make_shared<Peer>(session_, event_waiter_, std::move(*link));
    peers_[name] = peer;
    session_->in_flight.depends(1);  // transfers may wait for its chunks
  }
  const Status opened = peer->open();
  if (opened.ok()) return peer;
  peer->give_up();
  return opened;
}

std::shared_ptr<Peer> Peers::find(uint32_t name) {
  const MutexLock lock(mutex_);
  const auto it = peers_.find(name);
  return it == peers_.end() || it->second->is_given_up() ? nullptr : it->second;
}

void Peers::close() {
  const uint64_t one = 1;
  if (closing_.open()) (void)!::write(closing_.get(), &one, sizeof one);
  const MutexLock lock(mutex_);
  closed_ = true;
  for (const auto& [name, peer] : peers_) peer->give_up();
}

void Peers::end() {
  std::map<uint32_t, std::shared_ptr<Peer>> peers;
  {
    const MutexLock lock(mutex_);
    peers.swap(peers_);
  }
  for (const auto& [name, peer] : peers) peer->end();
}

}  // namespace gt::exec
