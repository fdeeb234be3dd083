// Making a session: the client's connections, and the server's side of them.
#include "transport/link/connect.h"

#include "transport/link/hello/handover.h"
#include "transport/link/hello/handshake.h"
#include "transport/link/hello/sockets.h"
#include "transport/link/net/tcp_link.h"
#include "transport/link/node/shm_link.h"

namespace gt::wire {
namespace {

Status check(const Url& url, const Credentials& c) {
  if (url.scheme != Url::Scheme::Shm && url.port == 0) return {Kind::Invalid, "the URL names no port to connect to"};
  if (!c.token.empty() && c.token.size() != TokenBytes) return {Kind::Invalid, "the token has not 32 bytes"};
  if (url.scheme == Url::Scheme::Tcp && c.token.empty())
    return {Kind::Invalid, to_text(url) + " needs a token: give the server's token file"};
  if (url.scheme == Url::Scheme::Tls) return Tls::available();
  return {};
}

// `address`: of the URL's host. `session`: its name, which may become another one when it begins.
Result<Agreed> make_connection(const Url& url, const Url& address, SessionId& session, Hello::Purpose purpose,
                               const Handshake& how) {
  Hello hello = make_hello(url, how.credentials, purpose, session);
  const bool by_user = url.scheme == Url::Scheme::Shm && purpose != Hello::Purpose::Peer;
  const auto try_once = [&](bool as_same_user) -> Result<Agreed> {
    auto connection = connect_to(address, how.deadline);
    if (!connection) return connection.status();
    if (as_same_user && is_same_user(connection->get())) hello.proof = Hello::Proof::SameUser;
    GT_TRY(fill_random(hello.nonce));
    return introduce(std::move(*connection), hello, url.host, 0, how);
  };
  auto agreed = try_once(by_user);
  const bool other_proof = agreed.status().code() == FirstRefusalCode + static_cast<int>(Refusal::Proof);
  if (!other_proof || hello.proof != Hello::Proof::SameUser || how.credentials.token.empty()) return agreed;
  hello.proof = Hello::Proof::Token;
  if (purpose == Hello::Purpose::Resume) return try_once(false);
  GT_TRY(fill_random(hello.session));  // the server may not have forgotten the first one yet
  session = hello.session;
  return try_once(false);
}

// A connection from the supervisor.
Result<Handed> next_handed(int handover, Deadline deadline) {
  while (wait_for(handover, POLLIN, deadline)) {
    auto handed = take_over(handover);
    if (!handed) return handed.status();
    if (*handed) return std::move(**handed);
  }
  return Status(Kind::Disconnected, "the client did not make its data connection");
}

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

// Between two executors nobody closes what he does not know.
ShmResume resume_by_connecting(const Session& session, Hello::Purpose purpose, uint32_t grace_ms) {
  ShmResume resume;
  resume.options = session.options;
  resume.grace_ms = grace_ms;
  if (purpose != Hello::Purpose::Session) return resume;
  resume.connect = [url = session.url, id = session.id, credentials = session.credentials,
                    options = session.options]() mutable {
    const Handshake how{credentials, options, Deadline::in_ms(options.connect_ms)};
    return make_connection(url, url, id, Hello::Purpose::Resume, how);
  };
  return resume;
}

// `purpose`: of the first connection.
Result<std::unique_ptr<Link>> begin(const Url& url, const SessionId& id, Hello::Purpose purpose,
                                    const Credentials& credentials, const LinkOptions& options) {
  GT_TRY(check(url, credentials));
  Session session;
  session.id = id;
  session.url = url;
  session.credentials = credentials;
  session.options = options;
  session.is_client = true;
  const Handshake how{credentials, options, Deadline::in_ms(options.connect_ms)};
  auto control = make_connection(url, url, session.id, purpose, how);
  if (!control) return control.status().at(to_text(url));
  if (url.scheme == Url::Scheme::Shm)
    return make_shm_client(std::move(*control), resume_by_connecting(session, purpose, control->grace_ms));
  auto address = address_of_peer(control->socket.fd(), url.scheme);
  if (!address) return address.status();
  session.address = std::move(*address);
  auto data = make_connection(url, session.address, session.id, Hello::Purpose::Data, how);
  if (!data) return data.status().at(to_text(url));
  return make_link(std::move(session), std::move(*control), std::move(*data));
}

}  // namespace

Result<std::unique_ptr<Link>> connect(const Url& url, const Credentials& credentials, const LinkOptions& options) {
  SessionId id;
  GT_TRY(fill_random(id));
  return begin(url, id, Hello::Purpose::Session, credentials, options);
}

Result<std::unique_ptr<Link>> connect_to_peer(const Url& url, const SessionId& session, const Credentials& credentials,
                                              const LinkOptions& options) {
  return begin(url, session, Hello::Purpose::Peer, credentials, options);
}

Result<std::unique_ptr<Link>> accept_link(Fd handover, const Credentials& credentials, const LinkOptions& options) {
  auto first = next_handed(handover.get(), Deadline::never());  // somebody will call some day
  if (!first) return first.status();
  const Handshake how{credentials, options, Deadline::in_ms(options.connect_ms)};
  if (first->hello.purpose != Hello::Purpose::Session && first->hello.purpose != Hello::Purpose::Peer)
    return Status(Kind::Corrupt, "the first connection begins no session");
  const bool local = is_unix(first->connection.get());
  auto control = welcome(std::move(first->connection), first->hello, [] { return uint64_t{0}; }, how);
  if (!control) return control.status();
  if (local) {
    ShmResume resume{{}, {}, first->hello.session, credentials, options, control->grace_ms};
    if (first->hello.purpose == Hello::Purpose::Session) resume.handover = std::move(handover);
    return make_shm_server(std::move(*control), std::move(resume));
  }
  Session session;
  session.id = first->hello.session;
  session.handover = std::move(handover);
  session.credentials = credentials;
  session.options = options;
  auto data = accept_data(session, how);
  if (!data) return data.status();
  return make_link(std::move(session), std::move(*control), std::move(*data));
}

}  // namespace gt::wire
