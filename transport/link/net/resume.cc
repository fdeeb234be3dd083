// The reconnector of a link between nodes: what happens when a connection is lost.
#include <algorithm>

#include "transport/link/hello/handover.h"
#include "transport/link/hello/sockets.h"
#include "transport/link/net/tcp_link.h"

namespace gt::wire {
namespace {

constexpr int RetryEvery_ms = 50;

}  // namespace

void TcpLink::lost_connection() {
  if (life_.is_closing()) return life_.end(link_closed());
  news_.ring();
}

void TcpLink::keep() {
  while (!life_.is_ended()) {
    const bool lost = control_.channel().is_lost() || data_.channel().is_lost();
    if (lost && (peer_leaves_ || is_grace_over())) {
      life_.end(peer_leaves_ ? Status(Kind::Disconnected, "the peer has ended")
                             : Status(Kind::Disconnected, "no sign of the other side: the connection is cut"));
      break;
    }
    if (lost && session_.is_client) {
      reconnect(control_.channel(), Hello::Purpose::Resume);
      reconnect(data_.channel(), Hello::Purpose::Data);
    }
    pollfd fds[] = {{ended_.fd(), POLLIN, 0}, {news_.fd(), POLLIN, 0}, {session_.handover.get(), POLLIN, 0}};
    const int wait_ms = lost ? RetryEvery_ms : static_cast<int>(times_.heartbeat_ns / Ms);
    awake_.sleeps(monotonic_ns(), wait_ms);
    ::poll(fds, 3, wait_ms);
    awake_since_ns_ = awake_.since(monotonic_ns());
    const bool lost_ours = ended_.keep_up(fds[0].revents) == Wake::Kept::Lost ||
                           news_.keep_up(fds[1].revents) == Wake::Kept::Lost;
    if (lost_ours) {
      life_.end(descriptors_closed());
      break;
    }
    control_.channel().beat();
    data_.channel().beat();
    news_.drain();
    if (fds[2].revents) take_connection();
  }
  session_.handover = Fd();  // the supervisor forgets the session: who comes for it is refused at once
}

uint64_t TcpLink::grace_ends_ns(const Channel& channel) const {
  return std::max(channel.heard_ns(), awake_since_ns_) + session_.grace_ms * Ms;
}

bool TcpLink::is_grace_over() {
  const uint64_t now = monotonic_ns();
  const auto over = [&](Channel& channel) { return channel.is_lost() && now > grace_ends_ns(channel); };
  return over(control_.channel()) || over(data_.channel());
}

// Client: one try.
void TcpLink::reconnect(Channel& channel, Hello::Purpose purpose) {
  if (!channel.is_lost()) return;
  const uint64_t until = std::min(grace_ends_ns(channel), monotonic_ns() + session_.options.connect_ms * Ms);
  awake_.sleeps_until(until);
  const Handshake how{session_.credentials, session_.options, Deadline(until), ended_.fd()};
  auto connection = connect_to(session_.address, how.deadline, how.wake);
  Status s = connection.status();
  if (connection) {
    Hello hello = make_hello(session_.url, session_.credentials, purpose, session_.id);
    s = fill_random(hello.nonce);
    auto agreed = introduce(std::move(*connection), hello, session_.url.host, channel.received(), how);
    s = agreed ? channel.attach(std::move(agreed->socket), agreed->peer_received) : agreed.status();
  }
  awake_since_ns_ = awake_.since(monotonic_ns());
  if (!s.ok() && is_final(s)) life_.end({Kind::Disconnected, s.text()});
}

// Server: a connection from the supervisor.
void TcpLink::take_connection() {
  auto handed = take_over(session_.handover.get());
  if (!handed) {  // the supervisor is gone: what is lost from now on stays lost
    session_.handover = Fd();
    if (control_.channel().is_lost() || data_.channel().is_lost()) life_.end(handed.status());
    return;
  }
  if (!*handed) return;
  const Hello& hello = (*handed)->hello;
  const bool begins = hello.purpose == Hello::Purpose::Session || hello.purpose == Hello::Purpose::Peer;
  if (hello.session != session_.id || begins) return;
  Channel& channel = hello.purpose == Hello::Purpose::Data ? data_.channel() : control_.channel();
  const Deadline deadline = Deadline::in_ms(session_.options.connect_ms);
  const Handshake how{session_.credentials, session_.options, deadline, ended_.fd()};
  const auto position = [&] { return channel.detach(how.deadline); };
  auto agreed = welcome(std::move((*handed)->connection), hello, position, how);
  if (!agreed) return;  // a stranger, or a client that tries again
  if (const Status s = channel.attach(std::move(agreed->socket), agreed->peer_received); !s.ok()) life_.end(s);
}

}  // namespace gt::wire
