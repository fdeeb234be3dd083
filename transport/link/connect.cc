// Making a session: the client's first connection, and the server's side of it; then its transport takes over.
#include "transport/link/connect.h"

#include "transport/link/hello/opening.h"

namespace gt::wire {
namespace {

Status check(const Url& url, const Transport* transport, const Credentials& c) {
  if (!transport) return {Kind::Invalid, "there is no URL to connect to"};
  if (!url.in_node() && url.port == 0) return {Kind::Invalid, "the URL names no port to connect to"};
  if (!c.token.empty() && c.token.size() != TokenBytes) return {Kind::Invalid, "the token has not 32 bytes"};
  if (!url.in_node() && !url.is_encrypted() && c.token.empty())
    return {Kind::Invalid, to_text(url) + " needs a token: give the server's token file"};
  return transport->available();
}

// `purpose`: of the first connection.
Result<std::unique_ptr<Link>> begin(const Url& url, const SessionId& id, Hello::Purpose purpose,
                                    const Credentials& credentials, const LinkOptions& options) {
  const Transport* const transport = transport_of(url);
  GT_TRY(check(url, transport, credentials));
  const Handshake how{credentials, options, Deadline::in_ms(options.connect_ms)};
  Opening opening{url, id, purpose, how};
  auto control = make_connection(url, url, opening.session, purpose, how);
  if (!control) return control.status().at(to_text(url));
  return transport->begin(opening, std::move(*control));
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
  const Transport* const transport = transport_of(first->connection.get(), first->hello);
  if (!transport) return Status(Kind::Corrupt, "the first connection is of no kind that is known");
  auto control = welcome(std::move(first->connection), first->hello, [] { return uint64_t{0}; }, how);
  if (!control) return control.status();
  return transport->accept({std::move(handover), first->hello, how}, std::move(*control));
}

}  // namespace gt::wire
