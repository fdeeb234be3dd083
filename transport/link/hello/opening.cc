#include "transport/link/hello/opening.h"

#include <poll.h>

#include "transport/link/hello/sockets.h"

namespace gt::wire {

Result<Agreed> make_connection(const Url& url, const Url& address, SessionId& session, Hello::Purpose purpose,
                               const Handshake& how) {
  Hello hello = make_hello(url, how.credentials, purpose, session);
  const bool by_user = url.in_node() && purpose != Hello::Purpose::Peer;
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

Result<Handed> next_handed(int handover, Deadline deadline) {
  while (wait_for(handover, POLLIN, deadline)) {
    auto handed = take_over(handover);
    if (!handed) return handed.status();
    if (*handed) return std::move(**handed);
  }
  return Status(Kind::Disconnected, "the client did not make its data connection");
}

}  // namespace gt::wire
