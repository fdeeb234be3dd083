#include "transport/link/net/tcp_transport.h"

#include "transport/link/hello/sockets.h"
#include "transport/link/net/tcp_link.h"

namespace gt::wire {
namespace {

Result<Agreed> accept_data(const Session& session, const Handshake& how) {
  while (true) {
    auto handed = next_handed(session.handover.get(), how.deadline);
    if (!handed) return handed.status();
    if (handed->hello.purpose != Hello::Purpose::Data || handed->hello.session != session.id) continue;
    auto data = welcome(std::move(handed->connection), handed->hello, [] { return uint64_t{0}; }, how);
    if (data || how.deadline.over()) return data;
  }
}

Result<std::unique_ptr<Link>> make_link(Session session, Agreed control, Agreed data) {
  session.dead_ms = control.dead_ms;
  session.grace_ms = control.grace_ms;
  auto link = std::make_unique<TcpLink>(std::move(session));
  GT_TRY(link->attach(std::move(control), std::move(data)));
  return std::unique_ptr<Link>(std::move(link));
}

}  // namespace

bool takes_tcp(int connection, const Hello& hello) { return !is_unix(connection) && !hello.tls; }
bool takes_tls(int connection, const Hello& hello) { return !is_unix(connection) && hello.tls; }

Result<std::unique_ptr<Link>> begin_tcp(const Opening& opening, Agreed control) {
  Session session;
  session.id = opening.session;
  session.url = opening.url;
  session.credentials = opening.how.credentials;
  session.options = opening.how.options;
  session.is_client = true;
  auto address = address_of_peer(control.socket.fd(), opening.url.scheme);
  if (!address) return address.status();
  session.address = std::move(*address);
  auto data = make_connection(opening.url, session.address, session.id, Hello::Purpose::Data, opening.how);
  if (!data) return data.status().at(to_text(opening.url));
  return make_link(std::move(session), std::move(control), std::move(*data));
}

Result<std::unique_ptr<Link>> accept_tcp(Arrival arrival, Agreed control) {
  Session session;
  session.id = arrival.hello.session;
  session.handover = std::move(arrival.handover);
  session.credentials = arrival.how.credentials;
  session.options = arrival.how.options;
  auto data = accept_data(session, arrival.how);
  if (!data) return data.status();
  return make_link(std::move(session), std::move(control), std::move(*data));
}

}  // namespace gt::wire
